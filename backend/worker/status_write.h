/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * status_write.h - a file for each vHCA that says what it has and what it did, for people and "xen-ib
 * show".
 *
 * /run/xen-ib/<domid>-<devid>.status; replaced as a whole, at most once in STATUS_INTERVAL_MS and
 * only after a command. Lines of a key and values, separated by spaces:
 *
 *   domid 5                          devid 0            hca mlx5_0       pid 812
 *   object QP 3 4 4096               type, in use, most so far, limit
 *   object multicast 2 2 256         QPs in multicast groups
 *   bytes 1310720 2621440 1073741824
 *   imposed sl=3,qp-rate=10G         on QPs that are connected from now on; empty: nothing
 *   kicks 190                        event channel notifications by the guest
 *   notifies 188                     and to it
 *   completions 1200                 completion events of the HCA
 *   asyncs 2                         asynchronous events that were put into the ring
 *   asyncs-lost 0                    dropped, because the same one waited already
 *   event-notifies 1100              event channel notifications to the guest, of events
 *   event-latency 90 310000 9000 3 80 7   from an event (if the worker tells of it: from reading it) to
 *                                    telling the guest: how often, sum and longest in ns, and a
 *                                    histogram (util/histogram.h) without its empty end; not there if
 *                                    nothing was measured
 *   command QP_CREATE 4              how often
 *   latency QP_CREATE 4 812000 300000 0 0 0 0 0 0 0 1 3   from reading the request to its result
 *   refused QP_CREATE E_LIMIT 1      operation, status, how often
 *   unknown 0                        requests with no operation that exists
 *   kernel-contexts 1                contexts of the guest's kernel, now
 *   mads-sent 12                     management datagrams of the guest's that were not refused
 *   mads-received 11                 and those for it
 *   mads-dropped 0                   others for it, as it had not fetched those before
 *   mad-groups 3                     multicast groups that its kernel has joined, now
 *   mads-stray 0                     for a connection of its, but not from its peer: dropped
 *   mads-refused-kind 0              its own that were refused: classes, methods, attributes,
 *   mads-refused-claim 0             a GID, GUID, LID or P_Key that is not its own, or malformed,
 *   mads-refused-id 0                of a connection that it does not have, or not in that state,
 *   mads-refused-rate 0              too many in a second,
 *   mads-refused-limit 0             too many connections, groups or queries at a time
 *   connections 2                    established ones of its kernel, now
 *   connections-unanswered 0         such as others ask for and it has not answered, now
 *   connections-denied 0             requests of others that were dropped, as it has too many
 *   connections-aged-out 0           ended without an answer
 *   dma-bufs 7                       umems that were made as dma-bufs; others are mapped
 *   context 0x1 1234 ib_send_lat     handle, process and name in the guest
 */
#ifndef XEN_IB_WORKER_STATUS_WRITE_H
#define XEN_IB_WORKER_STATUS_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "vhca/vhca.h"

#define STATUS_INTERVAL_MS 200

struct status {
	char path[96], temporary[112];
	uint32_t domid, devid;
	char hca[64];
	uint64_t written; /* of changes() */
	bool stale;       /* something else has changed: set by whoever knows */
	uint64_t last_ms;

	/*
	 * Set after status_init() where somebody else has to replace the file by this text; size 0:
	 * remove it.
	 */
	void (*publish)(void *to, const char *text, size_t size);
	void *to;
};

void status_init(struct status *status, const char *dir, uint32_t domid, uint32_t devid,
		 const char *hca);

/*
 * status_update - writes the file if there is something new and the last time is long enough ago.
 * Returns in how many milliseconds it should be called again, or -1 if nothing is pending.
 */
int status_update(struct status *status, struct vhca *v);

/* status_remove - removes the file. */
void status_remove(const struct status *status);

#endif
