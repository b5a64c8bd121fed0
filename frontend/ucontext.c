// SPDX-License-Identifier: GPL-2.0
/*
 * ucontext.c - a process opens the device, or an XRC domain.
 */
#include <linux/sched.h>

#include "xenib.h"

int xenib_context_open(struct xenib_dev *dev, struct xenib_context *ctx, u32 pid, const char *name,
		       u32 flags)
{
	struct xenib_cmd cmd = {
		.req.op = XEN_VHCA_OP_CTX_OPEN,
		.req.u.ctx_open = { .pid = pid, .flags = flags },
	};
	int err;

	static_assert(sizeof(cmd.req.u.ctx_open.name) >= TASK_COMM_LEN);
	memcpy(cmd.req.u.ctx_open.name, name, TASK_COMM_LEN);
	ctx->dev = dev;
	xa_init_flags(&ctx->uars, XA_FLAGS_ALLOC);
	xenib_arenas_init(&ctx->arenas);
	xenib_cqs_init(ctx);

	err = xenib_cmd_exec(dev->ring, &cmd);
	if (err)
		return err;
	ctx->handle = cmd.rsp.u.object.handle;
	return 0;
}

void xenib_context_close(struct xenib_context *ctx)
{
	xenib_cmd_destroy(ctx->dev->ring, XEN_VHCA_OP_CTX_CLOSE, ctx->handle);
	xa_destroy(&ctx->uars);
}

static int open_context(struct ib_ucontext *ibuc, struct ib_udata *udata)
{
	struct xenib_dev *dev = to_xdev(ibuc->device);
	struct xenib_context *ctx = &to_xucontext(ibuc)->ctx;
	char name[TASK_COMM_LEN];
	int err;

	err = dev->personality->context_req(dev, udata);
	if (err)
		return err;

	get_task_comm(name, current);
	err = xenib_context_open(dev, ctx, task_tgid_nr(current), name, 0);
	if (err)
		return err;

	err = dev->personality->context_resp(dev, udata);
	if (err)
		xenib_context_close(ctx);
	return err;
}

/*
 * Linux 6.12 forgets to release the calling task where GET_CONTEXT by ioctl() fails
 * (uverbs_std_types_device.c), so each program that is refused a context would cost the kernel a
 * task_struct. It is released here. A core that releases it finds none.
 */
static void put_task(struct rdma_restrack_entry *res)
{
	if (!res->task)
		return;
	put_task_struct(res->task);
	res->task = NULL;
}

int xenib_alloc_ucontext(struct ib_ucontext *ibuc, struct ib_udata *udata)
{
	int err = open_context(ibuc, udata);

	if (err)
		put_task(&ibuc->res);
	return err;
}

void xenib_dealloc_ucontext(struct ib_ucontext *ibuc)
{
	struct xenib_context *ctx = &to_xucontext(ibuc)->ctx;

	xenib_reg_cache_forget(ctx);
	xenib_context_close(ctx);
	xenib_spaces_forget(ctx);
}

/*
 * Present so that the core takes contexts off processes when the device goes; the core itself has
 * destroyed the objects and replaced the mappings.
 */
void xenib_disassociate_ucontext(struct ib_ucontext *ibuc)
{
}

int xenib_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	static const char name[TASK_COMM_LEN] = "XRC domain";
	int err;

	if (!udata)
		return -EOPNOTSUPP;
	err = xenib_copy_req(udata, NULL, 0);
	if (err)
		return err;
	return xenib_context_open(to_xdev(ibxrcd->device), &to_xxrcd(ibxrcd)->ctx,
				  task_tgid_nr(current), name, XEN_VHCA_CTX_XRCD);
}

int xenib_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	xenib_context_close(&to_xxrcd(ibxrcd)->ctx);
	return 0;
}
