/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * fake_objects.h - the objects of the fake HCA (hca_fake.c): what each needs stays as long as it does, memory included.
 */
#ifndef FAKE_OBJECTS_H
#define FAKE_OBJECTS_H

#include <pthread.h>

#include "unit/fakes/fake_state.h"

#define MAX_OBJECTS 8192u

enum fake_kind { FREE, PD, MR, MW, CQ, SRQ, QP, XRCD };

struct fake_object {
	enum fake_kind kind;
	unsigned int refs;
	uint64_t user;
	bool events;       /* of a CQ: completion events */
	bool writable;     /* of an MR */
	int channel, copy; /* of its own, and a copy of the descriptor; or 0 */
	uint32_t parents[4];
	uint64_t addr[2], length[2];
};

struct fake_ctx {
	struct fake_hca *fake;
	struct fake_queue completions, events;
	LIST_ENTRY(fake_ctx) link;
	struct fake_object objects[MAX_OBJECTS]; /* 0 is none */
	unsigned int top;                        /* none has been used from here on */
};

extern pthread_mutex_t fake_lock; /* of all fakes */

/* Ends the test unless it is so. */
void fake_must(int condition, const char *what);

/* It is mapped as a whole. */
void fake_must_be_mapped(uint64_t addr, uint64_t length, const char *when);

/* Whether this is the one that fails (fake->fail_in). */
bool fake_fails(struct fake_hca *fake);

/* A new one, a copy of from. 0, or -ENOMEM. */
int fake_make(struct fake_ctx *c, enum fake_kind kind, const struct fake_object *from,
	      uint32_t *id);

/* It must be there. The first and the drop are for those who have the lock. */
struct fake_object *fake_get(struct fake_ctx *c, uint32_t id, enum fake_kind kind);
void fake_drop(struct fake_ctx *c, struct fake_object *o);
void fake_check(struct fake_ctx *c, uint32_t id, enum fake_kind kind);
int fake_destroy(struct fake_ctx *c, uint32_t id, enum fake_kind kind);

/* From now on its first parent is another one. */
void fake_move(struct fake_ctx *c, uint32_t id, enum fake_kind kind, uint32_t parent);

#endif
