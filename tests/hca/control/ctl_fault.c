// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Counters, and the faults that may be asked for. */
#include <string.h>

#include "bus/dma.h"
#include "container.h"
#include "control/ctl_parts.h"
#include "firmware/cmd.h"
#include "hca.h"
#include "objects/uar.h"

#define DELAY_MAX_US 60000000u
#define DROP_MAX 1000000000u
#define FAIL_SYNDROME 0xfa17u /* in the driver's log: asked for, not found */

static const struct {
	const char *name;
	size_t offset; /* in struct hca, of a uint64_t */
} counters[] = {
#define STAT(name) { #name, offsetof(struct hca, stats.name) }
#define PORT_STAT(name) { "port_" #name, offsetof(struct hca, port.name) }
	STAT(commands),
	STAT(commands_failed),
	STAT(doorbells),
	STAT(doorbells_refused),
	STAT(messages_sent),
	STAT(messages_received),
	STAT(bytes_sent),
	STAT(bytes_received),
	STAT(packets_sent),
	STAT(packets_received),
	STAT(packets_dropped),
	STAT(packets_retried),
	STAT(cqes),
	STAT(cqe_errors),
	STAT(eqes),
	STAT(interrupts),
	STAT(umr),
	STAT(rnr_naks_sent),
	STAT(access_errors),
	STAT(bad_wqes),
	STAT(bad_dma),
	PORT_STAT(xmit_bytes),
	PORT_STAT(rcv_bytes),
	PORT_STAT(xmit_packets),
	PORT_STAT(rcv_packets),
	PORT_STAT(xmit_discards),
};

static uint64_t *counter(struct hca *hca, size_t i)
{
	return (uint64_t *)((char *)hca + counters[i].offset);
}

#define COUNTERS (sizeof(counters) / sizeof(counters[0]))

const char *ctl_counters(struct fabric *fabric, const struct ctl_request *request,
			 struct ctl_out *out)
{
	unsigned int index = 0;
	struct hca *hca;

	ctl_print(out, "table counters\nfunction:d");
	for (size_t i = 0; i < COUNTERS; i++)
		ctl_print(out, "\t%s:d", counters[i].name);
	ctl_print(
		out,
		"\tdma_reads:d\tdma_read_bytes:d\tdma_writes:d\tdma_write_bytes:d\tdma_faults:d\n");
	while ((hca = ctl_next_function(fabric, request, &index))) {
		const struct dma_stats *d = dma_stats(hca->dma);

		ctl_print(out, "%u", hca->index);
		for (size_t i = 0; i < COUNTERS; i++)
			ctl_print(out, "\t%llu", (unsigned long long)*counter(hca, i));
		ctl_print(out, "\t%llu\t%llu\t%llu\t%llu\t%llu\n", (unsigned long long)d->reads,
			  (unsigned long long)d->read_bytes, (unsigned long long)d->writes,
			  (unsigned long long)d->write_bytes, (unsigned long long)d->faults);
	}
	return NULL;
}

static void reset_uar(struct obj *obj, void *arg)
{
	struct uar *uar = container_of(obj, struct uar, obj);

	(void)arg;
	uar->sq_doorbells = uar->cq_arms = uar->eq_doorbells = uar->refused = 0;
}

const char *ctl_reset_counters(struct fabric *fabric, const struct ctl_request *request)
{
	unsigned int index = 0;
	struct hca *hca;

	while ((hca = ctl_next_function(fabric, request, &index))) {
		for (size_t i = 0; i < COUNTERS; i++)
			*counter(hca, i) = 0;
		dma_stats_reset(hca->dma);
		obj_each(hca->objs[OBJ_UAR], reset_uar, NULL);
	}
	return NULL;
}

static void show_commands(struct ctl_out *out, const struct hca_faults *faults)
{
	const char *separator = "";

	for (unsigned int i = 0; i < HCA_FAULT_COMMANDS; i++) {
		const char *name = cmd_name(faults->command[i].opcode);

		if (!faults->command[i].opcode)
			continue;
		ctl_print(out, "%s%s:0x%x*%u", separator, name ? name : "?",
			  faults->command[i].status, faults->command[i].count);
		separator = ",";
	}
	if (!separator[0])
		ctl_print(out, "-");
}

static void show_faults(struct fabric *fabric, const struct ctl_request *request,
			struct ctl_out *out)
{
	unsigned int index = 0;
	struct hca *hca;

	ctl_print(out, "table faults\nfunction:d\tlink:s\tfatal:d\todp:s\tmoderation:s\tdrop:d\t"
		       "drop_permille:d\tdelay_us:d\tfail_commands:s\n");
	while ((hca = ctl_next_function(fabric, request, &index))) {
		const struct hca_faults *f = &hca->faults;

		ctl_print(out, "%u\t%s\t%u\t%s\t%s\t%u\t%u\t%llu\t", hca->index,
			  f->link_down ? "down" : "up", f->fatal, hca_has_odp(hca) ? "on" : "off",
			  f->moderation ? "on" : "off", f->drop_next, f->drop_permille,
			  (unsigned long long)(f->delay_ns / 1000));
		show_commands(out, f);
		ctl_print(out, "\n");
	}
}

/* One kind of fault on one function; value is the word after its name, NULL if there is none. */
static const char *fault_drop(struct hca *hca, const char *value, const struct ctl_request *r)
{
	uint64_t n;

	(void)r;
	if (!value || !ctl_number(value, DROP_MAX, &n))
		return "drop needs the number of packets";
	hca->faults.drop_next = (uint32_t)n;
	return NULL;
}

static const char *fault_drop_rate(struct hca *hca, const char *value, const struct ctl_request *r)
{
	uint64_t n;

	(void)r;
	if (!value || !ctl_number(value, 1000, &n))
		return "drop-rate needs a number from 0 to 1000 (per mille)";
	hca->faults.drop_permille = (uint32_t)n;
	return NULL;
}

static const char *fault_delay(struct hca *hca, const char *value, const struct ctl_request *r)
{
	uint64_t n;

	(void)r;
	if (!value || !ctl_number(value, DELAY_MAX_US, &n))
		return "delay needs microseconds, a minute at most";
	hca->faults.delay_ns = n * 1000;
	return NULL;
}

static const char *fault_link(struct hca *hca, const char *value, const struct ctl_request *r)
{
	(void)r;
	if (!value || (strcmp(value, "up") && strcmp(value, "down")))
		return "link is either up or down";
	hca_set_link(hca, !strcmp(value, "up"));
	return NULL;
}

static const char *fault_fatal(struct hca *hca, const char *value, const struct ctl_request *r)
{
	(void)r;
	if (!value || (strcmp(value, "on") && strcmp(value, "off")))
		return "fatal is either on or off";
	hca_set_fatal(hca, !strcmp(value, "on"));
	return NULL;
}

static const char *fault_odp(struct hca *hca, const char *value, const struct ctl_request *r)
{
	(void)r;
	if (!value || (strcmp(value, "on") && strcmp(value, "off")))
		return "odp is either on or off";
	hca->faults.no_odp = !strcmp(value, "off");
	return NULL;
}

static const char *fault_moderation(struct hca *hca, const char *value, const struct ctl_request *r)
{
	(void)r;
	if (!value || (strcmp(value, "on") && strcmp(value, "off")))
		return "moderation is either on or off";
	hca->faults.moderation = !strcmp(value, "on");
	return NULL;
}

/* Where the opcode is, or may go; HCA_FAULT_COMMANDS if there is no room. */
static unsigned int command_slot(const struct hca *hca, uint16_t opcode)
{
	unsigned int slot = HCA_FAULT_COMMANDS;

	for (unsigned int i = HCA_FAULT_COMMANDS; i-- > 0;) {
		if (hca->faults.command[i].opcode == opcode)
			return i;
		if (!hca->faults.command[i].opcode)
			slot = i;
	}
	return slot;
}

static const char *fault_fail_command(struct hca *hca, const char *value,
				      const struct ctl_request *r)
{
	uint64_t opcode = value ? cmd_opcode(value) : 0;
	unsigned int slot;

	if (!opcode && (!value || !ctl_number(value, UINT16_MAX, &opcode) || !opcode))
		return "fail-command needs the name of a command, such as CREATE_QP, or its opcode";
	slot = command_slot(hca, (uint16_t)opcode);
	if (slot == HCA_FAULT_COMMANDS)
		return "as many commands as possible fail already (fault clear ends that)";
	hca->faults.command[slot].opcode = r->fail_count ? (uint16_t)opcode : 0;
	hca->faults.command[slot].status = (uint8_t)r->fail_status;
	hca->faults.command[slot].syndrome = FAIL_SYNDROME;
	hca->faults.command[slot].count = r->fail_count;
	return NULL;
}

static const char *fault_clear(struct hca *hca, const char *value, const struct ctl_request *r)
{
	(void)r;
	if (value)
		return "clear takes nothing more";
	hca->faults.drop_next = 0;
	hca->faults.drop_permille = 0;
	hca->faults.delay_ns = 0;
	hca->faults.no_odp = false;
	hca->faults.moderation = false;
	memset(hca->faults.command, 0, sizeof(hca->faults.command));
	if (hca->faults.link_down)
		hca_set_link(hca, true);
	hca_set_fatal(hca, false);
	return NULL;
}

static const struct {
	const char *name;
	const char *(*apply)(struct hca *hca, const char *value, const struct ctl_request *r);
} faults[] = {
	{ "drop", fault_drop },   { "drop-rate", fault_drop_rate },
	{ "delay", fault_delay }, { "link", fault_link },
	{ "fatal", fault_fatal }, { "fail-command", fault_fail_command },
	{ "odp", fault_odp },     { "moderation", fault_moderation },
	{ "clear", fault_clear },
};

const char *ctl_fault(struct fabric *fabric, const struct ctl_request *request, struct ctl_out *out)
{
	const char *name = request->count > 1 ? request->words[1] : "show";
	const char *value = request->count > 2 ? request->words[2] : NULL;
	const char *error = NULL;
	unsigned int index = 0;
	struct hca *hca;

	if (request->count > 3)
		return "that is one word too many";
	if (!strcmp(name, "show")) {
		show_faults(fabric, request, out);
		return NULL;
	}
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		if (strcmp(name, faults[i].name))
			continue;
		while ((hca = ctl_next_function(fabric, request, &index))) {
			error = faults[i].apply(hca, value, request);
			if (error)
				return error;
			hca_log(hca, HCA_LOG_INFO, "fault %s %s", name, value ? value : "");
		}
		return error;
	}
	return "there is no such fault (drop, drop-rate, delay, link, fatal, fail-command, odp, moderation, clear, show)";
}
