/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * limits.h - the limits of a vHCA: their keys, in what administrators write and in the backend's
 * xenstore directory, defaults, and what can be served at most.
 *
 *   key             default   limits
 *   max-ctx             128   contexts: guest processes that have the device open
 *   max-uar             512   doorbell pages in use
 *   max-pd             1024   protection domains
 *   max-umem          32768   umems, those of inline registrations included
 *   max-mr            16384   memory regions registered
 *   max-mw             4096   memory windows
 *   max-cq             4096   completion queues
 *   max-srq            1024   shared receive queues
 *   max-qp             4096   queue pairs
 *   max-ah            65536   address handles; counted by the frontend, they have no command
 *   max-mcast           256   QPs in multicast groups, each counted once for each group
 *   max-mem-bytes       96M   bytes of all pages offered: registered memory, queues, doorbells
 *   max-mr-bytes         1T   bytes of one registration, which max-mem-bytes bounds as well
 *
 * By default nobody has to raise a limit of Xen's: a guest has 64 grant frames, which are 128 MiB
 * with what its disks and networks take, and a PV dom0 can map 512 MiB of all guests, at two of its
 * 262,144 maptrack handles for a page. xen-ib check knows both.
 */
#ifndef XEN_IB_CONFIG_LIMITS_H
#define XEN_IB_CONFIG_LIMITS_H

#include <stdint.h>

enum limit {
	LIMIT_CTX,
	LIMIT_UAR,
	LIMIT_PD,
	LIMIT_UMEM,
	LIMIT_MR,
	LIMIT_MW,
	LIMIT_CQ,
	LIMIT_SRQ,
	LIMIT_QP,
	LIMIT_AH,
	LIMIT_MCAST,
	LIMIT_MEM_BYTES,
	LIMIT_MR_BYTES,
	LIMITS
};

struct limit_key {
	const char *name;
	uint64_t value, most; /* by default, and that can be served */
};

/* limit_key - of a limit below LIMITS. */
const struct limit_key *limit_key(enum limit limit);

#endif
