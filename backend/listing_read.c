// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * listing_read.c - see listing.h: reading xenstore.
 */
#include <stdlib.h>
#include <string.h>
#include <xenstore.h>

#include "listing.h"
#include "quota.h"
#include "xenbus.h"

static void state_word(char word[LISTING_TEXT], enum xb_state state)
{
	static const char *const words[] = {
		[XB_UNKNOWN] = "unknown", [XB_INITIALISING] = "initialising", [XB_INIT_WAIT] = "offered",
		[XB_INITIALISED] = "initialised", [XB_CONNECTED] = "connected", [XB_CLOSING] = "closing",
		[XB_CLOSED] = "closed",
	};

	snprintf(word, LISTING_TEXT, "%s", words[state]);
}

static uint64_t default_bytes(void)
{
	unsigned int i;

	for (i = 0; i < QUOTA_KEYS; i++)
		if (!strcmp(quota_key(i)->name, "max-mem-bytes"))
			return quota_key(i)->value;
	return 0;
}

bool listing_read(struct listing *l, struct xs_handle *xs, const char *root, unsigned int domid,
		  unsigned int devid)
{
	char dir[XB_PATH_MAX], frontend[XB_PATH_MAX], domain[XB_PATH_MAX];
	uint64_t number;

	memset(l, 0, sizeof(*l));
	l->domid = domid;
	l->devid = devid;
	snprintf(dir, sizeof(dir), "%s/%u/%u", root, domid, devid);
	snprintf(domain, sizeof(domain), "/local/domain/%u", domid);
	if (!xb_read(xs, dir, "frontend", frontend, sizeof(frontend)))
		return false;
	xb_read(xs, domain, "name", l->domain, sizeof(l->domain));
	xb_read(xs, dir, "hca", l->hca, sizeof(l->hca));
	xb_read(xs, dir, "error", l->error, sizeof(l->error));
	l->port = xb_read_number(xs, dir, "port", UINT8_MAX, &number) ? number : 1;
	l->online = xb_read_number(xs, dir, "online", 1, &number) && number;
	l->max_mem_bytes = xb_read_number(xs, dir, "max-mem-bytes", UINT64_MAX, &number) ? number : default_bytes();
	state_word(l->state, xb_state(xs, dir));
	state_word(l->guest, xb_state(xs, frontend));
	return true;
}

static void each_of(struct xs_handle *xs, const char *root, unsigned int domid, listing_fn *fn, void *context)
{
	char path[XB_PATH_MAX], **names;
	unsigned int n, i, devid;

	snprintf(path, sizeof(path), "%s/%u", root, domid);
	names = xs_directory(xs, XBT_NULL, path, &n);
	for (i = 0; names && i < n; i++)
		if (xb_number(names[i], &devid))
			fn(context, domid, devid);
	free(names);
}

void listing_each(struct xs_handle *xs, const char *root, listing_fn *fn, void *context)
{
	char **names;
	unsigned int n, i, domid;

	names = xs_directory(xs, XBT_NULL, root, &n);
	for (i = 0; names && i < n; i++)
		if (xb_number(names[i], &domid))
			each_of(xs, root, domid, fn, context);
	free(names);
}
