// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mr.c - memory regions: all the work is the kernel's, but for null MRs, of which it knows nothing: they are
 * names for one key that the HCA has for all its users.
 */
#include <errno.h>
#include <stdlib.h>

#include "abi.h"
#include "context.h"
#include "verbs.h"

struct ibv_mr *xenib_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t hca_va,
			    int access)
{
	struct ib_uverbs_reg_mr_resp resp;
	struct ibv_reg_mr cmd;
	struct verbs_mr *vmr;
	int err;

	vmr = calloc(1, sizeof(*vmr));
	if (!vmr)
		return NULL;

	err = ibv_cmd_reg_mr(pd, addr, length, hca_va, access, vmr, &cmd, sizeof(cmd), &resp,
			     sizeof(resp));
	if (err) {
		free(vmr);
		errno = err;
		return NULL;
	}
	return &vmr->ibv_mr;
}

/* libibverbs has a function for this, whose arguments differ between releases with one interface. */
struct ibv_mr *xenib_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				   int fd, int access)
{
	DECLARE_COMMAND_BUFFER(cmd, UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR, 9);
	struct ib_uverbs_attr *handle;
	struct verbs_mr *vmr;
	int err;

	vmr = calloc(1, sizeof(*vmr));
	if (!vmr)
		return NULL;

	handle = fill_attr_out_obj(cmd, UVERBS_ATTR_REG_DMABUF_MR_HANDLE);
	fill_attr_out_ptr(cmd, UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, &vmr->ibv_mr.lkey);
	fill_attr_out_ptr(cmd, UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, &vmr->ibv_mr.rkey);
	fill_attr_in_obj(cmd, UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, pd->handle);
	fill_attr_in_uint64(cmd, UVERBS_ATTR_REG_DMABUF_MR_OFFSET, offset);
	fill_attr_in_uint64(cmd, UVERBS_ATTR_REG_DMABUF_MR_LENGTH, length);
	fill_attr_in_uint64(cmd, UVERBS_ATTR_REG_DMABUF_MR_IOVA, iova);
	fill_attr_in_uint32(cmd, UVERBS_ATTR_REG_DMABUF_MR_FD, fd);
	fill_attr_in_uint32(cmd, UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, access);
	err = execute_ioctl(pd->context, cmd);
	if (err) {
		free(vmr);
		errno = err;
		return NULL;
	}
	vmr->ibv_mr.handle = read_attr_obj(UVERBS_ATTR_REG_DMABUF_MR_HANDLE, handle);
	vmr->ibv_mr.context = pd->context;
	vmr->ibv_mr.pd = pd;
	vmr->ibv_mr.addr = (void *)(uintptr_t)offset;
	vmr->ibv_mr.length = length;
	vmr->mr_type = IBV_MR_TYPE_DMABUF_MR;
	return &vmr->ibv_mr;
}

struct ibv_mr *xenib_alloc_null_mr(struct ibv_pd *pd)
{
	const struct xenib_context *ctx = to_xctx(pd->context);
	struct verbs_mr *vmr;

	if (!ctx->null_key) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	vmr = calloc(1, sizeof(*vmr));
	if (!vmr)
		return NULL;

	vmr->ibv_mr.context = pd->context;
	vmr->ibv_mr.pd = pd;
	vmr->ibv_mr.lkey = ctx->null_key;
	vmr->mr_type = IBV_MR_TYPE_NULL_MR;
	return &vmr->ibv_mr;
}

int xenib_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		   int access)
{
	struct ib_uverbs_rereg_mr_resp resp;
	struct ibv_rereg_mr cmd;

	if (vmr->mr_type == IBV_MR_TYPE_NULL_MR)
		return EINVAL;
	return ibv_cmd_rereg_mr(vmr, flags, addr, length, (uintptr_t)addr, access, pd, &cmd,
				sizeof(cmd), &resp, sizeof(resp));
}

int xenib_dereg_mr(struct verbs_mr *vmr)
{
	int err = 0;

	if (vmr->mr_type != IBV_MR_TYPE_NULL_MR)
		err = ibv_cmd_dereg_mr(vmr);
	if (err)
		return err;

	free(vmr);
	return 0;
}

struct ibv_mr *xenib_import_mr(struct ibv_pd *pd, uint32_t mr_handle)
{
	struct verbs_mr *vmr;
	int err;

	vmr = calloc(1, sizeof(*vmr));
	if (!vmr)
		return NULL;

	err = ibv_cmd_query_mr(pd, vmr, mr_handle);
	if (err) {
		free(vmr);
		errno = err;
		return NULL;
	}
	return &vmr->ibv_mr;
}

void xenib_unimport_mr(struct ibv_mr *mr)
{
	free(container_of(mr, struct verbs_mr, ibv_mr));
}
