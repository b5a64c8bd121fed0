/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * uar.h - UARs: the pages of the HCA that are rung to start work.
 *
 * A plain page takes 8-byte doorbells; each is one store, so any number of threads may ring it
 * without a lock. A BlueFlame page is write combining and has two buffers that are used by turns:
 * a small WQE is written there whole and the HCA need not fetch it. Stores of two threads into one
 * buffer must not mix, so such a page belongs to one QP, or to the QPs of one thread domain, or
 * has a lock.
 *
 * A context has one plain page, which its CQs use and any QP may; its first QPs get a BlueFlame
 * page each; further ones share a few with a lock. Doorbell pages are a scarce thing that guests
 * share: where no more are to be had, QPs share those that there are. Pages are made on first
 * use, so that a program that only asks for attributes takes none.
 */
#ifndef XENIB_UAR_H
#define XENIB_UAR_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "queue/queues.h"

#define XENIB_UARS_OWN 4    /* QPs of a context with a BlueFlame page of their own */
#define XENIB_UARS_SHARED 4 /* BlueFlame pages of all its other QPs */

struct ibv_context;

struct xenib_uar {
	struct xenib_doorbell bell;
	uint32_t index;  /* the kernel's names: for create commands, */
	uint32_t handle; /* and for freeing */
	uint32_t users;  /* QPs that ring it */
};

/* The doorbell pages of one context. */
struct xenib_uars {
	pthread_mutex_t lock;
	bool no_bf; /* BlueFlame is not wanted, or there is none, or no more pages are to be had */
	struct xenib_uar plain;
	struct xenib_uar bf[XENIB_UARS_OWN + XENIB_UARS_SHARED]; /* those with an owner first */
};

/** xenib_uars_init() - makes no page yet. no_bf: use plain doorbells only. */
void xenib_uars_init(struct xenib_uars *uars, bool no_bf);

/** xenib_uars_exit() - unmaps and frees all pages. */
void xenib_uars_exit(struct ibv_context *context, struct xenib_uars *uars);

/**
 * xenib_uar_get_plain() - the context's plain page.
 *
 * Return: the page, or NULL with errno set.
 */
struct xenib_uar *xenib_uar_get_plain(struct ibv_context *context, struct xenib_uars *uars);

/**
 * xenib_uar_get() - a page for a QP that is in no thread domain.
 * @single_threaded: no page needs a lock.
 *
 * Return: the page, to be returned with xenib_uar_put(), or NULL with errno set.
 */
struct xenib_uar *xenib_uar_get(struct ibv_context *context, struct xenib_uars *uars,
				bool single_threaded);

void xenib_uar_put(struct xenib_uars *uars, struct xenib_uar *uar);

/**
 * xenib_uar_create() - makes a page that is no part of a context's pages; for a thread domain.
 * @bf: one with BlueFlame, if the HCA has it.
 *
 * Return: 0, or errno.
 */
int xenib_uar_create(struct ibv_context *context, struct xenib_uar *uar, bool bf);

/** xenib_uar_destroy() - unmaps and frees a page; one that was never made is fine. */
void xenib_uar_destroy(struct ibv_context *context, struct xenib_uar *uar);

#endif
