/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the parts of the control socket share: connections (ctl.c), lists (ctl_list.c), faults and counters (ctl_fault.c). */
#ifndef HCA_CTL_PARTS_H
#define HCA_CTL_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/fabric.h"
#include "objects/obj.h"

/* Text that is on its way to a client. A line that does not fit is cut off, so ask for room first. */
#define CTL_OUT 65536
struct ctl_out {
	char text[CTL_OUT];
	size_t len, sent;
};
void ctl_print(struct ctl_out *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define CTL_WORDS 16
#define CTL_ALL_FUNCTIONS (-1)

/* A request, taken apart: words without options. */
struct ctl_request {
	char *words[CTL_WORDS];
	unsigned int count;
	int function;                     /* --function, or CTL_ALL_FUNCTIONS */
	uint32_t fail_count, fail_status; /* --count, --status */
};

/* A number, decimal or 0x...; false if it is none or above max. */
bool ctl_number(const char *text, uint64_t max, uint64_t *value);

/* A list that is being made: where it goes on. */
struct ctl_list {
	bool busy;
	enum obj_type type, last_type;
	unsigned int port, first_port, last_port;
	uint32_t next;
	bool header_done;
};

/* Starts a list of objects ("qp", ..., "all"). False if there is no such type. */
bool ctl_list_start(struct ctl_list *list, const struct ctl_request *request, const char *type);
/* Adds rows while there is room. False once the list is complete. */
bool ctl_list_continue(struct ctl_list *list, struct fabric *fabric, struct ctl_out *out);

/* These answer in full; what they return is the text of an error, or NULL. */
const char *ctl_counters(struct fabric *fabric, const struct ctl_request *request,
			 struct ctl_out *out);
const char *ctl_reset_counters(struct fabric *fabric, const struct ctl_request *request);
const char *ctl_fault(struct fabric *fabric, const struct ctl_request *request,
		      struct ctl_out *out);

/* Calls for the functions that a request means, in order of their index. */
static inline struct hca *ctl_next_function(struct fabric *fabric,
					    const struct ctl_request *request, unsigned int *index)
{
	for (; *index < FABRIC_PORTS; (*index)++) {
		struct hca *hca = fabric_port(fabric, *index);

		if (!hca ||
		    (request->function != CTL_ALL_FUNCTIONS && request->function != (int)*index))
			continue;
		(*index)++;
		return hca;
	}
	return NULL;
}

#endif
