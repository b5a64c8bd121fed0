/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * fake_state.h - the fake HCA (hca_fake.h): what it is told to do, and what it tells.
 */
#ifndef FAKE_STATE_H
#define FAKE_STATE_H

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
	bool block_loopback;       /* likewise */
	uint64_t domain;           /* the inode of the XRC domain opened last */
	int fail_in;       /* the n-th creation (or P_Key, or time) from now fails; 0: none */
	unsigned int live; /* objects */
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

#endif
