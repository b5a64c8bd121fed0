/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * quota.h - what a vHCA may have, and what it has.
 *
 * The limits (config/limits.h) come from the backend's xenstore directory, which only the domain of
 * the HCA writes.
 *
 * Nothing here locks: all of it belongs to the lock of the vHCA.
 */
#ifndef XEN_IB_VHCA_QUOTA_H
#define XEN_IB_VHCA_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include "config/limits.h"
#include "vhca/handle.h"
#include "vhca/qp_limits.h"

struct quota_item {
	uint64_t limit, used, peak;
};

struct quota {
	struct quota_item objects[OBJ_TYPES];
	struct quota_item bytes, mcast;
	uint64_t max_ah, max_mr_bytes;
	struct qp_limits qp;
};

/*
 * So many QPs of a vHCA may be in one multicast group: an HCA takes a hundred or two of all guests
 * and its own domain together, so one guest must not be able to take them all.
 */
#define QUOTA_GROUP_QPS 8

/* quota_limit - where it is kept. */
uint64_t *quota_limit(struct quota *quota, enum limit limit);

/* Reads a key; false where there is none. */
typedef bool quota_get(void *from, const char *key, char text[LIMIT_TEXT]);

/*
 * quota_setup - zeroes usage and reads the limits. A value above what the daemon can serve is cut
 * to that, with a line in the log. get may be NULL: defaults.
 */
void quota_setup(struct quota *quota, quota_get *get, void *from);

/* quota_reread - those that are imposed on QPs, which may have changed. */
void quota_reread(struct quota *quota, quota_get *get, void *from);

/* quota_imposed - those, as limits_format() has them. */
void quota_imposed(const struct quota *quota, char text[LIMITS_TEXT]);

/* quota_take - takes amount, or returns false and takes nothing. */
bool quota_take(struct quota_item *item, uint64_t amount);
void quota_give(struct quota_item *item, uint64_t amount);

/* The sum of all objects' limits: handles that can be in use. */
uint32_t quota_handles(const struct quota *quota);

#endif
