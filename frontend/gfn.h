/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gfn.h - guest frames where nothing is: places at which the backend maps doorbell pages into an
 * auto-translated (PVH, HVM) guest. A PV guest needs none, and gets 0.
 */
#ifndef XENIB_GFN_H
#define XENIB_GFN_H

#include <linux/ioport.h>
#include <linux/types.h>

struct xenib_gfns {
	struct resource res;
	unsigned long *used; /* a bit for each frame; NULL: PV */
	unsigned int count;
	const char *dir;
};

/*
 * Reserves count frames, and writes to the device's directory in xenstore (dir; outlives them)
 * which they are: a backend in a driver domain may have nothing mapped anywhere else.
 */
int xenib_gfns_init(struct xenib_gfns *gfns, unsigned int count, const char *dir);

/* Only when the backend has nothing mapped there any more. */
void xenib_gfns_exit(struct xenib_gfns *gfns);

/* A frame of those, or -ENOSPC. */
int xenib_gfn_get(struct xenib_gfns *gfns, u64 *gfn);
void xenib_gfn_put(struct xenib_gfns *gfns, u64 gfn);

#endif
