/* SPDX-License-Identifier: GPL-2.0 */
/*
 * backend.h - a backend for the KUnit cases. It responds at once, in the context of the caller that
 * notifies it. It has no objects: a handle is the next number.
 */
#ifndef XENIB_KUNIT_BACKEND_H
#define XENIB_KUNIT_BACKEND_H

#include "vhca_ring.h"

struct kunit_backend {
	struct vhca_back back;
	u32 handles;                /* the last handle */
	u32 requests[XEN_VHCA_OPS]; /* received, by operation */
	struct xen_vhca_req newest[XEN_VHCA_OPS];
	u8 refuse[XEN_VHCA_OPS];        /* the status to respond, by operation */
	u32 refuse_after[XEN_VHCA_OPS]; /* so many requests succeed before */
	bool malformed;                 /* responses are malformed */
	bool silent;                    /* there are no responses */
	bool tells;                     /* of the responses so far */
};

/* Serves this ring until it is stopped. There is one backend at a time. */
void kunit_backend_start(struct kunit_backend *backend, void *sring, unsigned int order);
void kunit_backend_stop(void);

#endif
