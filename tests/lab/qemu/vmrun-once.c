// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vmrun-once.so, preloaded into QEMU: an interrupt that VMRUN injects is delivered once.
 *
 * For an injected interrupt (SVM_EVTINJ_TYPE_INTR) helper_vmrun() stores the vector in the CPU's
 * exception_index, delivers the interrupt itself, and lets the guest run on. exception_index should
 * be -1 then; other values are exceptions still to be delivered. When something asks the loop that
 * executes the CPU to stop for a moment, it looks there, and the guest gets the interrupt for a
 * second time: with interrupts off, perhaps in the middle of the entry of the first one, before
 * SWAPGS, which no kernel survives. (An exit to the hypervisor or an exception before that overwrites
 * the value, so it happens rarely.)
 *
 * Here the store is replaced by instructions that do nothing, before QEMU's first own one is
 * executed. It is looked for by what is around it, in the function of that name. What is not as
 * expected is left alone, and said.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * The code of the case, with %rbx the CPU's registers (env). Offsets of fields and of other code may
 * be any: ANY is an octet of theirs.
 */
#define ANY -1
#define ANY4 ANY, ANY, ANY, ANY

static const short wanted[] = {
	0x41, 0x0f, 0xb6, 0xf4,                   /* movzbl %r12b,%esi: the vector */
	0x44, 0x89, 0xab, ANY4,                   /* mov    %r13d,error_code(%rbx) */
	0x89, 0xb3, ANY4,                         /* mov    %esi,exception_index(%rbx): the store */
	0xc7, 0x83, ANY4, 0x00, 0x00, 0x00, 0x00, /* movl   $0,exception_is_int(%rbx) */
	0x48, 0xc7, 0x83, ANY4, 0xff, 0xff, 0xff, 0xff, /* movq   $-1,exception_next_eip(%rbx) */
	0xf6, 0x05, ANY4, 0x02,                         /* testb  $2,qemu_loglevel(%rip) */
	0x0f, 0x85, ANY4,                               /* jne    to what logs it */
	0xba, 0x01, 0x00, 0x00, 0x00,                   /* mov    $1,%edx */
	0x48, 0x89, 0xdf,                               /* mov    %rbx,%rdi */
	0xe8, ANY4,                                     /* call   do_interrupt_x86_hardirq */
};

enum {
	LENGTH = sizeof(wanted) / sizeof(wanted[0]),
	ERROR_CODE = 7, /* where these offsets are in it */
	STORE = 11,     /* six octets */
	INDEX = STORE + 2,
	IS_INT = 19,
	NEXT_EIP = 30,
	CALL = LENGTH - 4,
};

static const unsigned char nothing[6] = {
	0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00
}; /* one nop of six octets */

static int32_t offset_at(const unsigned char *code)
{
	int32_t offset;

	memcpy(&offset, code, sizeof(offset));
	return offset;
}

/* Is this it? What is not in `wanted` is compared with each other, and with where the call must go. */
static bool is_case(const unsigned char *code, const unsigned char *callee)
{
	int32_t error_code = offset_at(code + ERROR_CODE);

	for (int i = 0; i < LENGTH; i++)
		if (wanted[i] != ANY && wanted[i] != code[i])
			return false;
	return offset_at(code + IS_INT) == error_code + 4 &&
	       offset_at(code + NEXT_EIP) == error_code + 8 &&
	       offset_at(code + INDEX) < 0 && /* the generic part of a CPU is before env */
	       code + LENGTH + offset_at(code + CALL) == callee;
}

/* The start of the only such code in a function, or nothing. */
static unsigned char *find_case(unsigned char *function, size_t size, const unsigned char *callee)
{
	unsigned char *found = NULL;

	for (size_t at = 0; at + LENGTH <= size; at++) {
		if (!is_case(function + at, callee))
			continue;
		if (found)
			return NULL;
		found = function + at;
	}
	return found;
}

/* Nothing is executed meanwhile: there is one thread. */
static bool replace(unsigned char *code, const unsigned char *by, size_t size)
{
	uintptr_t page = sysconf(_SC_PAGESIZE);
	uintptr_t start = (uintptr_t)code & -page;
	size_t length = (uintptr_t)code + size - start;

	if (mprotect((void *)start, length, PROT_READ | PROT_WRITE))
		return false;
	memcpy(code, by, size);
	if (mprotect((void *)start, length, PROT_READ | PROT_EXEC))
		abort(); /* QEMU cannot run any more */
	return true;
}

/* What to complain of, or NULL */
static const char *deliver_once(void)
{
	unsigned char *vmrun = dlsym(RTLD_DEFAULT, "helper_vmrun");
	unsigned char *callee = dlsym(RTLD_DEFAULT, "do_interrupt_x86_hardirq");
	const ElfW(Sym) * symbol;
	unsigned char *code;
	Dl_info info;

	if (!vmrun || !callee || !dladdr1(vmrun, &info, (void **)&symbol, RTLD_DL_SYMENT) ||
	    !symbol)
		return "there is no helper_vmrun";
	code = find_case(vmrun, symbol->st_size, callee);
	if (!code)
		return "helper_vmrun is not as expected";
	if (!replace(code + STORE, nothing, sizeof(nothing)))
		return strerror(errno);
	return NULL;
}

__attribute__((constructor)) static void start(void)
{
	const char *complaint;

	if (strcmp(program_invocation_short_name, "qemu-system-x86_64"))
		return;
	complaint = deliver_once();
	if (complaint)
		fprintf(stderr,
			"vmrun-once: QEMU is left as it is, and PVH guests may panic now and then: %s\n",
			complaint);
	else if (getenv("VMRUN_ONCE_SAY")) /* for the test */
		fprintf(stderr, "vmrun-once: done\n");
}
