// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * suspended.c - see suspended.h.
 *
 * Xenstore tells of a domain that suspends itself as it does of one that ends, and xl destroys it
 * only after it has written its memory. What it has is of interest if it ever had a vHCA: one that
 * has none any more is to come back without, whatever its configuration says.
 */
#include <stdio.h>
#include <string.h>

#include "config/saved.h"
#include "supervisor/suspended.h"
#include "util/log.h"
#include "xen/attached.h"
#include "xen/iomem.h"

static bool had_any(struct xs_handle *xs, unsigned int domid)
{
	char path[XB_PATH_MAX];

	snprintf(path, sizeof(path), "/local/domain/0/backend/vhca/%u", domid);
	return xb_exists(xs, path);
}

static void store(struct xs_handle *xs, unsigned int domid)
{
	struct saved saved;
	int err = 0;

	if (!attached_read(xs, domid, &saved))
		return;
	if (saved.specs.n || had_any(xs, domid)) {
		err = saved_store(SAVED_DIR, &saved);
		log_info("domain %u, %s, is suspended: it has %u vHCAs when it is restored", domid,
			 saved.name, saved.specs.n);
	}
	if (err)
		log_error("%s/%s: %s: the domain is restored with what its configuration says",
			  SAVED_DIR, saved.uuid, strerror(-err));
	config_file_free(&saved.specs);
}

void suspended_check(struct suspended *suspended, struct xs_handle *xs, struct iomem *iomem,
		     unsigned int domid)
{
	bool now = iomem_suspended(iomem, domid);

	if (now && !suspended->stored[domid])
		store(xs, domid);
	suspended->stored[domid] = now;
}
