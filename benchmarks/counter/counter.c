// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * counter.c - a plugin of QEMU's TCG that counts, between two marks of a program (../programs/mark.h), the instructions
 * of the whole machine by what they belong to, and how often Xen was entered and for what.
 *
 * Whose an instruction is follows from its virtual address, as both Xen and Linux have fixed halves of it: Xen's ABI
 * (xen/include/asm-x86/config.h) gives the hypervisor 0xffff8000... to 0xffff87ff..., a kernel has what is above, a
 * process what is below. Counting is by translated block, so an exception in a block's middle counts what follows too.
 *
 * Arguments: out=FILE (where samples go), entries=FILE (lines "FIRST END KIND": where Xen begins after what; an
 * address that is in none counts as a system call or hypercall, whose entry is a page that Xen makes for each CPU),
 * switch=ADDRESS (the function of Xen that changes from one vCPU to another).
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <qemu-plugin.h>

#include "../programs/mark.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

#define XEN_FIRST 0xffff800000000000ull
#define XEN_LAST 0xffff87ffffffffffull
#define PAGE 4096u

/* "nopl disp32(%rax)" */
static const uint8_t mark_opcode[] = { 0x0f, 0x1f, 0x80 };
#define MARK_BYTES (sizeof(mark_opcode) + sizeof(uint32_t))

/* Where a CPU is; and what of its instructions are counted apart. */
enum where { PROCESS, KERNEL, XEN, WHERES };

/* Why Xen was entered. */
enum why { HYPERCALL, SYSCALL, TRAP, INTERRUPT, VMEXIT, WHYS };

static const char *const why_names[] = {
	[TRAP] = "trap", [INTERRUPT] = "interrupt", [VMEXIT] = "vmexit"
};

/* All that is counted, of a CPU or in all. */
struct counts {
	uint64_t instructions[WHERES];
	uint64_t entries[WHYS];
	uint64_t switches;
};

#define COUNTS (sizeof(struct counts) / sizeof(uint64_t))

struct cpu {
	struct counts counts;
	uint64_t where;
};

/* Where Xen begins after what. */
struct range {
	uint64_t first, end;
	enum why why;
};

/* What has one name. */
struct thing {
	struct thing *next;
	char name[MARK_NAME_MAX + 1];
	bool begun;
	struct counts start;
	struct counts *samples;
	size_t count, room;
};

static struct {
	struct qemu_plugin_scoreboard *cpus;
	qemu_plugin_u64 instructions[WHERES], where, all[COUNTS];
	GArray *entries; /* struct range */
	uint64_t switch_address;
	FILE *out;
	GMutex lock; /* of what follows */
	struct thing *things;
} counter;

/* Registers of a vCPU, by its index: handles are the vCPU's own. */
static struct {
	struct qemu_plugin_register *rdi, *rsi;
} registers[64];

static enum where where_of(uint64_t address)
{
	if (address > XEN_LAST)
		return KERNEL;
	return address >= XEN_FIRST ? XEN : PROCESS;
}

static struct cpu *cpu_of(unsigned int index)
{
	return qemu_plugin_scoreboard_find(counter.cpus, index);
}

/* ---- entries to Xen ---- */

static enum why why_of(uint64_t at, enum where from)
{
	const struct range *r;
	guint i;

	for (i = 0; i < counter.entries->len; i++) {
		r = &g_array_index(counter.entries, struct range, i);
		if (at >= r->first && at < r->end)
			return r->why;
	}
	return from == KERNEL ? HYPERCALL : SYSCALL;
}

/* A block of Xen after one that is not: at is the block's address. */
static void on_entry(unsigned int index, void *at)
{
	struct cpu *cpu = cpu_of(index);

	cpu->counts.entries[why_of((uint64_t)at, cpu->where)]++;
	cpu->where = XEN;
}

/* ---- marks ---- */

static uint64_t read_register(struct qemu_plugin_register *handle)
{
	GByteArray *bytes = g_byte_array_new();
	uint64_t value = 0;

	if (qemu_plugin_read_register(handle, bytes) && bytes->len >= sizeof(value))
		memcpy(&value, bytes->data, sizeof(value));
	g_byte_array_free(bytes, TRUE);
	return value;
}

/* Reads no further than the string's page: the next one may not be there. */
static bool read_name(uint64_t address, char *name)
{
	size_t length = MIN(MARK_NAME_MAX, PAGE - address % PAGE);
	GByteArray *bytes = g_byte_array_new();
	bool ok = qemu_plugin_read_memory_vaddr(address, bytes, length);

	if (ok) {
		memcpy(name, bytes->data, length);
		name[length] = '\0';
	}
	g_byte_array_free(bytes, TRUE);
	return ok && *name;
}

static struct thing *thing_of(const char *name)
{
	struct thing *t;

	for (t = counter.things; t; t = t->next)
		if (!strcmp(t->name, name))
			return t;
	t = g_new0(struct thing, 1);
	g_strlcpy(t->name, name, sizeof(t->name));
	t->next = counter.things;
	counter.things = t;
	return t;
}

static void count_all(struct counts *sum)
{
	uint64_t *values = (uint64_t *)sum;
	size_t i;

	for (i = 0; i < COUNTS; i++)
		values[i] = qemu_plugin_u64_sum(counter.all[i]);
}

static void end(struct thing *t, const struct counts *now)
{
	const uint64_t *from = (const uint64_t *)&t->start, *to = (const uint64_t *)now;
	uint64_t *sample;
	size_t i;

	if (!t->begun)
		return;
	t->begun = false;
	if (t->count == t->room) {
		t->room = t->room ? 2 * t->room : 64;
		t->samples = g_renew(struct counts, t->samples, t->room);
	}
	sample = (uint64_t *)&t->samples[t->count++];
	for (i = 0; i < COUNTS; i++)
		sample[i] = to[i] - from[i];
}

static void report(struct thing *t, uint64_t x)
{
	const uint64_t *values;
	size_t i, j;

	for (i = 0; i < t->count; i++) {
		values = (const uint64_t *)&t->samples[i];
		fprintf(counter.out, "%s %" PRIu64, t->name, x);
		for (j = 0; j < COUNTS; j++)
			fprintf(counter.out, " %" PRIu64, values[j]);
		fputc('\n', counter.out);
	}
	fflush(counter.out);
	t->count = 0;
}

static void on_mark(unsigned int index, void *what)
{
	char name[MARK_NAME_MAX + 1];
	struct counts now;
	struct thing *t;

	count_all(&now);
	if (!read_name(read_register(registers[index].rdi), name))
		return;
	g_mutex_lock(&counter.lock);
	t = thing_of(name);
	switch (GPOINTER_TO_INT(what)) {
	case MARK_BEGIN:
		t->begun = true;
		count_all(&t->start);
		break;
	case MARK_END:
		end(t, &now);
		break;
	case MARK_REPORT:
		report(t, read_register(registers[index].rsi));
		break;
	}
	g_mutex_unlock(&counter.lock);
}

/* ---- translation ---- */

/* What a mark means; 0: the instruction is none. */
static int mark_of(const struct qemu_plugin_insn *insn)
{
	uint8_t bytes[MARK_BYTES];
	uint32_t displacement;

	if (qemu_plugin_insn_size(insn) != MARK_BYTES ||
	    qemu_plugin_insn_data(insn, bytes, MARK_BYTES) != MARK_BYTES ||
	    memcmp(bytes, mark_opcode, sizeof(mark_opcode)))
		return 0;
	memcpy(&displacement, bytes + sizeof(mark_opcode), sizeof(displacement));
	return displacement - MARK_BASE <= MARK_REPORT ? displacement - MARK_BASE : 0;
}

static void on_translation(struct qemu_plugin_tb *tb, void *unused)
{
	uint64_t address = qemu_plugin_tb_vaddr(tb);
	size_t i, n = qemu_plugin_tb_n_insns(tb);
	enum where where = where_of(address);
	struct qemu_plugin_insn *insn;
	int what;

	(void)unused;
	if (where == XEN)
		qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, on_entry, QEMU_PLUGIN_CB_NO_REGS,
							  QEMU_PLUGIN_COND_NE, counter.where, XEN,
							  (void *)address);
	else
		qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_PLUGIN_INLINE_STORE_U64,
								  counter.where, where);
	qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_PLUGIN_INLINE_ADD_U64,
							  counter.instructions[where], n);
	if (address == counter.switch_address)
		qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_PLUGIN_INLINE_ADD_U64,
								  counter.all[COUNTS - 1], 1);
	if (where != PROCESS)
		return;
	for (i = 0; i < n; i++) {
		insn = qemu_plugin_tb_get_insn(tb, i);
		what = mark_of(insn);
		if (what)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, QEMU_PLUGIN_CB_R_REGS,
							       GINT_TO_POINTER(what));
	}
}

static void on_vcpu(unsigned int index, void *unused)
{
	GArray *list = qemu_plugin_get_registers();
	qemu_plugin_reg_descriptor *r;
	guint i;

	(void)unused;
	for (i = 0; i < list->len && index < G_N_ELEMENTS(registers); i++) {
		r = &g_array_index(list, qemu_plugin_reg_descriptor, i);
		if (!strcmp(r->name, "rdi"))
			registers[index].rdi = r->handle;
		else if (!strcmp(r->name, "rsi"))
			registers[index].rsi = r->handle;
	}
	g_array_free(list, TRUE);
}

/* ---- start ---- */

static bool read_entries(const char *path)
{
	FILE *file = fopen(path, "r");
	struct range r;
	char kind[16];

	if (!file)
		return false;
	while (fscanf(file, "%" SCNx64 " %" SCNx64 " %15s", &r.first, &r.end, kind) == 3)
		for (r.why = 0; r.why < WHYS; r.why++)
			if (why_names[r.why] && !strcmp(why_names[r.why], kind))
				g_array_append_val(counter.entries, r);
	fclose(file);
	return true;
}

static bool read_argument(const char *argument)
{
	if (g_str_has_prefix(argument, "out="))
		return (counter.out = fopen(argument + strlen("out="), "a"));
	if (g_str_has_prefix(argument, "entries="))
		return read_entries(argument + strlen("entries="));
	if (g_str_has_prefix(argument, "switch="))
		return (counter.switch_address = strtoull(argument + strlen("switch="), NULL, 16));
	return false;
}

static qemu_plugin_u64 field(size_t offset)
{
	return (qemu_plugin_u64){ counter.cpus, offset };
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
					   char **argv)
{
	size_t i;
	int n;

	(void)info;
	counter.entries = g_array_new(FALSE, FALSE, sizeof(struct range));
	for (n = 0; n < argc; n++) {
		if (!read_argument(argv[n])) {
			fprintf(stderr, "counter: wrong argument: %s\n", argv[n]);
			return -1;
		}
	}
	if (!counter.out) {
		fprintf(stderr, "counter: out=FILE is missing\n");
		return -1;
	}
	counter.cpus = qemu_plugin_scoreboard_new(sizeof(struct cpu));
	counter.where = field(offsetof(struct cpu, where));
	for (i = 0; i < COUNTS; i++)
		counter.all[i] = field(offsetof(struct cpu, counts) + i * sizeof(uint64_t));
	for (i = 0; i < WHERES; i++)
		counter.instructions[i] = counter.all[i];
	qemu_plugin_register_vcpu_init_cb(id, on_vcpu, NULL);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation, NULL);
	return 0;
}
