// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fake_objects.c - see fake_objects.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit/fakes/fake_objects.h"

pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;

void fake_must(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "fake HCA: %s\n", what);
	abort();
}

bool fake_fails(struct fake_hca *fake)
{
	return fake->fail_in && !--fake->fail_in;
}

/* msync() tells of a range that is not mapped as a whole. */
void fake_must_be_mapped(uint64_t addr, uint64_t length, const char *when)
{
	uint64_t start = addr & ~4095ull;

	if (length)
		fake_must(!msync((void *)start, addr + length - start, MS_ASYNC), when);
}

struct fake_object *fake_get(struct fake_ctx *c, uint32_t id, enum fake_kind kind)
{
	fake_must(id && id < MAX_OBJECTS && c->objects[id].kind == kind, "no such object");
	return &c->objects[id];
}

int fake_make(struct fake_ctx *c, enum fake_kind kind, const struct fake_object *from, uint32_t *id)
{
	unsigned int i;
	uint32_t n;

	pthread_mutex_lock(&fake_lock);
	for (n = 1; n < MAX_OBJECTS && c->objects[n].kind; n++)
		;
	if (fake_fails(c->fake) || n == MAX_OBJECTS) {
		pthread_mutex_unlock(&fake_lock);
		return -ENOMEM;
	}
	for (i = 0; i < 2; i++)
		fake_must_be_mapped(from->addr[i], from->length[i], "memory is not mapped");
	if (n >= c->top)
		c->top = n + 1;
	c->objects[n] = *from;
	c->objects[n].kind = kind;
	for (i = 0; i < 4; i++)
		c->objects[from->parents[i]].refs++;
	c->fake->live++;
	pthread_mutex_unlock(&fake_lock);
	*id = n;
	return 0;
}

void fake_drop(struct fake_ctx *c, struct fake_object *o)
{
	unsigned int i;

	for (i = 0; i < 2; i++)
		fake_must_be_mapped(o->addr[i], o->length[i], "memory was unmapped while in use");
	for (i = 0; i < 4; i++)
		c->objects[o->parents[i]].refs--;
	if (o->copy)
		close(o->copy);
	fake_queue_drop(&c->completions, o->user);
	fake_queue_drop(&c->events, o->user);
	o->kind = FREE;
	c->fake->live--;
}

int fake_destroy(struct fake_ctx *c, uint32_t id, enum fake_kind kind)
{
	struct fake_object *o;

	pthread_mutex_lock(&fake_lock);
	o = fake_get(c, id, kind);
	fake_must(!o->refs, "object is still needed");
	fake_drop(c, o);
	pthread_mutex_unlock(&fake_lock);
	return 0;
}

void fake_move(struct fake_ctx *c, uint32_t id, enum fake_kind kind, uint32_t parent)
{
	struct fake_object *o;

	pthread_mutex_lock(&fake_lock);
	o = fake_get(c, id, kind);
	c->objects[o->parents[0]].refs--;
	o->parents[0] = parent;
	c->objects[parent].refs++;
	pthread_mutex_unlock(&fake_lock);
}

void fake_check(struct fake_ctx *c, uint32_t id, enum fake_kind kind)
{
	pthread_mutex_lock(&fake_lock);
	fake_get(c, id, kind);
	pthread_mutex_unlock(&fake_lock);
}
