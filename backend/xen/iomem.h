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

struct rights;

/* rights_open - for one thread. NULL, with errno: neither Xen nor xenstore can be asked. */
struct rights *rights_open(void);
void rights_close(struct rights *rights);

/* rights_own - our own domain. */
unsigned int rights_own(const struct rights *rights);

/*
 * rights_domain - 0: it lives, and *auto_translated says of what type it is. -ESRCH: it is gone, or
 * being destroyed. -EAGAIN: it lives, and dom0 has not said of what type it is. Another -errno: it
 * cannot be known.
 */
int rights_domain(struct rights *rights, unsigned int domid, bool *auto_translated);

/*
 * rights_allow, rights_deny - whether the domain may map the frame. What is denied is unmapped from
 * an auto-translated domain; a PV domain keeps what it has mapped. 0 or -errno.
 */
int rights_allow(struct rights *rights, const struct rights_frame *frame);
int rights_deny(struct rights *rights, const struct rights_frame *frame);

#endif
