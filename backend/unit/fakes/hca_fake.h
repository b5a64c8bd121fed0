/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * hca_fake.h - an HCA that only keeps books, and aborts where the real one would be used wrongly:
 * objects that do not exist or are still needed, memory that is not mapped when it is registered,
 * or not mapped any more when it is let go.
 */
#ifndef XEN_IB_HCA_FAKE_H
#define XEN_IB_HCA_FAKE_H

#include <sys/queue.h>

#include "hca/hca.h"
#include "unit/fakes/fake_queue.h"

struct fake_ctx;
LIST_HEAD(fake_ctx_list, fake_ctx);

struct fake_hca {
	struct hca hca;
	struct fake_ctx_list open;
	struct fake_queue port;
	uint32_t cq_flags;         /* of the CQ made last */
	uint32_t send_cq, recv_cq; /* of the QP made last */
	uint64_t domain;           /* the inode of the XRC domain opened last */
	int fail_in;               /* the n-th creation (or P_Key) from now fails; 0: none */
	unsigned int live;         /* objects */
	unsigned int contexts;
	unsigned int members; /* QPs that have been attached to multicast groups, and not detached */
	unsigned int slow_us;   /* a registration takes that long */
	unsigned int meet, met; /* see fake_meet() */
	bool endless;
	int endless_channel; /* or 0 */
	/* Called when a channel of its own, of a CQ, has one more; with the lock of all fakes. */
	void (*woken)(void *arg, int channel);
	void *woken_arg;
};

void fake_init(struct fake_hca *fake);
void fake_fini(struct fake_hca *fake);

/*
 * fake_complete, fake_async - an event of the CQ (or CQ, QP, SRQ) that was made with this user.
 * False: there is none.
 */
bool fake_complete(struct fake_hca *fake, uint64_t user);
bool fake_async(struct fake_hca *fake, uint64_t user, uint32_t type);

/* fake_flood - as fake_complete(), and from now on completion events never come to an end. */
bool fake_flood(struct fake_hca *fake, uint64_t user);

/*
 * fake_meet_set - from now on allocating a PD takes until n are at it. fake_met: how many are.
 * fake_meet: is one of them, and waits for the others. If they do not come in half a minute, it aborts.
 */
void fake_meet_set(struct fake_hca *fake, unsigned int n);
unsigned int fake_met(struct fake_hca *fake);
void fake_meet(struct fake_hca *fake);

/* fake_port - an event of the port or the device, of which every context hears. */
void fake_port(struct fake_hca *fake, uint32_t type);

#endif
