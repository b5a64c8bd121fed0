// SPDX-License-Identifier: GPL-2.0
/*
 * mr.c - memory regions of processes.
 */
#include <linux/slab.h>

#include "kernel/kverbs.h"
#include "xenib.h"

/*
 * Zero-based needs nothing of the HCA: the process says iova 0. Huge pages are granted like others.
 * Optional flags are hints.
 */
#define ACCESS_SUPPORTED \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | \
	 IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_MW_BIND | IB_ZERO_BASED | IB_ACCESS_HUGETLB | \
	 IB_ACCESS_OPTIONAL)

static u32 access_to_wire(int access)
{
	u32 wire = 0;

	if (access & IB_ACCESS_LOCAL_WRITE)
		wire |= XEN_VHCA_ACCESS_LOCAL_WRITE;
	if (access & IB_ACCESS_REMOTE_WRITE)
		wire |= XEN_VHCA_ACCESS_REMOTE_WRITE;
	if (access & IB_ACCESS_REMOTE_READ)
		wire |= XEN_VHCA_ACCESS_REMOTE_READ;
	if (access & IB_ACCESS_REMOTE_ATOMIC)
		wire |= XEN_VHCA_ACCESS_REMOTE_ATOMIC;
	if (access & IB_ACCESS_MW_BIND)
		wire |= XEN_VHCA_ACCESS_MW_BIND;
	if (access & IB_ACCESS_RELAXED_ORDERING)
		wire |= XEN_VHCA_ACCESS_RELAXED_ORDERING;
	return wire;
}

/*
 * A small umem that is new: its references travel with the registration, and where the backend
 * can do that, it outlives the MR. A large one is offered before.
 */
static int register_mr(struct xenib_context *ctx, struct xenib_mr *mr,
		       const struct xen_vhca_mr_reg *what)
{
	struct xenib_cmd cmd = { .req.op = XEN_VHCA_OP_MR_REG, .req.u.mr_reg = *what };
	struct xenib_umem *umem = &mr->reg->umem;
	struct xen_vhca_mr_reg *req = &cmd.req.u.mr_reg;
	int err;

	if (umem->handle == XEN_VHCA_NO_HANDLE && umem->count <= XEN_VHCA_DATA_REFS) {
		req->flags = XEN_VHCA_MR_REG_INLINE;
		if (xenib_reg_may_persist(mr->reg))
			req->flags |= XEN_VHCA_MR_REG_PERSISTENT;
		req->pages = umem->count;
		cmd.data = umem->refs;
		cmd.data_size = umem->count * sizeof(*umem->refs);
	} else if (umem->handle == XEN_VHCA_NO_HANDLE) {
		err = xenib_umem_offer(ctx, umem, true);
		if (err)
			return err;
	}
	req->addr.umem = umem->handle;
	err = xenib_cmd_exec(ctx->dev->ring, &cmd);
	if (err)
		return err;
	if (req->flags & XEN_VHCA_MR_REG_PERSISTENT)
		umem->handle = cmd.rsp.u.mr.umem;
	mr->handle = cmd.rsp.u.mr.handle;
	mr->ibmr.lkey = cmd.rsp.u.mr.lkey;
	mr->ibmr.rkey = cmd.rsp.u.mr.rkey;
	return 0;
}

static int check_mr(struct xenib_dev *dev, u64 start, u64 length, u64 iova, int access)
{
	if (access & ~ACCESS_SUPPORTED)
		return xenib_refuse(dev, -EOPNOTSUPP, "access %#x, supported is %#x", access,
				    ACCESS_SUPPORTED);
	if (!length || iova + length < iova)
		return xenib_refuse(dev, -EINVAL, "%#llx bytes at iova %#llx", length, iova);
	if (offset_in_page(start) != offset_in_page(iova))
		return xenib_refuse(dev, -EINVAL, "iova %#llx, address %#llx: differ in the page",
				    iova, start);
	if (xenib_exceeds(dev, "length", length, dev->attr.max_mr_size))
		return -EINVAL;
	return 0;
}

/* Of checked memory, whose use passes to the MR, or ends here. start: its place there. */
static struct ib_mr *new_mr(struct xenib_context *ctx, struct ib_pd *ibpd, struct xenib_reg *reg,
			    u64 start, u64 length, u64 iova, int access)
{
	const struct xen_vhca_mr_reg what = {
		.pd = to_xpd(ibpd)->handle,
		.addr.offset = offset_in_page(start),
		.length = length,
		.iova = iova,
		.access = access_to_wire(access),
	};
	unsigned int since = xenib_reg_cache_releases(&ctx->dev->reg_cache);
	struct xenib_mr *mr;
	int err = -ENOMEM;

	if (IS_ERR(reg))
		return ERR_CAST(reg);
	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		goto err_put;
	mr->ctx = ctx;
	mr->reg = reg;
	err = register_mr(ctx, mr, &what);
	if (err == -ENOMEM && xenib_reg_cache_flush(&ctx->dev->reg_cache, since))
		err = register_mr(ctx, mr, &what);
	if (err)
		goto err_free;

	xenib_reg_cache_share(reg);
	mr->ibmr.length = length;
	mr->ibmr.iova = iova;
	mr->start = start;
	mr->iova = iova;
	mr->access = access;
	return &mr->ibmr;

err_free:
	kfree(mr);
err_put:
	xenib_reg_cache_put(reg);
	return ERR_PTR(err);
}

static struct ib_mr *new_user_mr(struct xenib_context *ctx, struct ib_pd *ibpd, u64 start,
				 u64 length, u64 iova, int access)
{
	int err;

	err = check_mr(ctx->dev, start, length, iova, access);
	if (err)
		return ERR_PTR(err);
	return new_mr(ctx, ibpd, xenib_reg_cache_get(ctx, start, length, access), start, length,
		      iova, access);
}

struct ib_mr *xenib_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 iova, int access,
				struct ib_udata *udata)
{
	int err;

	err = xenib_copy_req(udata, NULL, 0);
	if (err)
		return ERR_PTR(err);
	return new_user_mr(xenib_udata_ctx(udata), ibpd, start, length, iova, access);
}

struct ib_mr *xenib_reg_dmabuf_mr(struct ib_pd *ibpd, u64 offset, u64 length, u64 iova, int fd,
				  int access, struct ib_udata *udata)
{
	struct xenib_context *ctx = xenib_udata_ctx(udata);
	int err;

	err = check_mr(ctx->dev, offset, length, iova, access);
	if (err)
		return ERR_PTR(err);
	if (offset + length < offset)
		return ERR_PTR(xenib_refuse(ctx->dev, -EINVAL, "%#llx bytes at %#llx of a dma-buf",
					    length, offset));
	return new_mr(ctx, ibpd, xenib_reg_make_dmabuf(ctx, fd, offset, length, access), offset,
		      length, iova, access);
}

/*
 * The MR with other rights, or in another PD, its memory and its keys as they are. -EOPNOTSUPP: not
 * this change, on this HCA, or by this backend.
 */
static int modify_mr(struct xenib_mr *mr, int access, struct ib_pd *ibpd)
{
	struct xenib_cmd cmd = {
		.req.op = XEN_VHCA_OP_MR_MODIFY,
		.req.u.mr_modify = {
			.mr = mr->handle,
			.pd = ibpd ? to_xpd(ibpd)->handle : XEN_VHCA_NO_HANDLE,
			.access = access_to_wire(access),
		},
	};
	struct xenib_dev *dev = mr->ctx->dev;
	int err;

	if (access & ~ACCESS_SUPPORTED)
		return xenib_refuse(dev, -EOPNOTSUPP, "access %#x, supported is %#x", access,
				    ACCESS_SUPPORTED);
	if (ib_access_writable(access) && mr->reg->umem.read_only)
		return -EOPNOTSUPP;
	err = xenib_cmd_exec(dev->ring, &cmd);
	if (err)
		return err;
	mr->ibmr.lkey = cmd.rsp.u.mr.lkey;
	mr->ibmr.rkey = cmd.rsp.u.mr.rkey;
	mr->access = access;
	return 0;
}

/*
 * Where only rights or PD change, the MR stays. Else another MR is in its place, which the core
 * then gives the old one's number, and the old one ends. Pages are not pinned and granted again
 * where the memory is the same. An MR to which a memory window is bound cannot end: as the core
 * does not ask before, nothing is registered again where there are any.
 */
struct ib_mr *xenib_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start, u64 length, u64 iova,
				  int access, struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct xenib_mr *old = to_xmr(ibmr);
	int err;

	err = xenib_copy_req(udata, NULL, 0);
	if (err)
		return ERR_PTR(err);
	if (!(flags & IB_MR_REREG_ACCESS))
		access = old->access;
	if (!(flags & IB_MR_REREG_TRANS)) {
		err = modify_mr(old, access, flags & IB_MR_REREG_PD ? ibpd : NULL);
		if (err != -EOPNOTSUPP)
			return ERR_PTR(err);
		if (old->reg->umem.dmabuf)
			return ERR_PTR(xenib_refuse(old->ctx->dev, err,
						    "memory of a dma-buf again"));
		start = old->start;
		length = ibmr->length;
		iova = old->iova;
	}
	if (atomic_read(&old->ctx->mws))
		return ERR_PTR(xenib_refuse(old->ctx->dev, -EBUSY, "an MR beside memory windows"));
	return new_user_mr(old->ctx, ibpd, start, length, iova, access);
}

/*
 * Busy: a memory window is bound to it, so its pages stay where they are. Where the context has no
 * windows, and so at its end when they have gone, it is over whatever the backend says: see
 * xenib_cmd_destroy(). Pages that the backend does not let go are held as long as it has them.
 */
int xenib_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct xenib_dev *dev = to_xdev(ibmr->device);
	struct xenib_mr *mr = to_xmr(ibmr);
	int err;

	if (!mr->reg) {
		xenib_kmr_free(mr);
		return 0;
	}
	err = xenib_cmd_destroy(dev->ring, XEN_VHCA_OP_MR_DEREG, mr->handle);
	if (err && atomic_read(&mr->ctx->mws))
		return err;
	if (err)
		WRITE_ONCE(mr->reg->umem.refused, true);
	xenib_reg_cache_put(mr->reg);
	kfree(mr);
	return 0;
}
