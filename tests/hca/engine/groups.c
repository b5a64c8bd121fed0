// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/groups.h"

static unsigned int bucket_of(const uint8_t mgid[16])
{
	uint8_t h = 0;

	for (unsigned int i = 0; i < 16; i++)
		h = (uint8_t)(h * 31 + mgid[i]);
	return h % GROUP_BUCKETS;
}

const struct attachment *groups_first(const struct groups *g, const uint8_t mgid[16])
{
	return g->buckets[bucket_of(mgid)];
}

bool groups_empty(const struct groups *g)
{
	for (unsigned int i = 0; i < FABRIC_PORTS; i++)
		if (g->ports[i].attachments)
			return false;
	return true;
}

int groups_attach(struct groups *g, unsigned int port, const uint8_t mgid[16], uint32_t qpn)
{
	struct attachment **bucket = &g->buckets[bucket_of(mgid)], *a;
	unsigned int members = 0;

	for (a = *bucket; a; a = a->next) {
		if (memcmp(a->mgid, mgid, 16))
			continue;
		if (a->port == port && a->qpn == qpn)
			return -EEXIST;
		members++;
	}
	if (members >= FABRIC_GROUP_QPS || g->ports[port].attachments >= FABRIC_ATTACHMENTS)
		return -ENOSPC;
	a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	memcpy(a->mgid, mgid, 16);
	a->port = (uint8_t)port;
	a->qpn = qpn;
	a->next = *bucket;
	*bucket = a;
	g->ports[port].attachments++;
	g->ports[port].attached[qpn & 0xff]++;
	return 0;
}

/* Takes the attachment at *at out. */
static void attachment_free(struct groups *g, struct attachment **at)
{
	struct attachment *a = *at;

	g->ports[a->port].attachments--;
	g->ports[a->port].attached[a->qpn & 0xff]--;
	*at = a->next;
	free(a);
}

int groups_detach(struct groups *g, unsigned int port, const uint8_t mgid[16], uint32_t qpn)
{
	struct attachment **at = &g->buckets[bucket_of(mgid)];

	for (; *at; at = &(*at)->next) {
		struct attachment *a = *at;

		if (a->port != port || a->qpn != qpn || memcmp(a->mgid, mgid, 16))
			continue;
		attachment_free(g, at);
		return 0;
	}
	return -ENOENT;
}

void groups_detach_all(struct groups *g, unsigned int port, uint32_t qpn)
{
	for (unsigned int i = 0; i < GROUP_BUCKETS && g->ports[port].attached[qpn & 0xff]; i++) {
		struct attachment **at = &g->buckets[i];

		while (*at) {
			if ((*at)->port == port && (*at)->qpn == qpn)
				attachment_free(g, at);
			else
				at = &(*at)->next;
		}
	}
}

void groups_purge(struct groups *g, unsigned int port)
{
	for (unsigned int i = 0; i < GROUP_BUCKETS && g->ports[port].attachments; i++) {
		struct attachment **at = &g->buckets[i];

		while (*at) {
			if ((*at)->port == port)
				attachment_free(g, at);
			else
				at = &(*at)->next;
		}
	}
}
