/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * listing.h - what there is to say of a vHCA, whether it is connected or not. A line for each thing, as the
 * daemon tells it to the tool:
 *
 *   vhca 5 0                 domain id and device id; the first line of each vHCA
 *   domain guest1            its name
 *   backend 0                the domain that serves it
 *   hca mlx5_0
 *   port 1
 *   node-guid 02163e5a00c1f29b
 *   kernel on                as it is configured; no line: it is not
 *   imposed sl=3,ud=0        on QPs, as it is configured; no line: nothing is
 *   state connected          of the backend: enum xenbus_state, as a word
 *   guest connected          of the frontend
 *   online 1                 0: it is being taken away
 *   max-mem-bytes 1073741824 what the guest may pin
 *   worker 812               its process; 0: none runs
 *   failures 0               workers that failed, in a row
 *   error TEXT               why it does not work
 *   <tab>TEXT                a line of its status file
 */
#ifndef XEN_IB_ADMIN_LISTING_H
#define XEN_IB_ADMIN_LISTING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "admin/status_read.h"
#include "config/limits.h"

#define LISTING_TEXT 64

struct xs_handle;

struct listing {
	unsigned int domid, devid, port;
	unsigned int backend;
	char domain[LISTING_TEXT], hca[LISTING_TEXT];
	char state[LISTING_TEXT], guest[LISTING_TEXT];
	char node_guid[LISTING_TEXT], kernel[LISTING_TEXT], personality[LISTING_TEXT];
	char gid[LISTING_TEXT];
	char imposed[LIMITS_TEXT];
	char error[256];
	bool online;
	uint64_t max_mem_bytes;
	uint32_t worker;
	unsigned int failures;
	struct status_view *status; /* ours; NULL: it is not connected */
};

/*
 * listing_read - what xenstore has. root is ".../backend/vhca". Worker, failures and status are not in there. False:
 * there is no such vHCA.
 */
bool listing_read(struct listing *listing, struct xs_handle *xs, const char *root,
		  unsigned int domid, unsigned int devid);

/* listing_each - calls fn for each vHCA that root has. */
typedef void listing_fn(void *context, const char *root, unsigned int domid, unsigned int devid);
void listing_each(struct xs_handle *xs, const char *root, listing_fn *fn, void *context);

/* listing_everywhere - for each that the domain own sees: dom0 those of all backends, others their own. */
void listing_everywhere(struct xs_handle *xs, unsigned int own, listing_fn *fn, void *context);

/* listing_write - the lines above, all but those of the status file. */
void listing_write(const struct listing *listing, FILE *to);

/*
 * listing_parse - reads the lines of several; text is written to. Returns how many there are in *listings, to be
 * freed by listing_free(); what makes no sense is skipped.
 */
unsigned int listing_parse(struct listing **listings, char *text);
void listing_free(struct listing *listings, unsigned int n);

/* listing_add - one more, zeroed; NULL: no memory. *listings is freed by listing_free(). */
struct listing *listing_add(struct listing **listings, unsigned int *n);

#endif
