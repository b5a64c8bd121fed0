// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vhca_check_rsp.c - the rules for responses, and what their status means.
 */
#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/stddef.h>
#else
#include <errno.h>
#include <stddef.h>
#endif

#include "vhca_check.h"

struct meaning {
	const char *name;
	int err;
};

#define MEANING(status, errno_) [XEN_VHCA_##status] = { #status, -(errno_) }

static const struct meaning meanings[XEN_VHCA_STATUSES] = {
	MEANING(OK, 0),
	MEANING(E_OP, EOPNOTSUPP),
	MEANING(E_RESERVED, EINVAL),
	MEANING(E_HANDLE, EINVAL),
	MEANING(E_CONTEXT, EINVAL),
	MEANING(E_ARG, EINVAL),
	MEANING(E_RANGE, EINVAL),
	MEANING(E_COUNT, EINVAL),
	MEANING(E_LIMIT, ENOMEM),
	MEANING(E_NOMEM, ENOMEM),
	MEANING(E_GRANT, EFAULT),
	MEANING(E_BUSY, EBUSY),
	MEANING(E_STATE, EINVAL),
	MEANING(E_UNSUPPORTED, EOPNOTSUPP),
	MEANING(E_HCA, EINVAL),
	MEANING(E_DEAD, EIO),
};

/* The numbers of the HCA's driver that mean the same to a user of the frontend. */
static int hca_errno_known(unsigned int hca_errno)
{
	switch (hca_errno) {
	case ENOMEM:
	case EBUSY:
	case ENOSPC:
	case EOPNOTSUPP:
	case EAGAIN:
	case EIO:
	case ETIMEDOUT:
		return 1;
	default:
		return 0;
	}
}

int vhca_status_errno(unsigned int status, unsigned int hca_errno)
{
	if (status >= XEN_VHCA_STATUSES)
		return -EPROTO;
	if (status == XEN_VHCA_E_HCA && hca_errno_known(hca_errno))
		return -(int)hca_errno;
	return meanings[status].err;
}

const char *vhca_status_name(unsigned int status)
{
	return status < XEN_VHCA_STATUSES ? meanings[status].name : "?";
}

/*
 * In a page table, more bits of a frame would be shifted out, or be the entry's rights. A guest
 * that has named a frame gets that one.
 */
static int uar_ok(const struct xen_vhca_req *req, const struct xen_vhca_new_uar *u)
{
	const uint64_t gfn = req->u.uar_alloc.gfn;

	if (u->frame >= XEN_VHCA_FRAMES || (gfn && u->frame != gfn))
		return 0;
	if (!u->handle || u->bf_offset >= XEN_VHCA_PAGE_SIZE || u->bf_offset & 7)
		return 0;
	/* Two buffers, used in turn, have to be in the page. */
	return !(u->bf_size & (u->bf_size - 1)) &&
	       u->bf_size <= (XEN_VHCA_PAGE_SIZE - u->bf_offset) / 2;
}

/* A umem if one was to be kept, and only then. A handle names one object. */
static int mr_ok(const struct xen_vhca_req *req, const struct xen_vhca_new_mr *m)
{
	int keep = req->op == XEN_VHCA_OP_MR_REG &&
		   req->u.mr_reg.flags & XEN_VHCA_MR_REG_PERSISTENT;

	return m->handle && m->umem != m->handle && !m->umem == !keep;
}

static int queue_ok(const struct xen_vhca_new_queue *q)
{
	return q->handle && q->number && q->number <= VHCA_MAX_24;
}

static int port_ok(const struct xen_vhca_port_attr *p)
{
	return p->state <= 5 && p->max_mtu >= 1 && p->max_mtu <= 5 && p->active_mtu >= 1 &&
	       p->active_mtu <= 5 && p->lmc <= 7;
}

static int qp_ok(const struct xen_vhca_qp_attr *a)
{
	return a->state <= 6 && a->cur_state <= 6 && !a->reserved;
}

/* What an answer of this operation is like: the length of its part, and whether it makes sense. */
static int answer_ok(const struct xen_vhca_req *req, const struct xen_vhca_rsp *rsp,
		     unsigned int *length)
{
	*length = 0;
	switch (rsp->op) {
	case XEN_VHCA_OP_PORT_QUERY:
		*length = sizeof(rsp->u.port);
		return port_ok(&rsp->u.port);
	case XEN_VHCA_OP_GID_QUERY:
		*length = (req->u.index.more + 1) * sizeof(rsp->u.gids.gid[0]);
		return 1;
	case XEN_VHCA_OP_PKEY_QUERY:
		*length = (req->u.index.more + 1) * sizeof(rsp->u.pkeys.pkey[0]);
		return 1;
	case XEN_VHCA_OP_CLOCK_QUERY:
		*length = sizeof(rsp->u.clock);
		return 1;
	case XEN_VHCA_OP_CTX_OPEN:
	case XEN_VHCA_OP_PD_ALLOC:
	case XEN_VHCA_OP_UMEM_CREATE:
		*length = sizeof(rsp->u.object);
		return rsp->u.object.handle && rsp->u.object.number <= VHCA_MAX_24;
	case XEN_VHCA_OP_UAR_ALLOC:
		*length = sizeof(rsp->u.uar);
		return uar_ok(req, &rsp->u.uar);
	case XEN_VHCA_OP_MR_REG:
	case XEN_VHCA_OP_MW_ALLOC:
		*length = sizeof(rsp->u.mr);
		return mr_ok(req, &rsp->u.mr);
	case XEN_VHCA_OP_MR_MODIFY:
		*length = sizeof(rsp->u.mr);
		return rsp->u.mr.handle == req->u.mr_modify.mr && !rsp->u.mr.umem;
	case XEN_VHCA_OP_CQ_CREATE:
	case XEN_VHCA_OP_SRQ_CREATE:
	case XEN_VHCA_OP_QP_CREATE:
		*length = sizeof(rsp->u.queue);
		return queue_ok(&rsp->u.queue);
	case XEN_VHCA_OP_SRQ_QUERY:
		*length = sizeof(rsp->u.srq);
		return !rsp->u.srq.reserved;
	case XEN_VHCA_OP_QP_QUERY:
		*length = sizeof(rsp->u.qp);
		return qp_ok(&rsp->u.qp.attr);
	case XEN_VHCA_OP_MAD_RECV:
		*length = sizeof(rsp->u.mads);
		return rsp->u.mads.count <= XEN_VHCA_MADS && !rsp->u.mads.reserved;
	default:
		return 1;
	}
}

int vhca_check_response(const struct xen_vhca_req *req, const struct xen_vhca_rsp *rsp)
{
	unsigned int i, length = 0;

	if (rsp->id != req->id || rsp->op != req->op || rsp->reserved0 ||
	    rsp->status >= XEN_VHCA_STATUSES)
		return -EPROTO;
	if (rsp->hca_errno && rsp->status != XEN_VHCA_E_HCA)
		return -EPROTO;
	if (rsp->status == XEN_VHCA_OK && !answer_ok(req, rsp, &length))
		return -EPROTO;
	for (i = length; i < sizeof(rsp->u.octets); i++)
		if (rsp->u.octets[i])
			return -EPROTO;
	return 0;
}

int vhca_check_device_attr(const struct xen_vhca_device_attr *a)
{
	if (a->family != XEN_VHCA_FAMILY_MLX5 || a->port_type || a->cqe_version > 1)
		return -EPROTO;
	if (!a->max_mr_size || a->max_mem_bytes < XEN_VHCA_PAGE_SIZE)
		return -EPROTO;
	if (!a->max_ctx || !a->max_uar || !a->max_pd || !a->max_mr || !a->max_cq || !a->max_qp)
		return -EPROTO;
	if (!a->max_qp_wr || !a->max_sge || !a->max_sge_rd || !a->max_cqe || !a->gids || !a->pkeys)
		return -EPROTO;
	/* What is computed from these must not overflow 32 bits. */
	if (a->max_qp_wr > 1u << 24 || a->max_cqe > 1u << 24 || a->max_srq_wr > 1u << 24 ||
	    a->max_sge > 1u << 12 || a->max_sge_rd > 1u << 12 || a->max_srq_sge > 1u << 12)
		return -EPROTO;
	if (a->max_sq_desc < 64 || a->max_sq_desc > 1u << 16 || a->max_rq_desc < 16 ||
	    a->max_rq_desc > 1u << 16 || a->max_send_blocks > 1u << 24 ||
	    a->max_recv_wqes > 1u << 24 || a->max_srq_wqes > 1u << 24)
		return -EPROTO;
	if (a->gids > 1u << 16 || a->pkeys > 1u << 16)
		return -EPROTO;
	return 0;
}
