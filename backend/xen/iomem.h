/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * iomem.h - what Xen tells to dom0 alone, and does for dom0 alone: whether a domain lives, and
 * whether it may map a frame of I/O memory. In a driver domain the daemon of dom0 is asked for it,
 * through xenstore: iomem_remote.h.
 */
#ifndef XEN_IB_XEN_IOMEM_H
#define XEN_IB_XEN_IOMEM_H

#include <stdbool.h>
#include <stdint.h>

#include "xen/iomem_frame.h"

struct iomem;

/* iomem_open - for one thread. NULL, with errno: neither Xen nor xenstore can be asked. */
struct iomem *iomem_open(void);
void iomem_close(struct iomem *iomem);

/* iomem_own - our own domain. */
unsigned int iomem_own(const struct iomem *iomem);

/*
 * iomem_domain - 0: it lives, and *auto_translated says of what type it is. -ESRCH: it is gone, or
 * being destroyed. -EAGAIN: it lives, and dom0 has not said of what type it is. Another -errno: it
 * cannot be known.
 */
int iomem_domain(struct iomem *iomem, unsigned int domid, bool *auto_translated);

/* iomem_suspended - in dom0, whether a domain has suspended itself and does not run again yet. */
bool iomem_suspended(struct iomem *iomem, unsigned int domid);

/*
 * iomem_allow, iomem_deny - whether the domain may map the frame. What is denied is unmapped from
 * an auto-translated domain; a PV domain keeps what it has mapped. 0 or -errno.
 */
int iomem_allow(struct iomem *iomem, const struct iomem_frame *frame);
int iomem_deny(struct iomem *iomem, const struct iomem_frame *frame);

#endif
