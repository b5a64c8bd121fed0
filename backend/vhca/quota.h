/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * quota.h - what a vHCA may have, and what it has.
 *
 * The limits come from the backend's xenstore directory, which only the domain of the HCA writes:
 *
 *   key             default   limits
 *   max-ctx             128   contexts: guest processes that have the device open
 *   max-uar             512   doorbell pages in use
 *   max-pd             1024   protection domains
 *   max-umem           32768   umems, those of inline registrations included
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
 *
 * Nothing here locks: all of it belongs to the lock of the vHCA.
 */
#ifndef XEN_IB_VHCA_QUOTA_H
#define XEN_IB_VHCA_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vhca/handle.h"

struct quota_item {
	uint64_t limit, used, peak;
};

struct quota {
	struct quota_item objects[OBJ_TYPES];
	struct quota_item bytes, mcast;
	uint64_t max_ah, max_mr_bytes;
};

/* A limit by its key. */
struct quota_key {
	const char *name;
	size_t where; /* of the value in struct quota */
	uint64_t value, most; /* by default, and that can be served */
};

#define QUOTA_KEYS 13

/*
 * So many QPs of a vHCA may be in one multicast group: an HCA takes a hundred or two of all guests
 * and its own domain together, so one guest must not be able to take them all.
 */
#define QUOTA_GROUP_QPS 8

/* quota_key - number 0 to QUOTA_KEYS - 1. */
const struct quota_key *quota_key(unsigned int number);

/* Reads a key; false where there is none, or no number. */
typedef bool quota_get(void *from, const char *key, uint64_t *value);

/*
 * quota_setup - zeroes usage and reads the limits. A value above what the daemon can serve is cut
 * to that, with a line in the log. get may be NULL: defaults.
 */
void quota_setup(struct quota *quota, quota_get *get, void *from);

/* quota_take - takes amount, or returns false and takes nothing. */
bool quota_take(struct quota_item *item, uint64_t amount);
void quota_give(struct quota_item *item, uint64_t amount);

/* The sum of all objects' limits: handles that can be in use. */
uint32_t quota_handles(const struct quota *quota);

#endif
