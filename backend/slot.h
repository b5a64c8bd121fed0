/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * slot.h - the supervisor's side of one vHCA: its worker, and what has to outlive workers.
 */
#ifndef XEN_IB_SLOT_H
#define XEN_IB_SLOT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "xenbus.h"

struct slot {
	char path[XB_PATH_MAX]; /* of the backend's directory */
	unsigned int domid, devid;
	bool listed;    /* xenstore has it */
	pid_t pid;      /* of the worker; 0: none runs */
	bool crashed;   /* the last one did not say Closed itself */
	int control;    /* its end of this makes the worker stop when we are gone; -1 */
	int life;       /* at its end when worker and keeper are gone; -1: they are */
	int bank;       /* see uar.h; -1: not opened yet */
	int records;    /* -1 */
	uint64_t not_before_ms; /* of the next worker */
	unsigned int failures;  /* in a row */
	uint64_t gone_ms;       /* when the domain was seen to be gone; 0: it is not */
	LIST_ENTRY(slot) link;
};

LIST_HEAD(slot_list, slot);

/* slot_new - NULL: no memory. */
struct slot *slot_new(const char *path, unsigned int domid, unsigned int devid);

/*
 * slot_free - closes the bank, so the domain must be gone (or never had a UAR); no worker runs.
 */
void slot_free(struct slot *slot);

/* slot_start - starts a worker, which it may do if none runs and the last one's keeper is gone. */
void slot_start(struct slot *slot, struct xs_handle *xs, bool verbose);

/*
 * slot_domain_gone - kills a worker that has not ended SLOT_GRACE_MS after its domain was seen to
 * be gone. Returns in how many milliseconds to call again, -1 if no worker is left.
 */
#define SLOT_GRACE_MS 30000
int slot_domain_gone(struct slot *slot);

/* slot_ended - the worker ended with this wait status; decides when the next one may start. */
void slot_ended(struct slot *slot, struct xs_handle *xs, int status);

/* slot_released - life has come to its end: all that the last worker had is released. */
void slot_released(struct slot *slot, struct xs_handle *xs);

uint64_t slot_now_ms(void);

#endif
