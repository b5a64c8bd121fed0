/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * worker.h - the process of one vHCA.
 *
 * A worker serves one connection: from InitWait to Closed. Then it ends, whether the guest asked
 * for that, broke the protocol, or went away; what it may have forgotten to release goes with the
 * process. The supervisor starts the next one. It needs no supervisor meanwhile, so that one may be
 * replaced: see supervisor/device.h.
 */
#ifndef XEN_IB_WORKER_WORKER_H
#define XEN_IB_WORKER_WORKER_H

#include "util/log.h"

/* Descriptors that a worker is born with. */
enum worker_fd {
	WORKER_UAR_POOL =
		3, /* for its broker; see broker/uar_pool.h: the uverbs file of the UARs */
	WORKER_UAR_TABLE = 4, /* and the memory of their table */
	WORKER_LIFE = 5,      /* closed when worker and mm pin are gone */
	WORKER_FD_END = 6,
};

/* How a worker ends: the lower bits of its exit status. */
enum worker_exit {
	WORKER_DONE = 0,
	WORKER_FAILED = 1,  /* not connected, or not any more, for a reason that is in the log */
	WORKER_REFUSED = 2, /* it is not safe to serve, or there is no such HCA */
};

/* The upper ones: for how many seconds the guest is not to be connected again. */
#define WORKER_PAUSE_MOST 63
#define WORKER_STATUS(exit, pause_s) ((exit) | (pause_s) << 2)
#define WORKER_EXIT(status) ((status) & 3)
#define WORKER_PAUSE_S(status) ((status) >> 2)

/*
 * worker_main - never returns before the worker is to end. Returns its exit status.
 * @path: of the backend's directory in xenstore, ".../backend/vhca/5/0"
 */
int worker_main(const char *path, unsigned int domid, unsigned int devid);

#endif
