// SPDX-License-Identifier: GPL-2.0
/*
 * ping.c - ibping from guests: see gsi.h.
 *
 * A guest asks any node's ibping, and gets that node's answer. It is not asked by others: such a
 * question names the port, which is this domain's and all guests', so this domain's ibping gets it.
 */
#include "gsi.h"

/* Where fields are in a MAD of a vendor's class. */
#define CLASS_VERSION 2
#define RMPP_FLAGS 26
#define OUI 37

#define VERSION 1

/* The guest does not wait for as long; it asks again. */
#define ANSWER_MS 2000

static bool is_ping(const u8 *mad)
{
	static const u8 openib[] = { 0x00, 0x14, 0x05 };

	return mad[CLASS_VERSION] == VERSION && mad[MAD_METHOD] == IB_MGMT_METHOD_GET &&
	       !(mad[RMPP_FLAGS] & IB_MGMT_RMPP_FLAG_ACTIVE) &&
	       !memcmp(mad + OUI, openib, sizeof(openib));
}

int gsi_ping_send(struct gsi_endpoint *ep, const struct xen_ibgsi_send *send)
{
	struct gsi_question question = {
		.mad = send->mad,
		.pkey_index = send->pkey_index,
		.whole = true,
		.answer_ms = ANSWER_MS,
	};

	if (!is_ping(send->mad))
		return gsi_refuse(ep, XEN_IBGSI_REFUSED_KIND, -EOPNOTSUPP);
	if (!gsi_is_unicast(send->dlid) || !gsi_endpoint_may_use(ep, send->pkey_index))
		return gsi_refuse(ep, XEN_IBGSI_REFUSED_CLAIM, -EINVAL);
	gsi_fill_attr(ep, send, &question.to);
	return gsi_ask(ep, &question);
}
