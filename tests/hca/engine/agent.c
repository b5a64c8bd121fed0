// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Requests to the port's performance management agent, as they are on the wire (IBTA 13.5.1, 16.1). */
#include <string.h>

#include "engine/agent.h"
#include "engine/fabric.h"
#include "firmware/mad.h"
#include "hca.h"

#define HOP_LIMIT 255u

static bool is_request(const struct hca *hca, const struct packet *p)
{
	if (p->dest_qpn != 1 || p->opcode != (BTH_UD | BTH_SEND_ONLY) || p->len != MAD_LEN)
		return false;
	if (p->qkey != QKEY_QP1 || !port_pkey_of(hca, p->pkey))
		return false;
	return p->data[MAD_CLASS] == MAD_CLASS_PERFORMANCE &&
	       (p->data[MAD_METHOD] == MAD_METHOD_GET || p->data[MAD_METHOD] == MAD_METHOD_SET);
}

/* Back where the request has come from, from whom it was sent to. */
static void address(const struct hca *hca, const struct packet *request, struct packet *p)
{
	p->opcode = BTH_UD | BTH_SEND_ONLY;
	p->slid = request->dlid == LID_PERMISSIVE ? hca->port.lid : request->dlid;
	p->dlid = request->slid;
	p->sl = request->sl;
	p->pkey = port_pkey_of(hca, request->pkey);
	p->dest_qpn = request->src_qpn;
	p->src_qpn = 1;
	p->qkey = QKEY_QP1;
	p->grh = request->grh;
	memcpy(p->sgid, request->dgid, sizeof(p->sgid));
	memcpy(p->dgid, request->sgid, sizeof(p->dgid));
	p->flow_label = request->flow_label;
	p->traffic_class = request->traffic_class;
	p->hop_limit = HOP_LIMIT;
}

bool agent_answers(struct hca *hca, const struct packet *request)
{
	struct packet *p;

	if (!is_request(hca, request))
		return false;
	p = packet_get(hca->fabric);
	if (!p) {
		hca->stats.packets_dropped++;
		return true;
	}
	address(hca, request, p);
	p->len = MAD_LEN;
	memcpy(p->data, request->data, MAD_LEN);
	if (port_mad(hca, p->data, true))
		fabric_send(hca, p);
	else
		packet_put(hca->fabric, p);
	return true;
}
