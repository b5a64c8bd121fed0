/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * iomem_remote.h - how a driver domain's daemon has the guests that it serves map frames of its HCA's I/O
 * memory, which Xen does for dom0 alone. It says in xenstore what it requests, and the daemon in dom0
 * makes it so (iomem_server.h) and writes down what is:
 *
 *   /local/domain/<backend>/backend/vhca/<domid>/<devid>/frames/<mfn>         owned by the backend
 *       = "<gfn>"        it is to be mapped there; 0 for a PV guest, which maps it where it likes
 *       error = "<errno>"  dom0 has tried, and it cannot be
 *   /local/domain/0/vhca-frames/<backend>/<domid>                      dom0's; the backend reads it
 *       type = "pv" or "auto-translated"   while the domain lives
 *       <devid>/<mfn> = "<gfn>"            the domain may map it
 *                     = "?<gfn>"           it may or may not: dom0 is about to change that, or could not
 *
 * A request that is removed takes the frame from the guest. All of it may be looked at again at any
 * time, so neither daemon has to see every change, or to be there when the other one is.
 */
#ifndef XEN_IB_XEN_IOMEM_REMOTE_H
#define XEN_IB_XEN_IOMEM_REMOTE_H

#include <stdbool.h>
#include <xenstore.h>

#include "xen/iomem_frame.h"

#define IOMEM_GRANTS "/local/domain/0/vhca-frames"
#define IOMEM_TYPE_PV "pv"
#define IOMEM_TYPE_AUTO "auto-translated"
#define IOMEM_PATH 128

/* iomem_grant_path, iomem_request_path - the paths above, of frame->mfn; both end with it. */
void iomem_grant_path(char path[IOMEM_PATH], unsigned int backend, const struct iomem_frame *frame);
void iomem_request_path(char path[IOMEM_PATH], unsigned int backend,
			const struct iomem_frame *frame);

/*
 * As those of iomem.h, for the driver domain own. The latter two wait for dom0's daemon.
 * -ETIMEDOUT: it does not answer within ten seconds.
 */
int iomem_remote_domain(struct xs_handle *xs, unsigned int own, unsigned int domid,
			bool *auto_translated);
int iomem_remote_allow(struct xs_handle *xs, unsigned int own, const struct iomem_frame *frame);
int iomem_remote_deny(struct xs_handle *xs, unsigned int own, const struct iomem_frame *frame);

#endif
