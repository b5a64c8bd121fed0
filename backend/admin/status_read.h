/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * status_read.h - reads what worker/status_write.h describes. Both the supervisor and the tool do; neither trusts the
 * worker that wrote it, as a guest may have broken into that: everything is bounded, and strings
 * hold nothing but printable ASCII.
 */
#ifndef XEN_IB_ADMIN_STATUS_READ_H
#define XEN_IB_ADMIN_STATUS_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/limits.h"
#include "util/histogram.h"

#define STATUS_WORD 24
#define STATUS_TYPES 16
#define STATUS_OPS 64
#define STATUS_REFUSALS 512
#define STATUS_CONTEXTS 4096
#define STATUS_BYTES_MAX (512u << 10) /* of a file; more is of nobody who means well */

struct status_object {
	char type[STATUS_WORD];
	uint64_t used, peak, limit;
};

struct status_op {
	char name[STATUS_WORD];
	uint64_t count;
	struct histogram latency;
};

struct status_refusal {
	char op[STATUS_WORD], why[STATUS_WORD];
	uint64_t count;
};

struct status_context {
	uint32_t handle, pid; /* in the guest */
	char name[STATUS_WORD];
};

/* The counters that are a key and a number. */
enum status_counter {
	STATUS_KICKS,
	STATUS_NOTIFIES,
	STATUS_COMPLETIONS,
	STATUS_ASYNCS,
	STATUS_ASYNCS_LOST,
	STATUS_EVENT_NOTIFIES,
	STATUS_UNKNOWN,
	STATUS_KERNEL_CONTEXTS,
	STATUS_MADS_SENT,
	STATUS_MADS_RECEIVED,
	STATUS_MADS_DROPPED,
	STATUS_MAD_GROUPS,
	STATUS_MADS_STRAY,
	STATUS_MADS_REFUSED_KIND,
	STATUS_MADS_REFUSED_CLAIM,
	STATUS_MADS_REFUSED_ID,
	STATUS_MADS_REFUSED_RATE,
	STATUS_MADS_REFUSED_LIMIT,
	STATUS_CONNS,
	STATUS_CONNS_ASKED,
	STATUS_CONNS_DENIED,
	STATUS_CONNS_AGED,
	STATUS_DMABUFS,
	STATUS_COUNTERS
};

struct status_view {
	uint32_t pid; /* of the worker */
	uint64_t counters[STATUS_COUNTERS];
	struct status_object bytes, objects[STATUS_TYPES];
	char imposed[LIMITS_TEXT]; /* on QPs, as limits_format() has it */
	struct status_op ops[STATUS_OPS];
	struct status_refusal refusals[STATUS_REFUSALS];
	struct histogram events;
	struct status_context *contexts; /* ours */
	unsigned int n_objects, n_ops, n_refusals, n_contexts;
};

/* The counter's key in the file: "asyncs-lost". */
const char *status_counter_key(enum status_counter counter);

/*
 * status_line - takes in one line, without its end; line is written to. View is zeroed before the first one.
 * Unknown keys and lines that make no sense are ignored, so that files of other versions can be read.
 */
void status_line(struct status_view *view, char *line);

/*
 * status_load - reads the file of a vHCA below dir. False: there is none, or no readable one; view is empty then.
 */
bool status_load(struct status_view *view, const char *dir, unsigned int domid, unsigned int devid);

/*
 * status_file - the text of that file, to be freed by the caller; NULL if there is none. Ends in a NUL,
 * and has no other.
 */
char *status_file(const char *dir, unsigned int domid, unsigned int devid);

/* status_commands - sum of all commands. */
uint64_t status_commands(const struct status_view *view);

/* status_free - what the view has; it is empty then. */
void status_free(struct status_view *view);

#endif
