/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * iomem_frame.h - what a domain may map, or may not.
 */
#ifndef XEN_IB_XEN_IOMEM_FRAME_H
#define XEN_IB_XEN_IOMEM_FRAME_H

#include <stdbool.h>
#include <stdint.h>

/* A frame of I/O memory (mfn), and where an auto-translated domain is to find it (gfn). */
struct iomem_frame {
	unsigned int domid, devid; /* of a vHCA */
	uint64_t mfn, gfn;
	bool auto_translated;
};

#endif
