/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * handle.h - the objects of a vHCA, and the handles that name them to the guest.
 *
 * A handle is an index into a table, and the generation of that entry. The entry that has been free
 * for longest is used first, so that a stale handle meets an entry of another generation; only
 * after 16,383 lives of an entry could an old handle fit again, and then only to an object of this
 * very guest.
 *
 * Nothing here locks: all of it belongs to the lock of the vHCA.
 */
#ifndef XEN_IB_VHCA_HANDLE_H
#define XEN_IB_VHCA_HANDLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "shared-ring/vhca_request.h"

enum obj_type {
	OBJ_NONE,
	OBJ_CTX,
	OBJ_UAR,
	OBJ_PD,
	OBJ_UMEM,
	OBJ_MR,
	OBJ_MW,
	OBJ_CQ,
	OBJ_SRQ,
	OBJ_QP,
	OBJ_TYPES
};

/* A QP needs PD, two CQs, SRQ, UAR and the umems of its buffer and doorbell record. */
#define OBJ_MAX_DEPS 7

struct context;

struct object {
	enum obj_type type;
	xen_vhca_handle_t handle;
	struct context *ctx; /* of a context: itself */
	uint32_t hca_id;     /* the HCA driver's name for it */
	uint32_t number;     /* the HCA's */
	unsigned int refs;   /* objects that need this one */
	unsigned int uses;   /* commands that work with it now */
	bool dying;          /* a command is destroying it: its handle names nothing any more */
	uint32_t pending;    /* its events that wait for room: bits by type, see events.h */
	unsigned int n_deps;
	struct object *deps[OBJ_MAX_DEPS];
	LIST_ENTRY(object) link; /* in its context */
};

LIST_HEAD(object_list, object);

struct handle_entry;

struct handle_table {
	struct handle_entry *entries;
	uint32_t size, capacity, limit;
	uint32_t free_head, free_tail; /* 0: none; entry 0 is not used */
};

/* handle_table_init - for up to limit objects at a time; limit is bounded by HANDLE_MAX. */
#define HANDLE_MAX ((1u << 18) - 1)
void handle_table_init(struct handle_table *table, uint32_t limit);
void handle_table_free(struct handle_table *table);

/*
 * handle_reserve - a handle that names nothing yet, so that what is done between this and
 * handle_publish() need not be undone for want of one. 0, -ENOMEM, or -ENOSPC over the limit.
 */
int handle_reserve(struct handle_table *table, xen_vhca_handle_t *handle);
void handle_publish(struct handle_table *table, xen_vhca_handle_t handle, struct object *obj);

/* handle_release - a handle that was reserved, published or not. It is stale from now on. */
void handle_release(struct handle_table *table, xen_vhca_handle_t handle);

/* handle_find - the object of this type that the handle names, NULL if there is none. */
struct object *handle_find(const struct handle_table *table, xen_vhca_handle_t handle,
			   enum obj_type type);

/* The type's name, for logs: "QP". */
const char *obj_type_name(enum obj_type type);

#endif
