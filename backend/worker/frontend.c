// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * frontend.c - see frontend.h.
 */
#include <stdio.h>

#include "shared-ring/vhca.h"
#include "worker/frontend.h"

static bool read_u32(struct xs_handle *xs, const char *dir, const char *key, uint32_t *value)
{
	uint64_t number;

	if (!xb_read_number(xs, dir, key, UINT32_MAX, &number))
		return false;
	*value = number;
	return true;
}

const char *frontend_read_ring(struct xs_handle *xs, const char *dir, struct ring_params *p)
{
	uint32_t version, order, i;
	char key[24];

	if (!read_u32(xs, dir, XEN_VHCA_FIELD_VERSION, &version) || version != XEN_VHCA_VERSION)
		return XEN_VHCA_FIELD_VERSION;
	if (!read_u32(xs, dir, XEN_VHCA_FIELD_RING_PAGE_ORDER, &order) ||
	    order > XEN_VHCA_MAX_RING_PAGE_ORDER)
		return XEN_VHCA_FIELD_RING_PAGE_ORDER;
	p->ring_order = order;
	for (i = 0; i < 1u << order; i++) {
		snprintf(key, sizeof(key), XEN_VHCA_FIELD_RING_REF "%u", i);
		if (!read_u32(xs, dir, key, &p->ring_refs[i]))
			return XEN_VHCA_FIELD_RING_REF;
	}
	if (!read_u32(xs, dir, XEN_VHCA_FIELD_DATA_DIR_REF, &p->data_dir_ref))
		return XEN_VHCA_FIELD_DATA_DIR_REF;
	return read_u32(xs, dir, XEN_VHCA_FIELD_EVENT_CHANNEL, &p->event_channel) ?
		       NULL :
		       XEN_VHCA_FIELD_EVENT_CHANNEL;
}

/* The number of vectors, and the channels of all but the first. */
static const char *read_vectors(struct xs_handle *xs, const char *dir, struct events_params *p)
{
	char key[32];
	uint32_t i;

	p->vectors = 1;
	if (xb_read(xs, dir, XEN_VHCA_FIELD_EVENT_VECTORS, key, sizeof(key)) &&
	    (!read_u32(xs, dir, XEN_VHCA_FIELD_EVENT_VECTORS, &p->vectors) || !p->vectors ||
	     p->vectors > XEN_VHCA_MAX_EVENT_VECTORS))
		return XEN_VHCA_FIELD_EVENT_VECTORS;
	for (i = 1; i < p->vectors; i++) {
		snprintf(key, sizeof(key), XEN_VHCA_FIELD_EVENT_CHANNEL_OF "%u", i);
		if (!read_u32(xs, dir, key, &p->channels[i]))
			return XEN_VHCA_FIELD_EVENT_CHANNEL_OF;
	}
	return NULL;
}

const char *frontend_read_events(struct xs_handle *xs, const char *dir, struct events_params *p,
				 bool *wanted)
{
	bool cq = read_u32(xs, dir, XEN_VHCA_FIELD_CQ_EVENT_REF, &p->cq_ref);
	bool async = read_u32(xs, dir, XEN_VHCA_FIELD_ASYNC_EVENT_REF, &p->async_ref);
	bool channel = read_u32(xs, dir, XEN_VHCA_FIELD_EVENT_EVENT_CHANNEL, &p->channels[0]);

	*wanted = cq;
	if (cq != async || cq != channel)
		return "cq-event-ref and async-event-ref";
	return cq ? read_vectors(xs, dir, p) : NULL;
}
