// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * listing_read.c - see listing.h: reading xenstore.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xenstore.h>

#include "admin/listing.h"
#include "config/spec.h"
#include "shared-ring/vhca_nodes.h"
#include "xen/xenbus.h"

static void state_word(char word[LISTING_TEXT], enum xb_state state)
{
	static const char *const words[] = {
		[XB_UNKNOWN] = "unknown",     [XB_INITIALISING] = "initialising",
		[XB_INIT_WAIT] = "offered",   [XB_INITIALISED] = "initialised",
		[XB_CONNECTED] = "connected", [XB_CLOSING] = "closing",
		[XB_CLOSED] = "closed",
	};

	snprintf(word, LISTING_TEXT, "%s", words[state]);
}

struct directory {
	struct xs_handle *xs;
	const char *dir;
};

/* As the worker reads it. */
static uint64_t read_imposed(const void *directory, enum limit limit)
{
	const struct directory *d = directory;
	const struct limit_key *key = limit_key(limit);
	char text[LIMIT_TEXT];
	uint64_t value;

	if (!xb_read(d->xs, d->dir, key->name, text, sizeof(text)))
		return key->value;
	return limit_parse(limit, text, &value) ? value : key->safe;
}

bool listing_read(struct listing *l, struct xs_handle *xs, const char *root, unsigned int domid,
		  unsigned int devid)
{
	char dir[XB_PATH_MAX], frontend[XB_PATH_MAX], domain[XB_PATH_MAX];
	uint64_t number;

	memset(l, 0, sizeof(*l));
	l->domid = domid;
	l->devid = devid;
	sscanf(root, "/local/domain/%u/", &l->backend);
	snprintf(dir, sizeof(dir), "%s/%u/%u", root, domid, devid);
	snprintf(domain, sizeof(domain), "/local/domain/%u", domid);
	if (!xb_read(xs, dir, "frontend", frontend, sizeof(frontend)))
		return false;
	xb_read(xs, domain, "name", l->domain, sizeof(l->domain));
	xb_read(xs, dir, XEN_VHCA_FIELD_HCA, l->hca, sizeof(l->hca));
	xb_read(xs, dir, XEN_VHCA_FIELD_NODE_GUID, l->node_guid, sizeof(l->node_guid));
	xb_read(xs, dir, choice_key(CHOICE_KERNEL), l->kernel, sizeof(l->kernel));
	xb_read(xs, dir, choice_key(CHOICE_PERSONALITY), l->personality, sizeof(l->personality));
	xb_read(xs, dir, choice_key(CHOICE_GID), l->gid, sizeof(l->gid));
	xb_read(xs, dir, XEN_VHCA_FIELD_ERROR, l->error, sizeof(l->error));
	l->port = xb_read_number(xs, dir, XEN_VHCA_FIELD_PORT, UINT8_MAX, &number) ? number : 1;
	l->online = xb_read_number(xs, dir, "online", 1, &number) && number;
	l->max_mem_bytes = xb_read_number(xs, dir, "max-mem-bytes", UINT64_MAX, &number) ?
				   number :
				   limit_key(LIMIT_MEM_BYTES)->value;
	limits_format(l->imposed, read_imposed, &(struct directory){ xs, dir });
	state_word(l->state, xb_state(xs, dir));
	state_word(l->guest, xb_state(xs, frontend));
	return true;
}

struct walk {
	struct xs_handle *xs;
	const char *root;
	unsigned int domid;
	listing_fn *fn;
	void *context;
};

static void walk_device(void *walk, uint64_t devid)
{
	struct walk *w = walk;

	if (devid <= UINT16_MAX)
		w->fn(w->context, w->root, w->domid, devid);
}

static void walk_domain(void *walk, uint64_t domid)
{
	struct walk *w = walk;
	char path[XB_PATH_MAX];

	if (domid > UINT16_MAX)
		return;
	w->domid = domid;
	snprintf(path, sizeof(path), "%s/%u", w->root, w->domid);
	xb_each(w->xs, path, walk_device, w);
}

void listing_each(struct xs_handle *xs, const char *root, listing_fn *fn, void *context)
{
	struct walk w = { .xs = xs, .root = root, .fn = fn, .context = context };

	xb_each(xs, root, walk_domain, &w);
}

static void walk_backend(void *walk, uint64_t backend)
{
	struct walk *w = walk;
	char root[XB_PATH_MAX];

	snprintf(root, sizeof(root), "/local/domain/%" PRIu64 "/backend/vhca", backend);
	listing_each(w->xs, root, w->fn, w->context);
}

void listing_everywhere(struct xs_handle *xs, unsigned int own, listing_fn *fn, void *context)
{
	struct walk w = { .xs = xs, .fn = fn, .context = context };

	if (own)
		walk_backend(&w, own);
	else
		xb_each(xs, "/local/domain", walk_backend, &w);
}
