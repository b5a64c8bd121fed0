// SPDX-License-Identifier: GPL-2.0
/*
 * sa.c - transactions of a guest with the subnet's administration: see gsi.h.
 *
 * A guest's transaction gets an id of ours on the wire, which leads back to it. Where the SA is,
 * and how it is reached, is not the guest's to say.
 */
#include <linux/slab.h>
#include <rdma/ib_cache.h>

#include "compat.h"
#include "gsi.h"

/* As long as an answer may take. The guest tries again long before that. */
#define ANSWER_MS 10000
/* After an answer's first part: how long the guest may go on with the others, */
#define PARTS_FOR (20 * HZ)
/* and how long after the end of that, if it has to say it again. */
#define END_FOR (2 * HZ)

void gsi_sa_answer(struct gsi_endpoint *ep, const u8 *mad, u32 era)
{
	struct xen_ibgsi_mad answer = {
		.src_qpn = 1,
		.slid = ep->sa.lid,
		.pkey_index = ep->sa.pkey_index,
		.sl = ep->sa.sl,
	};

	memcpy(answer.mad, mad, sizeof(answer.mad));
	gsi_queue_put(ep, &answer, era);
}

/* Those that wait end with their MAD, and answer nobody: their era is over. */
void gsi_sa_forget(struct gsi_endpoint *ep)
{
	spin_lock(&ep->requests_lock);
	sa_table_forget(&ep->requests);
	spin_unlock(&ep->requests_lock);
}

/* The number of a new transaction. */
static int new_number(struct gsi_endpoint *ep, const struct gsi_question *question, u32 *number)
{
	u64 tid = get_unaligned_be64(question->mad + MAD_TID), now = get_jiffies_64();
	struct sa_request *request;

	spin_lock(&ep->requests_lock);
	*number = sa_table_add(&ep->requests, tid, ep->era, now);
	request = sa_table_find(&ep->requests, *number);
	if (request) {
		request->lid = rdma_ah_get_dlid(&question->to);
		request->whole = question->whole;
	}
	spin_unlock(&ep->requests_lock);
	return *number ? 0 : gsi_refuse(ep, XEN_IBGSI_REFUSED_LIMIT, -EAGAIN);
}

/* That of one that goes on. */
static int old_number(struct gsi_endpoint *ep, const u8 *mad, u32 *number)
{
	u64 tid = get_unaligned_be64(mad + MAD_TID), now = get_jiffies_64();
	struct sa_request *request;

	spin_lock(&ep->requests_lock);
	request = sa_table_in_parts(&ep->requests, tid, now);
	*number = request ? request->number : 0;
	if (request)
		request->until = now + (sa_ends(mad, request->last) ? END_FOR : PARTS_FOR);
	spin_unlock(&ep->requests_lock);
	return *number ? 0 : gsi_refuse(ep, XEN_IBGSI_REFUSED_ID, -EINVAL);
}

static void end_request(struct gsi_endpoint *ep, u32 number)
{
	spin_lock(&ep->requests_lock);
	sa_table_end(&ep->requests, number);
	spin_unlock(&ep->requests_lock);
}

static int post(struct gsi_endpoint *ep, struct gsi_question *question, u32 id)
{
	u8 mad[XEN_IBGSI_MAD_SIZE];

	memcpy(mad, question->mad, sizeof(mad));
	put_unaligned_be64((u64)ep->agent->hi_tid << 32 | id, mad + MAD_TID);
	return gsi_post(ep, &question->to, question->pkey_index, mad, id, question->answer_ms);
}

int gsi_ask(struct gsi_endpoint *ep, struct gsi_question *question)
{
	u32 number;
	int err = new_number(ep, question, &number);

	if (err)
		return err;
	err = post(ep, question, number);
	if (err)
		end_request(ep, number);
	return err;
}

static int relay(struct gsi_endpoint *ep, const u8 *mad, bool goes_on)
{
	struct gsi_question question = {
		.mad = mad,
		.to = { .type = RDMA_AH_ATTR_TYPE_IB },
		.pkey_index = ep->sa.pkey_index,
		.answer_ms = goes_on ? 0 : ANSWER_MS,
	};
	u32 number;
	int err;

	if (!ep->sa.lid)
		return -ENETDOWN;
	rdma_ah_set_dlid(&question.to, ep->sa.lid);
	rdma_ah_set_sl(&question.to, ep->sa.sl);
	rdma_ah_set_port_num(&question.to, ep->port);
	if (!goes_on)
		return gsi_ask(ep, &question);
	err = old_number(ep, mad, &number);
	return err ? err : post(ep, &question, number);
}

int gsi_sa_send(struct gsi_endpoint *ep, const u8 *mad)
{
	switch (sa_kind(mad)) {
	case SA_MAD_ASKS:
		return relay(ep, mad, false);
	case SA_MAD_GOES_ON:
		return relay(ep, mad, true);
	case SA_MAD_JOINS:
		return gsi_mcast_join(ep, mad);
	case SA_MAD_LEAVES:
		return gsi_mcast_leave(ep, mad);
	case SA_MAD_INVALID:
		return gsi_refuse(ep, XEN_IBGSI_REFUSED_CLAIM, -EINVAL);
	default:
		return gsi_refuse(ep, XEN_IBGSI_REFUSED_KIND, -EOPNOTSUPP);
	}
}

/* Whether it has been sent, was answered, or was given up: after this nobody asks for it. */
void gsi_send_handler(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	struct ib_mad_send_buf *buf = wc->send_buf;

	end_request(agent->context, (uintptr_t)buf->context[0]);
	rdma_destroy_ah(buf->ah, 0);
	ib_free_send_mad(buf);
}

/* Of the guest's transaction that the MAD answers; false: of none. */
static bool find_asked(struct gsi_endpoint *ep, u16 lid, const u8 *mad, u64 *tid, u32 *era)
{
	struct sa_request *request;

	spin_lock(&ep->requests_lock);
	request = sa_table_find(&ep->requests, lower_32_bits(get_unaligned_be64(mad + MAD_TID)));
	if (request && (request->lid != lid || (request->whole && sa_is_part(mad))))
		request = NULL;
	if (request) {
		*tid = request->tid;
		*era = request->era;
	}
	if (request && sa_is_part(mad)) {
		request->in_parts = true;
		request->last = sa_last_part(mad) ?: request->last;
		request->until = get_jiffies_64() + PARTS_FOR;
	}
	spin_unlock(&ep->requests_lock);
	return request;
}

/* An answer: the guest's id is put back. One in parts goes on after this. */
void gsi_recv_handler(struct ib_mad_agent *agent, struct ib_mad_send_buf *sent,
		      struct ib_mad_recv_wc *wc)
{
	struct gsi_endpoint *ep = agent->context;
	const u8 *mad = (const u8 *)wc->recv_buf.mad;
	struct xen_ibgsi_mad answer;
	u64 tid;
	u32 era;

	if (find_asked(ep, wc->wc->slid, mad, &tid, &era)) {
		gsi_fill_mad(&answer, wc->wc, wc->recv_buf.grh, mad);
		put_unaligned_be64(tid, answer.mad + MAD_TID);
		gsi_queue_put(ep, &answer, era);
	}
	ib_free_recv_mad(wc);
}
