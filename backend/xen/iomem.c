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

struct rights {
	unsigned int own;
	xc_interface *xc;     /* in dom0 */
	struct xs_handle *xs; /* in a driver domain */
};

static unsigned int own_domain(struct xs_handle *xs)
{
	uint64_t own;

	return xb_read_number(xs, NULL, "domid", UINT16_MAX, &own) ? own : 0;
}

struct rights *rights_open(void)
{
	struct rights *rights = calloc(1, sizeof(*rights));
	int err;

	if (!rights)
		return NULL;
	rights->xs = xs_open(0);
	if (!rights->xs)
		goto err;
	rights->own = own_domain(rights->xs);
	if (rights->own)
		return rights;
	xs_close(rights->xs);
	rights->xs = NULL;
	rights->xc = xc_interface_open(NULL, NULL, 0);
	if (rights->xc)
		return rights;
err:
	err = errno;
	free(rights);
	errno = err;
	return NULL;
}

void rights_close(struct rights *rights)
{
	if (!rights)
		return;
	xs_close(rights->xs);
	xc_interface_close(rights->xc);
	free(rights);
}

unsigned int rights_own(const struct rights *rights)
{
	return rights->own;
}

int rights_domain(struct rights *rights, unsigned int domid, bool *auto_translated)
{
	xc_domaininfo_t info;

	if (!rights->xc)
		return lease_domain(rights->xs, rights->own, domid, auto_translated);
	if (xc_domain_getinfo_single(rights->xc, domid, &info))
		return -errno;
	*auto_translated = info.flags & XEN_DOMINF_hvm_guest;
	return info.flags & XEN_DOMINF_dying ? -ESRCH : 0;
}

static int permission(struct rights *rights, const struct rights_frame *frame, bool allow)
{
	return xc_domain_iomem_permission(rights->xc, frame->domid, frame->mfn, 1, allow) ? -errno : 0;
}

static int mapping(struct rights *rights, const struct rights_frame *frame, uint32_t add)
{
	if (!frame->auto_translated)
		return 0;
	return xc_domain_memory_mapping(rights->xc, frame->domid, frame->gfn, frame->mfn, 1, add) ? -errno : 0;
}

int rights_allow(struct rights *rights, const struct rights_frame *frame)
{
	int err;

	if (!rights->xc)
		return lease_allow(rights->xs, rights->own, frame);
	err = permission(rights, frame, true);
	if (err)
		return err;
	err = mapping(rights, frame, DPCI_ADD_MAPPING);
	if (err)
		permission(rights, frame, false);
	return err;
}

/* The permission goes, too, if the mapping cannot be removed: a guest may have done that itself. */
int rights_deny(struct rights *rights, const struct rights_frame *frame)
{
	int err;

	if (!rights->xc)
		return lease_deny(rights->xs, rights->own, frame);
	err = mapping(rights, frame, DPCI_REMOVE_MAPPING);
	return permission(rights, frame, false) ?: err;
}
