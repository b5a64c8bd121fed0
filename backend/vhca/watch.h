/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * watch.h - CQs whose completions the transport tells the guest of itself.
 *
 * Each has a completion channel of its own, as the transport sees no more than that there is something
 * in one. What it has told of stays in the channels, and is read behind it: whenever the transport
 * finds that there is much, or that it is old. So nothing grows while the guest takes its events.
 */
#ifndef XEN_IB_VHCA_WATCH_H
#define XEN_IB_VHCA_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "hca/hca.h"
#include "vhca/transport.h"

struct watches;

/* Of one CQ. */
struct watch {
	int channel; /* -1: it has none */
	uint32_t id;
};

#define WATCH_NONE ((struct watch){ .channel = -1 })

/*
 * watches_open - the guest's page of bits and its event channels. 0; -EOPNOTSUPP: this transport does
 * not do that, and *w is NULL; another errno: what the guest has given is wrong.
 */
int watches_open(struct hca *hca, struct transport *t, uint32_t bits, const uint32_t *ports,
		 unsigned int vectors, struct watches **w);

/* watches_close - none is left. NULL is fine. */
void watches_close(struct watches *w);

/*
 * watch_begin - before the CQ is made, with watch->channel. 0 or -errno. w is NULL: there is none.
 * watch_end - the CQ is destroyed, and its bit can be another's: nothing is told of it any more.
 */
int watch_begin(struct watches *w, struct hca_ctx *ctx, uint32_t bit, uint32_t vector,
		struct watch *watch);
void watch_end(struct watches *w, struct watch *watch);

/* watches_fd - to poll for input: then watches_read(). */
int watches_fd(const struct watches *w);

struct watches_got {
	unsigned int events; /* that were read */
	bool more;           /* there are more: call it again */
	bool flood;          /* and there have been too many for too long */
};

/* watches_read - reads what has been told of, or some of it. In one thread. */
struct watches_got watches_read(struct watches *w);

/* watches_told - what the transport has told of; zeros if w is NULL. */
void watches_told(struct watches *w, struct transport_told *told);

#endif
