// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * nodes.c - see nodes.h.
 */
#include "config/guid.h"
#include "shared-ring/vhca.h"
#include "util/log.h"
#include "worker/nodes.h"
#include "xen/attach.h"
#include "xen/xenbus.h"

/* What is none of the words is the first one, which allows the least: whoever wrote it meant to restrict something. */
unsigned int nodes_choice(struct xs_handle *xs, const char *path, enum choice choice)
{
	const char *key = choice_key(choice);
	unsigned int value = 0;
	char word[16];

	if (!xb_read(xs, path, key, word, sizeof(word)))
		return choice_default(choice);
	if (!choice_parse(choice, word, &value))
		log_warning("%s=%s is not known: %s", key, word, choice_word(choice, value));
	return value;
}

uint64_t nodes_guid(struct xs_handle *xs, const char *path, unsigned int domid, unsigned int devid)
{
	char text[32];
	uint64_t guid;

	if (xb_read(xs, path, XEN_VHCA_FIELD_NODE_GUID, text, sizeof(text)) &&
	    guid_parse(text, &guid))
		return guid;
	guid = attach_guid(xs, XBT_NULL, domid, devid);
	guid_format(text, guid);
	xb_write(xs, path, XEN_VHCA_FIELD_NODE_GUID, "%s", text);
	return guid;
}

/* What is no list leaves the guest none. */
void nodes_pkeys(struct xs_handle *xs, const char *path, struct pkeys *pkeys)
{
	char text[PKEYS_TEXT];

	if (!xb_read(xs, path, CONFIG_PKEYS, text, sizeof(text)) || pkeys_parse(text, pkeys))
		return;
	log_warning(CONFIG_PKEYS "=%s is no list of indices: none", text);
	*pkeys = (struct pkeys){ .given = true };
}

void nodes_services(struct xs_handle *xs, const char *path, struct services *services)
{
	char text[SERVICES_TEXT];

	if (!xb_read(xs, path, CONFIG_SERVICE, text, sizeof(text)) ||
	    services_parse(text, services))
		return;
	log_warning(CONFIG_SERVICE "=%s is no list of ids: none", text);
	services->n = 0;
}

bool nodes_limit(void *from, const char *key, char text[LIMIT_TEXT])
{
	const struct nodes *nodes = from;

	return xb_read(nodes->xs, nodes->path, key, text, LIMIT_TEXT);
}

uint64_t nodes_limits_set(struct xs_handle *xs, const char *path)
{
	uint64_t number = 0;

	xb_read_number(xs, path, CONFIG_LIMITS_SET, UINT64_MAX, &number);
	return number;
}

void nodes_write(struct xs_handle *xs, const char *path)
{
	xb_write(xs, path, XEN_VHCA_FIELD_VERSIONS, "%u", XEN_VHCA_VERSION);
	xb_write(xs, path, XEN_VHCA_FIELD_MAX_RING_PAGE_ORDER, "%u", XEN_VHCA_MAX_RING_PAGE_ORDER);
	xb_write(xs, path, XEN_VHCA_FIELD_FEATURE_EVENTS, "1");
	xb_write(xs, path, XEN_VHCA_FIELD_FEATURE_PERSISTENT, "1");
	xb_write(xs, path, XEN_VHCA_FIELD_FEATURE_MW_ENTRIES, "1");
	xb_write(xs, path, XEN_VHCA_FIELD_FEATURE_MR_UMEM, "1");
	xb_write(xs, path, XEN_VHCA_FIELD_FEATURE_POSTED, "1");
	xb_write(xs, path, XEN_VHCA_FIELD_FEATURE_UNORDERED, "1");
	xb_write(xs, path, XEN_VHCA_FIELD_FEATURE_CQ_FLAGS, "1");
	xb_write(xs, path, XEN_VHCA_FIELD_FEATURE_CQ_LABELS, "1");
	xb_write(xs, path, XEN_VHCA_FIELD_FEATURE_BLOCK_LOOPBACK, "1");
	xb_write(xs, path, XEN_VHCA_FIELD_FEATURE_CQ_MODERATION, "1");
	xb_write(xs, path, XEN_VHCA_FIELD_MAX_EVENT_VECTORS, "%u", XEN_VHCA_MAX_EVENT_VECTORS);
}

static bool has_blueflame(struct hca *hca)
{
	uint32_t size, offset;

	hca->ops->uar_layout(hca, XEN_VHCA_UAR_BF, &size, &offset);
	return size;
}

/* Read-only umems, too, are mapped by gntdev, to be written. */
static bool needs_writable_grants(const struct hca *hca, const struct transport *t)
{
	return t->map_writable && !(hca->dmabufs && t->dmabuf_read_only && t->dmabuf_pages);
}

void nodes_write_hca(struct xs_handle *xs, const char *path, struct hca *hca,
		     const struct transport *t)
{
	xb_write(xs, path, XEN_VHCA_FIELD_FEATURE_BLUEFLAME, "%d", has_blueflame(hca));
	xb_write(xs, path, XEN_VHCA_FIELD_FEATURE_XRC, "%d", hca->xrc);
	xb_write(xs, path, XEN_VHCA_FIELD_WRITABLE_GRANTS, "%d", needs_writable_grants(hca, t));
}
