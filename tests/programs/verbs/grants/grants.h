/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * grants: the module xen-ibgrant in dom0, with pages of a guest (granter). The file that GRANTS names in the environment
 * has the guest's domain and the references, numbers with blanks between.
 */
#ifndef GRANTS_H
#define GRANTS_H

#include "granter.h"
#include "verbs_pair.h"
#include "xen-ibgrant.h"

/* The guest's pages, and ports of its event channels for dom0, from the same file with ".channels" behind its name. */
#define GRANTED_PORTS 2

struct granted {
	uint32_t domid, pages;
	uint32_t *refs;
	uint32_t ports[GRANTED_PORTS];
};

void granted_read(struct granted *g);

/* The module's device, open, and bound to the guest for so many pages, as if Xen translated its memory. */
int device_open(void);
int device_bound(const struct granted *g, uint32_t limit);

/* The calls: 0, or an errno. */
int dev_bind(int dev, uint32_t domid, uint32_t flags, uint32_t pages);
int dev_create(int dev, uint32_t pages, uint32_t flags, int *fd);
int dev_add(int dev, int fd, uint32_t first, const uint32_t *refs, uint32_t count);
int dev_range(int dev, int fd, uint32_t first, uint32_t count, int *range);

/* Of the file for events: bits are in the guest's first page, a watch is told its name. */
int ev_open(int dev, const struct granted *g, uint32_t vectors, int *fd);
int ev_watch(int fd, int channel, uint32_t bit, uint32_t vector, uint32_t *watch);
int ev_unwatch(int fd, unsigned long watch);

/* A call is refused by that errno. */
#define REFUSED(call, error, what) \
	do { \
		int err_ = (call); \
\
		check(err_ == (error), "%s: %s (got %s)", what, strerrorname_np(error), \
		      err_ ? strerrorname_np(err_) : "nothing"); \
	} while (0)

/* A dma-buf of all of the guest's pages, added in pieces of different sizes, the last ones first. */
int dev_whole(int dev, const struct granted *g, uint32_t flags);

/* Grants that the module has mapped, for anybody. */
unsigned long mapped(void);

/* Waits until it is this many. */
void until_mapped(unsigned long pages);

/* Reads or writes [remote, remote + len) of an MR of the end's peer, to or from its buffer, in pieces. */
void move(struct vp_end *end, enum ibv_wr_opcode opcode, uint64_t remote, uint32_t rkey,
	  size_t len);

extern const struct check_table grants_data, grants_refused, grants_events, grants_random;

#endif
