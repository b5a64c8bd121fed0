/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Which QPs are attached to which multicast GIDs. */
#ifndef HCA_GROUPS_H
#define HCA_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/fabric.h"

#define GROUP_BUCKETS 256

/* One QP in one multicast group. */
struct attachment {
	struct attachment *next;
	uint8_t mgid[16];
	uint8_t port;
	uint32_t qpn;
};

struct groups {
	struct attachment *buckets[GROUP_BUCKETS];
	struct {
		unsigned int attachments;
		uint16_t attached[256]; /* how many QPs of this low byte are attached: most are not */
	} ports[FABRIC_PORTS];
};

/* Where to look for those of a group: the chain has others as well. */
const struct attachment *groups_first(const struct groups *g, const uint8_t mgid[16]);
bool groups_empty(const struct groups *g);

/* -EEXIST, -ENOSPC (FABRIC_GROUP_QPS, FABRIC_ATTACHMENTS), -ENOMEM. */
int groups_attach(struct groups *g, unsigned int port, const uint8_t mgid[16], uint32_t qpn);
/* -ENOENT. */
int groups_detach(struct groups *g, unsigned int port, const uint8_t mgid[16], uint32_t qpn);
void groups_detach_all(struct groups *g, unsigned int port, uint32_t qpn);
/* All of a port. */
void groups_purge(struct groups *g, unsigned int port);

#endif
