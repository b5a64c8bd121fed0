// SPDX-License-Identifier: GPL-2.0
/*
 * sa.c - transactions of a guest with the subnet's administration: see gsi.h.
 *
 * A guest's transaction gets an id of ours on the wire, which leads back to it. Where the SA is,
 * and how it is reached, is not the guest's to say.
 */
#include <linux/slab.h>
#include <linux/unaligned.h>
#include <rdma/ib_cache.h>

#include "gsi.h"
#include "sa_mad.h"

/* As long as an answer may take. The guest tries again long before that. */
#define ANSWER_MS 10000
/* After an answer's first part: how long the guest may go on with the others. */
#define PARTS_FOR (20 * HZ)

/* One of the guest's, that waits for its answer. */
struct gsi_request {
	u32 id;
	u64 tid; /* the guest's */
	u32 era;
	bool in_parts;
	unsigned long until; /* jiffies; in parts */
};

static bool is_rmpp(const u8 *mad)
{
	return mad[RMPP_FLAGS] & IB_MGMT_RMPP_FLAG_ACTIVE;
}

/* Of a transaction that goes on: says which parts have come. It is answered by further parts. */
static bool is_rmpp_control(const u8 *mad)
{
	return is_rmpp(mad) && mad[RMPP_TYPE] != IB_MGMT_RMPP_TYPE_DATA;
}

static void fill_answer(struct xen_ibgsi_mad *to, const struct gsi_endpoint *ep, const u8 *mad)
{
	*to = (struct xen_ibgsi_mad){
		.src_qpn = 1,
		.slid = ep->sa.lid,
		.pkey_index = ep->sa.pkey_index,
		.sl = ep->sa.sl,
	};
	memcpy(to->mad, mad, sizeof(to->mad));
}

void gsi_sa_answer(struct gsi_endpoint *ep, const u8 *mad, u32 era)
{
	struct xen_ibgsi_mad answer;

	fill_answer(&answer, ep, mad);
	gsi_queue_put(ep, &answer, era);
}

void gsi_sa_forget(struct gsi_endpoint *ep)
{
	struct gsi_request *request;
	unsigned long id;

	/* Those that wait end with their MAD, and answer nobody (their era is over). */
	xa_lock(&ep->requests);
	xa_for_each(&ep->requests, id, request)
	{
		if (!request->in_parts)
			continue;
		__xa_erase(&ep->requests, id);
		kfree(request);
	}
	xa_unlock(&ep->requests);
}

/* How many there are; those whose time is over end. */
static unsigned int count_requests(struct gsi_endpoint *ep)
{
	struct gsi_request *request;
	unsigned int n = 0;
	unsigned long id;

	xa_lock(&ep->requests);
	xa_for_each(&ep->requests, id, request)
	{
		n++;
		if (!request->in_parts || time_before(jiffies, request->until))
			continue;
		__xa_erase(&ep->requests, id);
		kfree(request);
		n--;
	}
	xa_unlock(&ep->requests);
	return n;
}

/* An id for a transaction. */
static int new_request(struct gsi_endpoint *ep, u64 tid, u32 *id)
{
	struct gsi_request *request;
	int err;

	if (count_requests(ep) >= MAX_REQUESTS)
		return -EAGAIN;
	request = kzalloc(sizeof(*request), GFP_KERNEL);
	if (!request)
		return -ENOMEM;
	request->tid = tid;
	request->era = READ_ONCE(ep->era);
	err = xa_alloc_cyclic(&ep->requests, &request->id, request, xa_limit_31b, &ep->next_id,
			      GFP_KERNEL);
	if (err < 0) {
		kfree(request);
		return err;
	}
	*id = request->id;
	return 0;
}

/* The id of a transaction that goes on. */
static int old_request(struct gsi_endpoint *ep, u64 tid, u32 *id)
{
	struct gsi_request *request;
	unsigned long index;
	int err = -EINVAL;

	xa_lock(&ep->requests);
	xa_for_each(&ep->requests, index, request)
	{
		if (request->tid != tid || !request->in_parts)
			continue;
		request->until = jiffies + PARTS_FOR;
		*id = request->id;
		err = 0;
		break;
	}
	xa_unlock(&ep->requests);
	return err;
}

static void end_request(struct gsi_endpoint *ep, u32 id)
{
	struct gsi_request *request;

	xa_lock(&ep->requests);
	request = xa_load(&ep->requests, id);
	if (request && !request->in_parts)
		__xa_erase(&ep->requests, id);
	else
		request = NULL;
	xa_unlock(&ep->requests);
	kfree(request);
}

static struct ib_ah *make_ah(struct gsi_endpoint *ep)
{
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_IB };

	rdma_ah_set_dlid(&attr, ep->sa.lid);
	rdma_ah_set_sl(&attr, ep->sa.sl);
	rdma_ah_set_port_num(&attr, ep->port);
	return rdma_create_ah(ep->agent->qp->pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
}

/* expects: an answer, which without that would not get to us */
static int post(struct gsi_endpoint *ep, const u8 *mad, u32 id, bool expects)
{
	struct ib_mad_send_buf *buf;
	struct ib_ah *ah;
	int err;

	ah = make_ah(ep);
	if (IS_ERR(ah))
		return PTR_ERR(ah);
	buf = ib_create_send_mad(ep->agent, 1, ep->sa.pkey_index, 0, IB_MGMT_MAD_HDR,
				 IB_MGMT_MAD_DATA, GFP_KERNEL, IB_MGMT_BASE_VERSION);
	if (IS_ERR(buf)) {
		err = PTR_ERR(buf);
		goto err_ah;
	}
	memcpy(buf->mad, mad, XEN_IBGSI_MAD_SIZE);
	put_unaligned_be64((u64)ep->agent->hi_tid << 32 | id, buf->mad + MAD_TID);
	buf->ah = ah;
	buf->timeout_ms = expects ? ANSWER_MS : 0;
	buf->context[0] = (void *)(uintptr_t)id;
	err = ib_post_send_mad(buf, NULL);
	if (!err)
		return 0;
	ib_free_send_mad(buf);
err_ah:
	rdma_destroy_ah(ah, 0);
	return err;
}

static int relay(struct gsi_endpoint *ep, const u8 *mad)
{
	u64 tid = get_unaligned_be64(mad + MAD_TID);
	bool goes_on = is_rmpp_control(mad);
	u32 id;
	int err;

	if (!ep->sa.lid)
		return -ENETDOWN;
	err = goes_on ? old_request(ep, tid, &id) : new_request(ep, tid, &id);
	if (err)
		return err;
	err = post(ep, mad, id, !goes_on);
	if (err && !goes_on)
		end_request(ep, id);
	return err;
}

/* Who gives the SA's key is trusted by it: no guest is. */
static int check(const u8 *mad)
{
	if (mad[MAD_CLASS_VERSION] != SA_CLASS_VERSION || get_unaligned_be64(mad + SA_KEY))
		return -EINVAL;
	if (is_rmpp(mad) && mad[RMPP_TYPE] == IB_MGMT_RMPP_TYPE_DATA)
		return -EOPNOTSUPP; /* a question in several parts */
	return 0;
}

int gsi_sa_send(struct gsi_endpoint *ep, const u8 *mad)
{
	bool member = get_unaligned_be16(mad + MAD_ATTR) == SA_ATTR_MCMEMBER;
	int err;

	err = check(mad);
	if (err)
		return err;
	switch (mad[MAD_METHOD]) {
	case IB_MGMT_METHOD_GET:
	case IB_SA_METHOD_GET_TABLE:
		return relay(ep, mad);
	case IB_MGMT_METHOD_SET:
		return member ? gsi_mcast_join(ep, mad) : -EOPNOTSUPP;
	case IB_SA_METHOD_DELETE:
		return member ? gsi_mcast_leave(ep, mad) : -EOPNOTSUPP;
	default:
		return -EOPNOTSUPP;
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

/* An answer: the guest's id is put back. One in parts goes on after this. */
void gsi_recv_handler(struct ib_mad_agent *agent, struct ib_mad_send_buf *sent,
		      struct ib_mad_recv_wc *wc)
{
	struct gsi_endpoint *ep = agent->context;
	const u8 *mad = (const u8 *)wc->recv_buf.mad;
	struct xen_ibgsi_mad answer;
	struct gsi_request *request;
	bool found = false;
	u64 tid = 0;
	u32 era = 0;

	xa_lock(&ep->requests);
	request = xa_load(&ep->requests, lower_32_bits(get_unaligned_be64(mad + MAD_TID)));
	if (request && wc->wc->slid == ep->sa.lid) {
		found = true;
		tid = request->tid;
		era = request->era;
		if (is_rmpp(mad)) {
			request->in_parts = true;
			request->until = jiffies + PARTS_FOR;
		}
	}
	xa_unlock(&ep->requests);
	if (found) {
		fill_answer(&answer, ep, mad);
		put_unaligned_be64(tid, answer.mad + MAD_TID);
		gsi_queue_put(ep, &answer, era);
	}
	ib_free_recv_mad(wc);
}
