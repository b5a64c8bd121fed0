// SPDX-License-Identifier: GPL-2.0
/*
 * mad_answer.c - answers to MADs that were not sent: see mad_answer.h.
 */
#include <rdma/ib_cm.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_sa.h>
#include <rdma/ibta_vol1_c12.h>

#include "kernel/mad_answer.h"

#define SA_STATUS_NO_RESOURCES 0x100

/* What a REJ says it rejects (12.6.7) */
enum { REJECTED_REQ = 0, REJECTED_REP = 1 };

static void reject_req(const void *req, void *rej)
{
	IBA_SET(CM_REJ_REMOTE_COMM_ID, rej, IBA_GET(CM_REQ_LOCAL_COMM_ID, req));
	IBA_SET(CM_REJ_MESSAGE_REJECTED, rej, REJECTED_REQ);
	IBA_SET(CM_REJ_REASON, rej, IB_CM_REJ_NO_RESOURCES);
}

static void reject_rep(const void *rep, void *rej)
{
	IBA_SET(CM_REJ_LOCAL_COMM_ID, rej, IBA_GET(CM_REP_REMOTE_COMM_ID, rep));
	IBA_SET(CM_REJ_REMOTE_COMM_ID, rej, IBA_GET(CM_REP_LOCAL_COMM_ID, rep));
	IBA_SET(CM_REJ_MESSAGE_REJECTED, rej, REJECTED_REP);
	IBA_SET(CM_REJ_REASON, rej, IB_CM_REJ_NO_RESOURCES);
}

static void agree_to_dreq(const void *dreq, void *drep)
{
	IBA_SET(CM_DREP_LOCAL_COMM_ID, drep, IBA_GET(CM_DREQ_REMOTE_COMM_ID, dreq));
	IBA_SET(CM_DREP_REMOTE_COMM_ID, drep, IBA_GET(CM_DREQ_LOCAL_COMM_ID, dreq));
}

static void refuse_sidr_req(const void *req, void *rep)
{
	IBA_SET(CM_SIDR_REP_REQUESTID, rep, IBA_GET(CM_SIDR_REQ_REQUESTID, req));
	IBA_SET(CM_SIDR_REP_STATUS, rep, IB_SIDR_REJECT);
	IBA_SET(CM_SIDR_REP_SERVICEID, rep, IBA_GET(CM_SIDR_REQ_SERVICEID, req));
}

static const struct cm_message {
	__be16 id, answer;
	void (*fill)(const void *message, void *answer);
} cm_messages[] = {
	{ CM_REQ_ATTR_ID, CM_REJ_ATTR_ID, reject_req },
	{ CM_REP_ATTR_ID, CM_REJ_ATTR_ID, reject_rep },
	{ CM_DREQ_ATTR_ID, CM_DREP_ATTR_ID, agree_to_dreq },
	{ CM_SIDR_REQ_ATTR_ID, CM_SIDR_REP_ATTR_ID, refuse_sidr_req },
};

static bool answer_cm(const struct ib_mad_hdr *mad, struct ib_mad_hdr *answer)
{
	const struct cm_message *message = cm_messages;

	for (; message < cm_messages + ARRAY_SIZE(cm_messages); message++) {
		if (message->id != mad->attr_id)
			continue;
		*answer = *mad;
		answer->attr_id = message->answer;
		message->fill(mad, answer);
		return true;
	}
	return false;
}

static bool answer_sa(const struct ib_mad_hdr *mad, struct ib_mad_hdr *answer)
{
	*answer = *mad;
	answer->status = cpu_to_be16(SA_STATUS_NO_RESOURCES);
	switch (mad->method) {
	case IB_MGMT_METHOD_GET:
	case IB_MGMT_METHOD_SET:
		answer->method = IB_MGMT_METHOD_GET_RESP;
		return true;
	case IB_SA_METHOD_DELETE:
	case IB_SA_METHOD_GET_TABLE:
		answer->method |= IB_MGMT_METHOD_RESP;
		return true;
	default:
		return false;
	}
}

bool xenib_mad_answer(const u8 *mad, u8 *answer)
{
	const struct ib_mad_hdr *hdr = (const struct ib_mad_hdr *)mad;
	struct ib_mad_hdr *out = (struct ib_mad_hdr *)answer;

	switch (hdr->mgmt_class) {
	case IB_MGMT_CLASS_CM:
		return hdr->method == IB_MGMT_METHOD_SEND && answer_cm(hdr, out);
	case IB_MGMT_CLASS_SUBN_ADM:
		return answer_sa(hdr, out);
	default:
		return false;
	}
}
