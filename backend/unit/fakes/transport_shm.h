/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * transport_shm.h - a transport without Xen: the guest's memory is a file, grant references are its
 * page numbers, event channels are eventfds. It keeps books of doorbell pages, and aborts where one is
 * freed that is not in use. A dma-buf is a file with an octet for each page, 1 if it is
 * there. Its mode says whether it is read-only.
 */
#ifndef XEN_IB_TRANSPORT_SHM_H
#define XEN_IB_TRANSPORT_SHM_H

#include <stddef.h>

#include "vhca/transport.h"

#define SHM_PAGES 8192u
#define SHM_UARS 256u

#define SHM_READ_ONLY 0400
#define SHM_WRITABLE 0600

struct shm_uar {
	bool in_use;
	uint32_t type;
	uint64_t gfn;
};

struct shm_events;

struct shm {
	struct transport t;
	bool watches; /* it tells of completions itself: shm_events.h */
	struct shm_events *events;
	int memory, to_back, to_front[CHANNELS];
	uint8_t *guest;       /* all of the guest's memory, as the guest sees it */
	int fail_in;          /* the n-th mapping or doorbell page from now fails; 0: none */
	int took_reservation; /* a failing map has unmapped what was there, as Linux does */
	unsigned int dmabufs, ranges; /* that have been made */
	unsigned int allowed;         /* doorbell pages that the guest may map now */
	unsigned int uars;            /* that have been used */
	struct shm_uar uar[SHM_UARS]; /* by index - 1 */
	unsigned int done;            /* notifications that have been ended */
};

/* A completion channel has one more. */
void shm_woken(struct shm *shm, int channel);

/* How often it has notified itself; 0 if it does not. */
uint64_t shm_notified(struct shm *shm);

struct shm *shm_new(bool auto_translated);
void shm_free(struct shm *shm);

/* A page of the guest, by grant reference. */
void *shm_page(struct shm *shm, uint32_t ref);

#endif
