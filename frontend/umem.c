// SPDX-License-Identifier: GPL-2.0
/*
 * umem.c - umems: memory of a process or of the kernel, pinned, granted and offered to the backend.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>

#include "grant.h"
#include "compat.h"
#include "umem.h"
#include "xenib.h"

/* UMEM_ADDs on the way at once, of one umem. */
#define ADD_DEPTH 8U

/* The pages of a umem that is pinned, one by one. They lie in pieces of the guest's own frames. */
static struct page **list_pages(struct ib_umem *ib)
{
	size_t count = ib_umem_num_pages(ib), i = 0, end;
	struct scatterlist *sg;
	struct page **pages;
	unsigned long pfn;

	pages = kvmalloc_array(count, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return NULL;
	for (sg = ib->sgt_append.sgt.sgl; sg && i < count; sg = sg_next(sg)) {
		pfn = page_to_pfn(sg_page(sg));
		end = min(count, i + (PAGE_ALIGN(sg->offset + sg->length) >> PAGE_SHIFT));
		while (i < end)
			pages[i++] = pfn_to_page(pfn++);
	}
	return pages;
}

/* Grants the pages that umem has. */
static int grant(struct xenib_dev *dev, struct xenib_umem *umem)
{
	int err;

	umem->refs = kvmalloc_array(umem->count, sizeof(*umem->refs), GFP_KERNEL);
	if (!umem->refs)
		return -ENOMEM;
	err = xenib_grants_make(umem->pages, umem->count, dev->xbdev->otherend_id,
				umem->read_only && !dev->writable_grants, umem->refs);
	if (err) {
		kvfree(umem->refs);
		return err;
	}
	umem->handle = XEN_VHCA_NO_HANDLE;
	umem->refused = false;
	return 0;
}

/* What a process or an exporter has given, and the list of it, if there is one. */
static void unpin(struct xenib_umem *umem)
{
	kvfree(umem->pages);
	umem->pages = NULL;
	if (umem->dmabuf)
		xenib_dmabuf_unmap(umem->dmabuf);
	else
		ib_umem_release(umem->ib);
}

int xenib_umem_pin(struct xenib_dev *dev, struct xenib_umem *umem, u64 addr, u64 length, int access)
{
	int err;

	umem->dmabuf = NULL;
	umem->read_only = !ib_access_writable(access);
	/* What is granted to be written must be the process's to write. */
	if (dev->writable_grants)
		access |= IB_ACCESS_LOCAL_WRITE;
	/* The flag tells kernel/dma.c that it is a process's memory. It means nothing else here. */
	umem->ib = XENIB_UMEM_GET(&dev->ibdev, addr, length, access | IB_ACCESS_RELAXED_ORDERING);
	if (IS_ERR(umem->ib))
		return PTR_ERR(umem->ib);
	umem->count = ib_umem_num_pages(umem->ib);
	umem->pages = list_pages(umem->ib);
	if (!umem->pages) {
		err = -ENOMEM;
		goto err_unpin;
	}
	err = grant(dev, umem);
	if (err)
		goto err_unpin;
	return 0;

err_unpin:
	unpin(umem);
	return err;
}

int xenib_umem_pin_dmabuf(struct xenib_dev *dev, struct xenib_umem *umem, int fd, u64 offset,
			  u64 length, int access)
{
	int err = -ENOMEM;

	umem->ib = NULL;
	umem->dmabuf = xenib_dmabuf_map(dev->dmabuf_dev, fd);
	if (IS_ERR(umem->dmabuf))
		return PTR_ERR(umem->dmabuf);
	umem->count = PFN_UP(offset_in_page(offset) + length);
	umem->read_only = !ib_access_writable(access);
	umem->pages = kvmalloc_array(umem->count, sizeof(*umem->pages), GFP_KERNEL);
	if (!umem->pages)
		goto err_unpin;
	err = xenib_dmabuf_pages(umem->dmabuf, offset >> PAGE_SHIFT, umem->count, umem->pages);
	if (!err)
		err = grant(dev, umem);
	if (err)
		goto err_unpin;
	return 0;

err_unpin:
	unpin(umem);
	return err;
}

/* Ends the backend's umem, if there is one. A backend that is gone has said nothing. */
static void withdraw(struct xenib_dev *dev, struct xenib_umem *umem)
{
	if (umem->handle != XEN_VHCA_NO_HANDLE &&
	    xenib_cmd_destroy(dev->ring, XEN_VHCA_OP_UMEM_DESTROY, umem->handle))
		umem->refused = true;
	if (xenib_ring_is_dead(dev->ring))
		umem->refused = true;
	umem->handle = XEN_VHCA_NO_HANDLE;
}

void xenib_umem_release(struct xenib_dev *dev, struct xenib_umem *umem)
{
	if (!umem->pages)
		return;
	withdraw(dev, umem);
	/* Unless it has said otherwise, the backend has nothing of the umem any more. */
	xenib_grants_end(umem->pages, umem->count, umem->refs, umem->refused ? NULL : dev->grantee);
	kvfree(umem->refs);
	if (!umem->ib && !umem->dmabuf) {
		xenib_kmem_free(umem);
		return;
	}
	unpin(umem);
}

/*
 * The references from first on: up to ADD_DEPTH commands are on the way, and all that were sent are
 * waited for, whatever happens.
 */
static int offer_rest(struct xenib_dev *dev, struct xenib_umem *umem, u32 first)
{
	const u32 pages = umem->count;
	u32 sent = 0, waited = 0, count;
	struct xenib_cmd *cmds;
	int err = 0, ret;

	cmds = kvcalloc(ADD_DEPTH, sizeof(*cmds), GFP_KERNEL);
	if (!cmds)
		return -ENOMEM;

	while ((first < pages && !err) || waited < sent) {
		struct xenib_cmd *cmd = &cmds[sent % ADD_DEPTH];

		if (first >= pages || err || sent - waited == ADD_DEPTH) {
			ret = xenib_cmd_wait(dev->ring, &cmds[waited++ % ADD_DEPTH]);
			err = err ?: ret;
			continue;
		}
		if (fatal_signal_pending(current)) {
			err = -EINTR;
			continue;
		}
		count = min_t(u32, pages - first, XEN_VHCA_DATA_REFS);
		memset(cmd, 0, sizeof(*cmd));
		cmd->req.op = XEN_VHCA_OP_UMEM_ADD;
		cmd->req.u.umem_add.umem = umem->handle;
		cmd->req.u.umem_add.first = first;
		cmd->req.u.umem_add.count = count;
		cmd->data = umem->refs + first;
		cmd->data_size = count * sizeof(*umem->refs);
		err = xenib_cmd_send(dev->ring, cmd, true);
		if (err)
			continue;
		first += count;
		sent++;
	}
	kvfree(cmds);
	return err;
}

static u32 flags_of(const struct xenib_dev *dev, const struct xenib_umem *umem, bool only_mrs)
{
	return (umem->read_only ? XEN_VHCA_UMEM_READ_ONLY : 0) |
	       (only_mrs && dev->mr_umems ? XEN_VHCA_UMEM_MR : 0);
}

int xenib_umem_offer(struct xenib_context *ctx, struct xenib_umem *umem, bool only_mrs)
{
	u32 count = min_t(size_t, umem->count, XEN_VHCA_DATA_REFS);
	struct xenib_cmd cmd = {
		.req.op = XEN_VHCA_OP_UMEM_CREATE,
		.req.u.umem_create = {
			.ctx = ctx->handle,
			.flags = flags_of(ctx->dev, umem, only_mrs),
			.pages = umem->count,
		},
		.data = umem->refs,
		.data_size = count * sizeof(*umem->refs),
	};
	int err;

	err = xenib_cmd_exec(ctx->dev->ring, &cmd);
	if (err)
		return err;
	umem->handle = cmd.rsp.u.object.handle;
	if (count == umem->count)
		return 0;
	err = offer_rest(ctx->dev, umem, count);
	if (err)
		withdraw(ctx->dev, umem);
	return err;
}

int xenib_umem_create(struct xenib_context *ctx, struct xenib_umem *umem, u64 addr, u64 length)
{
	int err;

	if (!PAGE_ALIGNED(addr))
		return xenib_refuse(ctx->dev, -EINVAL, "a umem at %#llx, no page boundary", addr);
	err = xenib_umem_pin(ctx->dev, umem, addr, length, IB_ACCESS_LOCAL_WRITE);
	if (err)
		return err;
	err = xenib_umem_offer(ctx, umem, false);
	if (err)
		xenib_umem_release(ctx->dev, umem);
	return err;
}

static int create_kernel(struct xenib_context *ctx, struct xenib_umem *umem, size_t length,
			 bool only_mrs)
{
	int err;

	err = xenib_kmem_alloc(umem, PFN_UP(length));
	if (err)
		return err;
	umem->ib = NULL;
	umem->read_only = false;
	err = grant(ctx->dev, umem);
	if (err) {
		xenib_kmem_free(umem);
		return err;
	}
	err = xenib_umem_offer(ctx, umem, only_mrs);
	if (err)
		xenib_umem_release(ctx->dev, umem);
	return err;
}

/* The limit that it meets counts what processes have registered, also what is idle of that. */
int xenib_umem_create_kernel(struct xenib_context *ctx, struct xenib_umem *umem, size_t length,
			     bool only_mrs)
{
	unsigned int since = xenib_reg_cache_releases(&ctx->dev->reg_cache);
	int err;

	err = create_kernel(ctx, umem, length, only_mrs);
	if (err == -ENOMEM && xenib_reg_cache_flush(&ctx->dev->reg_cache, since))
		err = create_kernel(ctx, umem, length, only_mrs);
	return err;
}
