// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * autoattach.c - see autoattach.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/saved.h"
#include "config/xl_cfg.h"
#include "supervisor/autoattach.h"
#include "util/log.h"
#include "xen/attach.h"
#include "xen/attached.h"
#include "xen/xenbus.h"

/* The directory stays until the domain is gone, also if all vHCAs in it are taken away. */
static bool had_any(struct xs_handle *xs, unsigned int own, unsigned int domid)
{
	char path[XB_PATH_MAX];

	snprintf(path, sizeof(path), "/local/domain/%u/backend/vhca/%u", own, domid);
	return xb_exists(xs, path);
}

/* Of driver domains, too. */
static bool has_any(struct xs_handle *xs, unsigned int domid)
{
	struct saved saved;
	bool any;

	if (!attached_read(xs, domid, &saved))
		return false;
	any = saved.specs.n;
	config_file_free(&saved.specs);
	return any;
}

/* What a domain is to have, and from where that is known. */
struct source {
	struct config_specs specs;
	bool saved;
	char why[256];
};

/*
 * What "xl create" was told counts for what it creates. It does not run for a domain that is restored,
 * which is the one it was, under whatever name: xl migrate adds a part to it.
 */
static int find(struct source *source, struct xs_handle *xs, unsigned int domid, char *name)
{
	static const char incoming[] = "--incoming";
	const size_t length = strlen(name), tail = sizeof(incoming) - 1;
	char uuid[SAVED_UUID];
	struct saved saved;
	bool created;
	int err;

	err = config_command_find(&config_places, name, &source->specs, &created, source->why,
				  sizeof(source->why));
	if (err || created)
		return err;
	err = attached_uuid(xs, domid, uuid) ?
		      saved_load(SAVED_DIR, uuid, &saved, source->why, sizeof(source->why)) :
		      -ENOENT;
	if (!err) {
		source->specs = saved.specs;
		source->saved = true;
	}
	if (err != -ENOENT)
		return err;
	if (length > tail && !strcmp(name + length - tail, incoming))
		name[length - tail] = 0;
	return config_file_find(&config_places, name, &source->specs, source->why,
				sizeof(source->why));
}

static void configure(struct xs_handle *xs, unsigned int own, unsigned int domid)
{
	char dir[32], name[CONFIG_NAME_MAX + 16];
	struct source source = { 0 };
	unsigned int i;

	snprintf(dir, sizeof(dir), "/local/domain/%u", domid);
	if (had_any(xs, own, domid) || has_any(xs, domid) ||
	    !xb_read(xs, dir, "name", name, sizeof(name)))
		return;
	if (find(&source, xs, domid, name)) {
		log_error("domain %u, %s: %s", domid, name, source.why);
		attach_refused(xs, own, domid, 0, source.why);
		return;
	}
	if (source.saved)
		log_info("domain %u, %s, had %u vHCAs when it was suspended", domid, name,
			 source.specs.n);
	for (i = 0; i < source.specs.n; i++)
		attach_from_config(xs, own, domid, i, source.specs.spec[i]);
	config_file_free(&source.specs);
}

/* Domains that are there and of ours to look after, by what xenstore has. */
static bool is_guest(const char *name, unsigned int own, unsigned int *domid)
{
	return xb_number(name, domid) && *domid < DOMAINS && *domid != own;
}

/* Those that leave come first: one that appears may be one of them, on its way from here to here. */
void domains_scan(struct domains *domains, struct xs_handle *xs, struct iomem *iomem,
		  unsigned int own)
{
	static bool now[DOMAINS];
	unsigned int n, i, domid;
	char **names;

	if (own)
		return;
	names = xs_directory(xs, XBT_NULL, "/local/domain", &n);
	if (!names)
		return;
	for (i = 0; i < n; i++)
		if (is_guest(names[i], own, &domid))
			suspended_check(&domains->suspended, xs, iomem, domid);
	memset(now, 0, sizeof(now));
	for (i = 0; i < n; i++) {
		if (!is_guest(names[i], own, &domid))
			continue;
		now[domid] = domains->known[domid] || xs_is_domain_introduced(xs, domid);
		if (now[domid] && !domains->known[domid])
			configure(xs, own, domid);
	}
	free(names);
	memcpy(domains->known, now, sizeof(now));
}
