/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * device.h - the supervisor's side of one vHCA: its worker, and what has to outlive workers.
 *
 * A worker outlives the supervisor, so what a next supervisor has to know stands in files,
 * /run/xen-ib/<domid>-<devid>.life and .pid. The first is a pipe with a name, of which worker, broker
 * and mm pin have the end for writing, and write nothing: as long as there is such an end, or the
 * worker itself, it is at work or not yet cleaned up after, and no other worker may start. The
 * supervisor that started it sees this in the same way as one that came later.
 */
#ifndef XEN_IB_SUPERVISOR_DEVICE_H
#define XEN_IB_SUPERVISOR_DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "supervisor/uar_store.h"
#include "util/ratelimit.h"
#include "xen/xenbus.h"

enum device_detach { DETACH_NO, DETACH_WAIT, DETACH_FORCE, DETACH_DONE };

struct device {
	char path[XB_PATH_MAX]; /* of the backend's directory */
	unsigned int domid, devid;
	bool listed;               /* xenstore has it */
	bool was_listed;           /* at the last look */
	enum device_detach detach; /* it is to be taken away */
	pid_t pid;                 /* of the worker; 0: none runs, or it is not known */
	int pidfd;                 /* of one that another supervisor has started; -1 */
	bool crashed;              /* the last one did not say Closed itself */
	int life; /* at its end when worker, broker and mm pin are gone; -1: they are */
	struct uar_pools pools;
	uint64_t started_ms;    /* the last worker */
	uint64_t not_before_ms; /* of the next worker */
	struct ratelimit starts;
	unsigned int failures; /* in a row */
	char said[256];        /* why there is no worker; said once */
	uint64_t ended_ms; /* the last worker, when the rest of its family was last killed; 0: it has not */
	uint64_t end_ms; /* when the worker was first seen to have to end; 0: it has not */
	LIST_ENTRY(device) link;
};

LIST_HEAD(device_list, device);

extern const char *device_dir; /* another one than STATUS_DIR in tests */

/*
 * device_new - with the worker that another supervisor has left, if there is one. NULL: no memory.
 * @store: see uar_store.h
 */
struct device *device_new(const char *path, unsigned int domid, unsigned int devid,
			  struct uar_store *store);

/* device_free - the domain is gone, and so is the worker: files and UAR pools go as well. */
void device_free(struct device *device);

/* device_busy - whether there is a worker, or one that is not yet cleaned up after. */
bool device_busy(const struct device *device);

/* device_start - starts a worker, which it may do if the device is not busy. */
void device_start(struct device *device, struct xs_handle *xs, bool verbose);

/* device_put_off - no worker can be started now, for this reason; tried again in a second. */
void device_put_off(struct device *device, struct xs_handle *xs, const char *why);

/*
 * device_must_end - kills a worker that has not ended within a grace, after this was called first.
 * Returns in how many milliseconds to call again, -1 if no worker is left.
 */
#define DEVICE_GRACE_MS 30000
#define DEVICE_FORCE_MS 2000
int device_must_end(struct device *device, unsigned int grace_ms);

/* device_ended - the worker, our child, ended with this wait status; decides about the next one. */
void device_ended(struct device *device, struct xs_handle *xs, int status);

/*
 * device_fd - to poll for reading; -1: not now. device_event - it is readable: a worker from before, or
 * all the family of one, has ended.
 */
int device_fd(const struct device *device);
void device_event(struct device *device, struct xs_handle *xs);

/*
 * device_clear - kills those of a worker's family that outlive it. Returns in how many milliseconds to
 * call again, or -1.
 */
int device_clear(struct device *device);

#endif
