// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * autoattach.c - see autoattach.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/xl_cfg.h"
#include "supervisor/autoattach.h"
#include "util/log.h"
#include "xen/attach.h"
#include "xen/xenbus.h"

/* The directory stays until the domain is gone, also if all vHCAs in it are taken away. */
static bool is_decided(struct xs_handle *xs, unsigned int own, unsigned int domid)
{
	char path[XB_PATH_MAX];
	char *text;

	snprintf(path, sizeof(path), "/local/domain/%u/backend/vhca/%u", own, domid);
	text = xs_read(xs, XBT_NULL, path, NULL);
	free(text);
	return text;
}

static void configure(struct xs_handle *xs, unsigned int own, unsigned int domid)
{
	char dir[32], name[CONFIG_NAME_MAX], why[256];
	struct config_specs specs;
	unsigned int i;

	snprintf(dir, sizeof(dir), "/local/domain/%u", domid);
	if (is_decided(xs, own, domid) || !xb_read(xs, dir, "name", name, sizeof(name)))
		return;
	if (config_file_find(&config_places, name, &specs, why, sizeof(why))) {
		log_error("domain %u, %s: %s", domid, name, why);
		attach_refused(xs, own, domid, 0, why);
		return;
	}
	for (i = 0; i < specs.n; i++)
		attach_from_config(xs, own, domid, i, specs.spec[i]);
	config_file_free(&specs);
}

void domains_scan(struct domains *domains, struct xs_handle *xs, unsigned int own)
{
	static bool now[DOMAINS];
	unsigned int n, i, domid;
	char **names;

	if (own)
		return;
	names = xs_directory(xs, XBT_NULL, "/local/domain", &n);
	if (!names)
		return;
	memset(now, 0, sizeof(now));
	for (i = 0; i < n; i++) {
		if (!xb_number(names[i], &domid) || domid >= DOMAINS || domid == own)
			continue;
		now[domid] = domains->known[domid] || xs_is_domain_introduced(xs, domid);
		if (now[domid] && !domains->known[domid])
			configure(xs, own, domid);
	}
	free(names);
	memcpy(domains->known, now, sizeof(now));
}
