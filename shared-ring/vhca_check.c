// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vhca_check.c - the rules for requests.
 *
 * One table says for each operation how long its part of a request is (all behind it is reserved)
 * and which function checks the values.
 */
#ifdef __KERNEL__
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/stddef.h>
#include <linux/string.h>
#else
#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#endif

#include "vhca_check.h"
#include "vhca_layout.h"

#define OK XEN_VHCA_OK

static int is_power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

uint32_t vhca_srq_stride(uint32_t max_sge)
{
	uint32_t bytes = 16 + 16 * max_sge;
	uint32_t stride = 32;

	while (stride < bytes)
		stride <<= 1;
	return stride;
}

/* align is a power of two; size bytes from the offset on do not wrap. */
static enum xen_vhca_status check_place(const struct xen_vhca_umem_addr *place, uint32_t align,
					uint64_t size)
{
	if (place->reserved)
		return XEN_VHCA_E_RESERVED;
	if (!place->umem)
		return XEN_VHCA_E_HANDLE;
	if (place->offset & (align - 1))
		return XEN_VHCA_E_ARG;
	if (place->offset + size < place->offset)
		return XEN_VHCA_E_RANGE;
	return OK;
}

/* Buffer and doorbell record of a queue. */
static enum xen_vhca_status check_queue(const struct xen_vhca_umem_addr *buf, uint32_t align,
					uint64_t size, const struct xen_vhca_umem_addr *dbr)
{
	enum xen_vhca_status status = check_place(buf, align, size);

	return status ? status : check_place(dbr, 8, 8);
}

typedef enum xen_vhca_status check_fn(const struct xen_vhca_req *req,
				      const struct xen_vhca_device_attr *limits);

static enum xen_vhca_status check_none(const struct xen_vhca_req *req,
				       const struct xen_vhca_device_attr *limits)
{
	(void)req;
	(void)limits;
	return OK;
}

static enum xen_vhca_status check_object(const struct xen_vhca_req *req,
					 const struct xen_vhca_device_attr *limits)
{
	(void)limits;
	if (req->u.object.reserved)
		return XEN_VHCA_E_RESERVED;
	return req->u.object.handle ? OK : XEN_VHCA_E_HANDLE;
}

/* most: in one answer; entries: of the table */
static enum xen_vhca_status check_index(const struct xen_vhca_index *i, uint32_t most,
					uint32_t entries)
{
	return i->more < most && i->index < entries && i->more < entries - i->index ?
		       OK :
		       XEN_VHCA_E_ARG;
}

static enum xen_vhca_status check_gid(const struct xen_vhca_req *req,
				      const struct xen_vhca_device_attr *limits)
{
	return check_index(&req->u.index, XEN_VHCA_GIDS, limits->gids);
}

static enum xen_vhca_status check_pkey(const struct xen_vhca_req *req,
				       const struct xen_vhca_device_attr *limits)
{
	return check_index(&req->u.index, XEN_VHCA_PKEYS, limits->pkeys);
}

#define CTX_FLAGS (XEN_VHCA_CTX_KERNEL | XEN_VHCA_CTX_XRCD)

static enum xen_vhca_status check_ctx_open(const struct xen_vhca_req *req,
					   const struct xen_vhca_device_attr *limits)
{
	(void)limits;
	if (req->u.ctx_open.flags & ~CTX_FLAGS)
		return XEN_VHCA_E_RESERVED;
	return req->u.ctx_open.flags == CTX_FLAGS ? XEN_VHCA_E_ARG : OK;
}

static enum xen_vhca_status check_uar_alloc(const struct xen_vhca_req *req,
					    const struct xen_vhca_device_attr *limits)
{
	const struct xen_vhca_uar_alloc *a = &req->u.uar_alloc;

	(void)limits;
	if (!a->ctx)
		return XEN_VHCA_E_HANDLE;
	if (a->type > XEN_VHCA_UAR_BF)
		return XEN_VHCA_E_ARG;
	return a->gfn >= XEN_VHCA_FRAMES ? XEN_VHCA_E_ARG : OK;
}

static enum xen_vhca_status check_pd_alloc(const struct xen_vhca_req *req,
					   const struct xen_vhca_device_attr *limits)
{
	(void)limits;
	if (req->u.pd_alloc.reserved)
		return XEN_VHCA_E_RESERVED;
	return req->u.pd_alloc.ctx ? OK : XEN_VHCA_E_HANDLE;
}

static enum xen_vhca_status check_ah_create(const struct xen_vhca_req *req,
					    const struct xen_vhca_device_attr *limits)
{
	(void)limits;
	if (req->u.ah_create.reserved)
		return XEN_VHCA_E_RESERVED;
	return req->u.ah_create.ctx ? OK : XEN_VHCA_E_HANDLE;
}

static enum xen_vhca_status check_umem_create(const struct xen_vhca_req *req,
					      const struct xen_vhca_device_attr *limits)
{
	const struct xen_vhca_umem_create *m = &req->u.umem_create;

	if (m->reserved || (m->flags & ~(XEN_VHCA_UMEM_READ_ONLY | XEN_VHCA_UMEM_MR)))
		return XEN_VHCA_E_RESERVED;
	if (!m->ctx)
		return XEN_VHCA_E_HANDLE;
	if (!m->pages)
		return XEN_VHCA_E_ARG;
	if (m->pages > limits->max_mem_bytes / XEN_VHCA_PAGE_SIZE)
		return XEN_VHCA_E_LIMIT;
	return OK;
}

static enum xen_vhca_status check_umem_add(const struct xen_vhca_req *req,
					   const struct xen_vhca_device_attr *limits)
{
	const struct xen_vhca_umem_add *m = &req->u.umem_add;

	(void)limits;
	if (m->reserved)
		return XEN_VHCA_E_RESERVED;
	if (!m->umem)
		return XEN_VHCA_E_HANDLE;
	if (!m->count || m->count > XEN_VHCA_DATA_REFS)
		return XEN_VHCA_E_COUNT;
	return m->first + m->count < m->first ? XEN_VHCA_E_RANGE : OK;
}

#define ACCESS_ALL \
	(VHCA_ACCESS_WRITES | XEN_VHCA_ACCESS_REMOTE_READ | XEN_VHCA_ACCESS_ZERO_BASED | \
	 XEN_VHCA_ACCESS_RELAXED_ORDERING)

/* Remote writes and atomics without local writes are refused by InfiniBand. */
static enum xen_vhca_status check_access(uint32_t access)
{
	if (access & ~(uint32_t)ACCESS_ALL)
		return XEN_VHCA_E_RESERVED;
	if ((access & (XEN_VHCA_ACCESS_REMOTE_WRITE | XEN_VHCA_ACCESS_REMOTE_ATOMIC)) &&
	    !(access & XEN_VHCA_ACCESS_LOCAL_WRITE))
		return XEN_VHCA_E_ARG;
	return OK;
}

static enum xen_vhca_status check_mr_inline(const struct xen_vhca_mr_reg *m)
{
	uint64_t bytes = (uint64_t)m->pages * XEN_VHCA_PAGE_SIZE;

	if (m->addr.reserved)
		return XEN_VHCA_E_RESERVED;
	if (m->addr.umem)
		return XEN_VHCA_E_ARG;
	if (!m->pages || m->pages > XEN_VHCA_DATA_REFS)
		return XEN_VHCA_E_COUNT;
	if (m->addr.offset >= XEN_VHCA_PAGE_SIZE || m->length > bytes - m->addr.offset)
		return XEN_VHCA_E_RANGE;
	return OK;
}

static enum xen_vhca_status check_mr_reg(const struct xen_vhca_req *req,
					 const struct xen_vhca_device_attr *limits)
{
	const struct xen_vhca_mr_reg *m = &req->u.mr_reg;
	enum xen_vhca_status status;

	if (m->flags & ~(XEN_VHCA_MR_REG_INLINE | XEN_VHCA_MR_REG_PERSISTENT))
		return XEN_VHCA_E_RESERVED;
	if (m->flags == XEN_VHCA_MR_REG_PERSISTENT)
		return XEN_VHCA_E_ARG;
	if (!m->pd)
		return XEN_VHCA_E_HANDLE;
	status = check_access(m->access);
	if (status)
		return status;
	if (!m->length || m->iova + (m->length - 1) < m->iova)
		return XEN_VHCA_E_ARG;
	if ((m->iova ^ m->addr.offset) & (XEN_VHCA_PAGE_SIZE - 1))
		return XEN_VHCA_E_ARG;
	if (m->length > limits->max_mr_size)
		return XEN_VHCA_E_LIMIT;
	if (m->flags & XEN_VHCA_MR_REG_INLINE)
		return check_mr_inline(m);
	if (m->pages)
		return XEN_VHCA_E_COUNT;
	return check_place(&m->addr, 1, m->length);
}

static enum xen_vhca_status check_mr_modify(const struct xen_vhca_req *req,
					    const struct xen_vhca_device_attr *limits)
{
	const struct xen_vhca_mr_modify *m = &req->u.mr_modify;

	(void)limits;
	if (m->reserved)
		return XEN_VHCA_E_RESERVED;
	return m->mr ? check_access(m->access) : XEN_VHCA_E_HANDLE;
}

static enum xen_vhca_status check_mw_alloc(const struct xen_vhca_req *req,
					   const struct xen_vhca_device_attr *limits)
{
	const struct xen_vhca_mw_alloc *m = &req->u.mw_alloc;

	(void)limits;
	if (!m->pd)
		return XEN_VHCA_E_HANDLE;
	if (m->type != 1 && m->type != 2)
		return XEN_VHCA_E_ARG;
	/* Those of type 1 are bound by verbs alone. */
	return m->entries > (m->type == 2 ? XEN_VHCA_MAX_MW_ENTRIES : 0) ? XEN_VHCA_E_ARG : OK;
}

/* One more than max_cqe, because a CQ of max_cqe entries has the next power of two. */
static int cqes_ok(uint32_t cqes, const struct xen_vhca_device_attr *limits)
{
	return is_power_of_two(cqes) && cqes - 1 <= limits->max_cqe;
}

static enum xen_vhca_status check_cq_create(const struct xen_vhca_req *req,
					    const struct xen_vhca_device_attr *limits)
{
	const struct xen_vhca_cq_create *c = &req->u.cq_create;

	if (c->flags & ~(XEN_VHCA_CQ_TIMESTAMPS | XEN_VHCA_CQ_IGNORE_OVERRUN) || c->reserved)
		return XEN_VHCA_E_RESERVED;
	if (!c->ctx || !c->uar)
		return XEN_VHCA_E_HANDLE;
	if (!cqes_ok(c->cqes, limits))
		return XEN_VHCA_E_ARG;
	if (c->cqe_size != 64 && c->cqe_size != 128)
		return XEN_VHCA_E_ARG;
	if (c->event_bit != XEN_VHCA_NO_EVENT && c->event_bit >= XEN_VHCA_EVENT_BITS)
		return XEN_VHCA_E_ARG;
	return check_queue(&c->buf, XEN_VHCA_PAGE_SIZE, (uint64_t)c->cqes * c->cqe_size, &c->dbr);
}

static enum xen_vhca_status check_cq_modify(const struct xen_vhca_req *req,
					    const struct xen_vhca_device_attr *limits)
{
	(void)limits;
	return req->u.cq_modify.cq ? OK : XEN_VHCA_E_HANDLE;
}

#define MAX_CQE_SIZE 128u /* what this CQ has is not known here */

static enum xen_vhca_status check_cq_resize(const struct xen_vhca_req *req,
					    const struct xen_vhca_device_attr *limits)
{
	const struct xen_vhca_cq_resize *c = &req->u.cq_resize;

	if (!c->cq)
		return XEN_VHCA_E_HANDLE;
	if (!cqes_ok(c->cqes, limits))
		return XEN_VHCA_E_ARG;
	return check_place(&c->buf, XEN_VHCA_PAGE_SIZE, (uint64_t)c->cqes * MAX_CQE_SIZE);
}

static enum xen_vhca_status check_srq_create(const struct xen_vhca_req *req,
					     const struct xen_vhca_device_attr *limits)
{
	const struct xen_vhca_srq_create *s = &req->u.srq_create;

	if (s->reserved)
		return XEN_VHCA_E_RESERVED;
	if (!s->pd || (s->xrcd && !s->cq))
		return XEN_VHCA_E_HANDLE;
	if (s->user_index > VHCA_MAX_24 || (s->cq && !s->xrcd))
		return XEN_VHCA_E_ARG;
	if (!is_power_of_two(s->max_wr) || s->max_wr < 2 || s->max_wr > limits->max_srq_wqes)
		return XEN_VHCA_E_ARG;
	if (s->max_sge > limits->max_srq_sge || s->max_sge > limits->max_rq_desc / 16)
		return XEN_VHCA_E_ARG;
	if (s->limit > s->max_wr)
		return XEN_VHCA_E_ARG;
	return check_queue(&s->buf, XEN_VHCA_PAGE_SIZE,
			   (uint64_t)s->max_wr * vhca_srq_stride(s->max_sge), &s->dbr);
}

static enum xen_vhca_status check_srq_modify(const struct xen_vhca_req *req,
					     const struct xen_vhca_device_attr *limits)
{
	if (!req->u.srq_modify.srq)
		return XEN_VHCA_E_HANDLE;
	return req->u.srq_modify.limit <= limits->max_srq_wqes ? OK : XEN_VHCA_E_ARG;
}

static enum xen_vhca_status check_qp_queues(const struct xen_vhca_qp_create *q,
					    const struct xen_vhca_device_attr *limits)
{
	if (q->sq_wqe_count &&
	    (!is_power_of_two(q->sq_wqe_count) || q->sq_wqe_count > limits->max_send_blocks))
		return XEN_VHCA_E_ARG;
	if (!q->rq_wqe_count)
		return q->rq_wqe_shift || q->max_recv_wr ? XEN_VHCA_E_ARG : OK;
	if (q->srq || !q->max_recv_wr)
		return XEN_VHCA_E_ARG;
	if (!is_power_of_two(q->rq_wqe_count) || q->rq_wqe_count > limits->max_recv_wqes)
		return XEN_VHCA_E_ARG;
	if (q->rq_wqe_shift < 4 || q->rq_wqe_shift > 16 ||
	    (1u << q->rq_wqe_shift) > limits->max_rq_desc)
		return XEN_VHCA_E_ARG;
	return OK;
}

#define QP_FLAGS \
	(XEN_VHCA_QP_SIGNAL_ALL | XEN_VHCA_QP_SEND_CQ_LABEL | XEN_VHCA_QP_RECV_CQ_LABEL | \
	 XEN_VHCA_QP_BLOCK_LOOPBACK)

/* It is nothing but a way to the domain. */
static enum xen_vhca_status check_target(const struct xen_vhca_qp_create *q)
{
	const struct xen_vhca_qp_create target = { .pd = q->pd, .type = q->type };

	if (!q->pd)
		return XEN_VHCA_E_HANDLE;
	return memcmp(q, &target, sizeof(target)) ? XEN_VHCA_E_ARG : OK;
}

static int is_connected_or_ud(uint32_t type)
{
	return type >= XEN_VHCA_QPT_RC && type <= XEN_VHCA_QPT_UD;
}

static int may_receive(const struct xen_vhca_qp_create *q)
{
	return q->recv_cq || q->srq || q->rq_wqe_count || q->flags & XEN_VHCA_QP_RECV_CQ_LABEL;
}

static enum xen_vhca_status check_qp_create(const struct xen_vhca_req *req,
					    const struct xen_vhca_device_attr *limits)
{
	const struct xen_vhca_qp_create *q = &req->u.qp_create;
	enum xen_vhca_status status;
	uint64_t size;

	if (q->flags & ~QP_FLAGS)
		return XEN_VHCA_E_RESERVED;
	if (q->type == XEN_VHCA_QPT_XRC_TGT)
		return check_target(q);
	if (!q->pd || !q->send_cq || !q->uar)
		return XEN_VHCA_E_HANDLE;
	if (q->type == XEN_VHCA_QPT_XRC_INI) {
		if (may_receive(q))
			return XEN_VHCA_E_ARG;
	} else if (!is_connected_or_ud(q->type)) {
		return XEN_VHCA_E_ARG;
	} else if (!q->recv_cq) {
		return XEN_VHCA_E_HANDLE;
	}
	if (q->flags & XEN_VHCA_QP_BLOCK_LOOPBACK && q->type != XEN_VHCA_QPT_UD)
		return XEN_VHCA_E_ARG;
	if (q->user_index > VHCA_MAX_24)
		return XEN_VHCA_E_ARG;
	status = check_qp_queues(q, limits);
	if (status)
		return status;
	if (q->max_send_wr > limits->max_qp_wr || q->max_recv_wr > limits->max_qp_wr ||
	    q->max_send_sge > limits->max_sge || q->max_recv_sge > limits->max_sge ||
	    q->max_inline > limits->max_sq_desc)
		return XEN_VHCA_E_ARG;
	size = ((uint64_t)q->rq_wqe_count << q->rq_wqe_shift) +
	       (uint64_t)q->sq_wqe_count * VHCA_SEND_BLOCK;
	if (size)
		return check_queue(&q->buf, XEN_VHCA_QP_ALIGN, size, &q->dbr);
	/* No queue of its own: an SRQ alone. There is no buffer then. */
	if (q->buf.umem || q->buf.reserved || q->buf.offset)
		return XEN_VHCA_E_ARG;
	return check_place(&q->dbr, 8, 8);
}

static enum xen_vhca_status check_av(const struct xen_vhca_av *av,
				     const struct xen_vhca_device_attr *limits)
{
	if (av->reserved)
		return XEN_VHCA_E_RESERVED;
	if (av->port != 1 || av->is_global > 1 || av->sl > 15 || av->flow_label >> 20)
		return XEN_VHCA_E_ARG;
	return av->is_global && av->sgid_index >= limits->gids ? XEN_VHCA_E_ARG : OK;
}

/* The values that mask names; the others are not used by anyone. */
static enum xen_vhca_status check_qp_values(const struct xen_vhca_qp_attr *a, uint32_t mask,
					    const struct xen_vhca_device_attr *limits)
{
	if ((mask & VHCA_QP_STATE && a->state > 6) ||
	    (mask & VHCA_QP_CUR_STATE && a->cur_state > 6))
		return XEN_VHCA_E_ARG;
	if (mask & VHCA_QP_PATH_MTU && (a->path_mtu < 1 || a->path_mtu > 5))
		return XEN_VHCA_E_ARG;
	if (mask & VHCA_QP_PATH_MIG_STATE && a->path_mig_state > 2)
		return XEN_VHCA_E_ARG;
	if (mask & VHCA_QP_QKEY && a->qkey & VHCA_CONTROLLED_QKEY)
		return XEN_VHCA_E_UNSUPPORTED;
	if ((mask & VHCA_QP_RQ_PSN && a->rq_psn > VHCA_MAX_24) ||
	    (mask & VHCA_QP_SQ_PSN && a->sq_psn > VHCA_MAX_24) ||
	    (mask & VHCA_QP_DEST_QPN && a->dest_qpn > VHCA_MAX_24))
		return XEN_VHCA_E_ARG;
	if (mask & VHCA_QP_ACCESS_FLAGS && a->access & ~0xfu)
		return XEN_VHCA_E_ARG;
	if (mask & VHCA_QP_PKEY_INDEX && a->pkey_index >= limits->pkeys)
		return XEN_VHCA_E_ARG;
	if (mask & VHCA_QP_PORT && a->port != 1)
		return XEN_VHCA_E_ARG;
	if ((mask & VHCA_QP_TIMEOUT && a->timeout > 31) ||
	    (mask & VHCA_QP_RETRY_CNT && a->retry_cnt > 7) ||
	    (mask & VHCA_QP_RNR_RETRY && a->rnr_retry > 7) ||
	    (mask & VHCA_QP_MIN_RNR_TIMER && a->min_rnr_timer > 31))
		return XEN_VHCA_E_ARG;
	return OK;
}

static enum xen_vhca_status check_qp_modify(const struct xen_vhca_req *req,
					    const struct xen_vhca_device_attr *limits)
{
	const struct xen_vhca_qp_modify *m = &req->u.qp_modify;
	const struct xen_vhca_qp_attr *a = &m->attr;
	enum xen_vhca_status status;

	if (!m->qp)
		return XEN_VHCA_E_HANDLE;
	if (m->mask & ~VHCA_QP_MASK || a->reserved)
		return XEN_VHCA_E_RESERVED;
	status = check_qp_values(a, m->mask, limits);
	if (!status && m->mask & VHCA_QP_AV)
		status = check_av(&a->av, limits);
	if (status || !(m->mask & VHCA_QP_ALT_PATH))
		return status;
	if (a->alt_port != 1 || a->alt_pkey_index >= limits->pkeys || a->alt_timeout > 31)
		return XEN_VHCA_E_ARG;
	return check_av(&a->alt_av, limits);
}

static enum xen_vhca_status check_mcast(const struct xen_vhca_req *req,
					const struct xen_vhca_device_attr *limits)
{
	const struct xen_vhca_mcast *m = &req->u.mcast;

	(void)limits;
	if (m->reserved)
		return XEN_VHCA_E_RESERVED;
	if (!m->qp)
		return XEN_VHCA_E_HANDLE;
	return m->gid[0] == 0xff ? OK : XEN_VHCA_E_ARG;
}

static enum xen_vhca_status check_gsi_open(const struct xen_vhca_req *req,
					   const struct xen_vhca_device_attr *limits)
{
	(void)limits;
	if (!req->u.gsi_open.ctx)
		return XEN_VHCA_E_HANDLE;
	return req->u.gsi_open.event_bit < XEN_VHCA_EVENT_BITS ? OK : XEN_VHCA_E_ARG;
}

static int all_zero(const uint8_t *octets, unsigned int from, unsigned int to)
{
	uint8_t any = 0;

	for (; from < to; from++)
		any |= octets[from];
	return !any;
}

static enum xen_vhca_status check_mad_send(const struct xen_vhca_req *req,
					   const struct xen_vhca_device_attr *limits)
{
	const struct xen_vhca_mad_send *m = &req->u.mad_send;

	if (m->reserved)
		return XEN_VHCA_E_RESERVED;
	if (!m->ctx)
		return XEN_VHCA_E_HANDLE;
	if (m->pkey_index >= limits->pkeys)
		return XEN_VHCA_E_ARG;
	if (!m->av.port)
		return all_zero((const uint8_t *)&m->av, 0, sizeof(m->av)) ? OK : XEN_VHCA_E_ARG;
	return check_av(&m->av, limits);
}

static enum xen_vhca_status check_addr(const struct xen_vhca_req *req,
				       const struct xen_vhca_device_attr *limits)
{
	const struct xen_vhca_addr *a = &req->u.addr;

	(void)limits;
	if (!all_zero(a->reserved, 0, sizeof(a->reserved)))
		return XEN_VHCA_E_RESERVED;
	if (!a->ctx)
		return XEN_VHCA_E_HANDLE;
	if (a->family != 4)
		return a->family == 6 ? OK : XEN_VHCA_E_ARG;
	return all_zero(a->addr, 4, sizeof(a->addr)) ? OK : XEN_VHCA_E_ARG;
}

struct rule {
	const char *name;
	uint16_t length; /* of the operation's own part */
	uint8_t ends;    /* an object */
	uint8_t flags;   /* that it can have, of the header, beside REQ_UNORDERED */
	check_fn *check;
};

#define RULE_FLAGS(op, member, flags, fn) \
	[XEN_VHCA_OP_##op] = { #op, sizeof(((struct xen_vhca_req *)0)->u.member), 0, flags, fn }
#define RULE(op, member, fn) RULE_FLAGS(op, member, 0, fn)
#define RULE_EMPTY(op) [XEN_VHCA_OP_##op] = { #op, 0, 0, 0, check_none }
#define RULE_END_FLAGS(op, flags) \
	[XEN_VHCA_OP_##op] = { #op, sizeof(struct xen_vhca_object), 1, flags, check_object }
#define RULE_END(op) RULE_END_FLAGS(op, 0)

static const struct rule rules[XEN_VHCA_OPS] = {
	RULE_EMPTY(DEVICE_QUERY),
	RULE_EMPTY(PORT_QUERY),
	RULE(GID_QUERY, index, check_gid),
	RULE(PKEY_QUERY, index, check_pkey),
	RULE_EMPTY(CLOCK_QUERY),
	RULE(CTX_OPEN, ctx_open, check_ctx_open),
	RULE_END(CTX_CLOSE),
	RULE(UAR_ALLOC, uar_alloc, check_uar_alloc),
	RULE_END_FLAGS(UAR_FREE, XEN_VHCA_REQ_POSTED),
	RULE(PD_ALLOC, pd_alloc, check_pd_alloc),
	RULE_END_FLAGS(PD_FREE, XEN_VHCA_REQ_POSTED),
	RULE(UMEM_CREATE, umem_create, check_umem_create),
	RULE(UMEM_ADD, umem_add, check_umem_add),
	RULE_END(UMEM_DESTROY),
	RULE(MR_REG, mr_reg, check_mr_reg),
	RULE_END(MR_DEREG),
	RULE(MW_ALLOC, mw_alloc, check_mw_alloc),
	RULE_END(MW_FREE),
	RULE_FLAGS(CQ_CREATE, cq_create, XEN_VHCA_REQ_POSTED, check_cq_create),
	RULE(CQ_MODIFY, cq_modify, check_cq_modify),
	RULE_END_FLAGS(CQ_DESTROY, XEN_VHCA_REQ_POSTED),
	RULE(SRQ_CREATE, srq_create, check_srq_create),
	RULE(SRQ_MODIFY, srq_modify, check_srq_modify),
	RULE(SRQ_QUERY, object, check_object),
	RULE_END_FLAGS(SRQ_DESTROY, XEN_VHCA_REQ_POSTED),
	RULE(QP_CREATE, qp_create, check_qp_create),
	RULE_FLAGS(QP_MODIFY, qp_modify, XEN_VHCA_REQ_POSTED, check_qp_modify),
	RULE(QP_QUERY, object, check_object),
	RULE_END(QP_DESTROY),
	RULE(MCAST_ATTACH, mcast, check_mcast),
	RULE(MCAST_DETACH, mcast, check_mcast),
	RULE(AH_CREATE, ah_create, check_ah_create),
	RULE(GSI_OPEN, gsi_open, check_gsi_open),
	RULE_END(GSI_CLOSE),
	RULE(MAD_SEND, mad_send, check_mad_send),
	RULE(MAD_RECV, object, check_object),
	RULE(ADDR_ADD, addr, check_addr),
	RULE(ADDR_DEL, addr, check_addr),
	RULE(CQ_RESIZE, cq_resize, check_cq_resize),
	RULE(MR_MODIFY, mr_modify, check_mr_modify),
};

static int flags_fit(unsigned int flags, const struct rule *rule)
{
	return flags == XEN_VHCA_REQ_UNORDERED || !(flags & ~rule->flags);
}

enum xen_vhca_status vhca_check_request(const struct xen_vhca_req *req,
					const struct xen_vhca_device_attr *limits)
{
	const struct rule *rule;

	if (req->op >= XEN_VHCA_OPS || !rules[req->op].check)
		return XEN_VHCA_E_OP;
	rule = &rules[req->op];
	if (!flags_fit(req->flags, rule) || req->reserved1 ||
	    !all_zero(req->u.octets, rule->length, sizeof(req->u.octets)))
		return XEN_VHCA_E_RESERVED;
	return rule->check(req, limits);
}

uint32_t vhca_request_pages(const struct xen_vhca_req *req)
{
	switch (req->op) {
	case XEN_VHCA_OP_UMEM_CREATE:
		return req->u.umem_create.pages < XEN_VHCA_DATA_REFS ? req->u.umem_create.pages :
								       XEN_VHCA_DATA_REFS;
	case XEN_VHCA_OP_UMEM_ADD:
		return req->u.umem_add.count;
	case XEN_VHCA_OP_MR_REG:
		return req->u.mr_reg.pages;
	default:
		return 0;
	}
}

uint32_t vhca_request_words(const struct xen_vhca_req *req)
{
	return req->op == XEN_VHCA_OP_MAD_SEND ? XEN_VHCA_MAD_SIZE / 4 : vhca_request_pages(req);
}

const char *vhca_op_name(unsigned int op)
{
	return op < XEN_VHCA_OPS && rules[op].name ? rules[op].name : "?";
}

int vhca_op_ends(unsigned int op)
{
	return op < XEN_VHCA_OPS && rules[op].ends;
}
