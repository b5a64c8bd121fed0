/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The objects of an HCA: numbered, typed, owned by a user context (uid), counted.
 *
 * An object that others refer to (a CQ by its QPs, a PD by its MRs) is busy and cannot be
 * destroyed; firmware answers BAD_RES_STATE, and so do we.
 */
#ifndef HCA_OBJ_H
#define HCA_OBJ_H

#include <stdbool.h>
#include <stdint.h>

struct hca;

enum obj_type {
	OBJ_UCTX,
	OBJ_UAR,
	OBJ_PD,
	OBJ_TD, /* transport domain */
	OBJ_XRCD,
	OBJ_MKEY,
	OBJ_EQ,
	OBJ_CQ,
	OBJ_SRQ, /* RMP and XRC SRQ share one number space, as the driver's table does */
	OBJ_QP,
	OBJ_TYPES
};

struct obj {
	struct hca *hca;
	enum obj_type type;
	uint32_t id;   /* PD, CQN, QPN, mkey index, ... */
	uint16_t uid;  /* owner; 0 is the kernel */
	uint32_t refs; /* objects that refer to this one */
};

struct obj_table; /* one for each type, in struct hca */

/* Numbers are min..max; lookups are O(1). Returns NULL if memory is short. */
struct obj_table *obj_table_new(uint32_t min, uint32_t max);
void obj_table_free(struct obj_table *t);
/* Numbers are given from the lowest on again, as in a new table. False if it is not empty. */
bool obj_table_restart(struct obj_table *t);

/*
 * Gives obj the next free number, not the one most recently freed (a stale number should
 * not hit a new object at once). obj->hca, type and uid are the caller's to set.
 * 0 or -ENOSPC.
 */
int obj_add(struct obj_table *t, struct obj *obj);
/* Takes obj->id out of the table. The memory stays the caller's. */
void obj_del(struct obj_table *t, struct obj *obj);
/* NULL if there is none. */
struct obj *obj_find(const struct obj_table *t, uint32_t id);
/* The object with the lowest number that is at least id, NULL if there is none: for lists made in pieces. */
struct obj *obj_next(const struct obj_table *t, uint32_t id);
/* Calls fn for each object, in order of numbers; fn may delete the object it is given. */
void obj_each(struct obj_table *t, void (*fn)(struct obj *obj, void *arg), void *arg);
uint32_t obj_count(const struct obj_table *t);

const char *obj_type_name(enum obj_type type);

#endif
