// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * iomem.c - see iomem.h.
 */
#define __XEN_TOOLS__ 1
#include <xenctrl.h> /* before any other header of Xen */

#include <errno.h>
#include <stdlib.h>
#include <xenstore.h>

#include "xen/iomem.h"
#include "xen/iomem_remote.h"
#include "xen/xenbus.h"

struct iomem {
	unsigned int own;
	xc_interface *xc;     /* in dom0 */
	struct xs_handle *xs; /* in a driver domain */
};

static unsigned int own_domain(struct xs_handle *xs)
{
	uint64_t own;

	return xb_read_number(xs, NULL, "domid", UINT16_MAX, &own) ? own : 0;
}

struct iomem *iomem_open(void)
{
	struct iomem *iomem = calloc(1, sizeof(*iomem));
	int err;

	if (!iomem)
		return NULL;
	iomem->xs = xs_open(0);
	if (!iomem->xs)
		goto err;
	iomem->own = own_domain(iomem->xs);
	if (iomem->own)
		return iomem;
	xs_close(iomem->xs);
	iomem->xs = NULL;
	iomem->xc = xc_interface_open(NULL, NULL, 0);
	if (iomem->xc)
		return iomem;
err:
	err = errno;
	free(iomem);
	errno = err;
	return NULL;
}

void iomem_close(struct iomem *iomem)
{
	if (!iomem)
		return;
	xs_close(iomem->xs);
	xc_interface_close(iomem->xc);
	free(iomem);
}

unsigned int iomem_own(const struct iomem *iomem)
{
	return iomem->own;
}

int iomem_domain(struct iomem *iomem, unsigned int domid, bool *auto_translated)
{
	xc_domaininfo_t info;

	if (!iomem->xc)
		return iomem_remote_domain(iomem->xs, iomem->own, domid, auto_translated);
	if (xc_domain_getinfo_single(iomem->xc, domid, &info))
		return -errno;
	*auto_translated = info.flags & XEN_DOMINF_hvm_guest;
	return info.flags & XEN_DOMINF_dying ? -ESRCH : 0;
}

bool iomem_suspended(struct iomem *iomem, unsigned int domid)
{
	xc_domaininfo_t info;

	return iomem->xc && !xc_domain_getinfo_single(iomem->xc, domid, &info) &&
	       info.flags & XEN_DOMINF_shutdown &&
	       dominfo_shutdown_reason(&info) == SHUTDOWN_suspend;
}

static int permission(struct iomem *iomem, const struct iomem_frame *frame, bool allow)
{
	return xc_domain_iomem_permission(iomem->xc, frame->domid, frame->mfn, 1, allow) ? -errno :
											   0;
}

static int mapping(struct iomem *iomem, const struct iomem_frame *frame, uint32_t add)
{
	if (!frame->auto_translated)
		return 0;
	return xc_domain_memory_mapping(iomem->xc, frame->domid, frame->gfn, frame->mfn, 1, add) ?
		       -errno :
		       0;
}

int iomem_allow(struct iomem *iomem, const struct iomem_frame *frame)
{
	int err;

	if (!iomem->xc)
		return iomem_remote_allow(iomem->xs, iomem->own, frame);
	err = permission(iomem, frame, true);
	if (err)
		return err;
	err = mapping(iomem, frame, DPCI_ADD_MAPPING);
	if (err)
		permission(iomem, frame, false);
	return err;
}

/* The permission goes, too, if the mapping cannot be removed: a guest may have done that itself. */
int iomem_deny(struct iomem *iomem, const struct iomem_frame *frame)
{
	int err;

	if (!iomem->xc)
		return iomem_remote_deny(iomem->xs, iomem->own, frame);
	err = mapping(iomem, frame, DPCI_REMOVE_MAPPING);
	return permission(iomem, frame, false) ?: err;
}
