/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * uar_guests.h - guests that map doorbell pages of two HCAs whose drivers come and go, the supervisor beside them, and
 * systemd's store. What is always checked: no page that a guest has mapped is anybody else's.
 *
 * An HCA is a list of who has which page, and gives the next free one, round and round; a UAR pool is a pipe, whose end it
 * sees when all have closed it.
 */
#ifndef XEN_IB_UNIT_UAR_GUESTS_H
#define XEN_IB_UNIT_UAR_GUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "supervisor/uar_store.h"

#define PAGES 64u
#define FIRST_PAGE 5u /* that can be a doorbell page */
#define DOM0 255u     /* who has a page: a process of dom0, */
#define FREE 0u       /* nobody, or the number of a file */

extern struct hca_state {
	const char *name;
	uint64_t bar;
	unsigned int life; /* how often its driver has been loaded */
	unsigned int last; /* page that was given */
	unsigned char page[PAGES];
} hcas[2];

/* hca_unload - it goes: all that was is forgotten. hca_load - it comes back. hca_reload - both, under its name. */
void hca_unload(struct hca_state *hca);
void hca_load(struct hca_state *hca, const char *name);
void hca_reload(struct hca_state *hca);

/* owner_of - who has the page with that frame. pages_of - how many pages of the first HCA a file, or nobody, has. */
unsigned int owner_of(uint64_t frame);
unsigned int pages_of(unsigned int file);

/* dom0_takes_all - what dom0 can have of an HCA's pages. It gets none that a guest has mapped. */
void dom0_takes_all(struct hca_state *hca);

extern uint64_t now_ms;
extern unsigned int slow_ms; /* what a page takes */
extern char said[4096];      /* the log */

/* systemd's store: an open file once, under its first name. */
#define STORED 32

extern struct stored_fd {
	char name[128];
	int fd;
} stored[STORED];
extern unsigned int n_stored, most_stored;

extern struct guest {
	struct uar_pools pools;
	uint64_t mapped[16]; /* frames that it has mapped, and keeps */
	unsigned int n_mapped;
	bool gone;
} guests[3]; /* domains 5, 6, 7 */
extern struct uar_store store;

/* guests_begin, guests_end - around each test: of what it leaves nothing may be open. */
void guests_begin(void);
void guests_end(void);

/* guest_use - its worker is started, and its broker allocates pages, which it maps: 0, or why not. */
int guest_use(struct guest *g, const char *hca, unsigned int pages);
void guest_destroy(struct guest *g);

/* supervisor_start - what uar_store_load() says. supervisor_restart - it dies, and another one starts. */
void supervisor_die(void);
int supervisor_start(void);
void supervisor_restart(void);

#endif
