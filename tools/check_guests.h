/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * check_guests.h - guests that have vHCAs now, or will by their xl configuration, and what they may pin.
 */
#ifndef XEN_IB_CHECK_GUESTS_H
#define XEN_IB_CHECK_GUESTS_H

#include <stdint.h>

#include "admin/listing.h"

struct guest {
	char name[LISTING_TEXT];
	int domid;                 /* -1: does not run */
	uint64_t bytes;            /* sum of max-mem-bytes of its vHCAs */
	unsigned int grant_frames; /* max_grant_frames of its configuration; 0: not given */
};

struct guests {
	struct guest *list;
	unsigned int n;
};

/* guests_find - vHCAs as they are listed, and files in dirs, which ends with NULL. Freed by guests_free(). */
void guests_find(struct guests *guests, const struct listing *vhcas, unsigned int n,
		 const char *const *dirs);
void guests_free(struct guests *guests);

/* configs_print - what the configurations in dirs say of vHCAs and their grants, and nothing else that is in them. */
void configs_print(const char *const *dirs);

#endif
