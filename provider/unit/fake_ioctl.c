// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fake_ioctl.c - the kernel's methods that the provider calls by ioctl(), see fake.h.
 */
#include <errno.h>

#include "abi.h"
#include "check.h"
#include "fake.h"

static bool uar_used[FAKE_UARS];

/* A PD that has been made is one; with its number, of which nothing depends. */
static int pd_query(struct ibv_command_buffer *cmd)
{
	struct ib_uverbs_attr *attr = cmd->hdr.attrs;
	struct xenib_alloc_pd_resp *resp = (void *)(uintptr_t)attr[1].data;

	REQUIRE(cmd->hdr.method_id == XENIB_METHOD_PD_QUERY &&
		attr[0].attr_id == XENIB_ATTR_PD_QUERY_HANDLE &&
		attr[1].attr_id == XENIB_ATTR_PD_QUERY_RESP && attr[1].len == sizeof(*resp));
	if (!attr[0].data || attr[0].data > fake.made)
		return ENOENT;
	resp->pdn = 7;
	return fake_command();
}

/* An MR of a dma-buf: what is asked for comes behind the answers. */
static int dmabuf_mr(struct ibv_command_buffer *cmd)
{
	struct ib_uverbs_attr *attr = cmd->hdr.attrs;
	uint32_t handle;
	int err;

	REQUIRE(cmd->hdr.method_id == UVERBS_METHOD_REG_DMABUF_MR);
	REQUIRE(attr[4].attr_id == UVERBS_ATTR_REG_DMABUF_MR_OFFSET && attr[4].data == 4096 &&
		attr[5].attr_id == UVERBS_ATTR_REG_DMABUF_MR_LENGTH && attr[5].data == 8192 &&
		attr[6].attr_id == UVERBS_ATTR_REG_DMABUF_MR_IOVA && attr[6].data == 1 << 20 &&
		attr[7].attr_id == UVERBS_ATTR_REG_DMABUF_MR_FD && attr[7].data == 5);
	err = fake_make(&handle);
	if (err)
		return err;
	attr[0].data = handle;
	*(uint32_t *)(uintptr_t)attr[1].data = 0x11;
	*(uint32_t *)(uintptr_t)attr[2].data = 0x22;
	return 0;
}

/* Doorbell pages: ioctls of the driver's own, as are the one that waits for RTS and the one that makes a CQ. */
static int uar_alloc(struct ibv_command_buffer *cmd)
{
	struct ib_uverbs_attr *attr = cmd->hdr.attrs;
	struct xenib_uar_alloc_resp *resp = (void *)(uintptr_t)attr[2].data;
	uint32_t i = 0;
	int err;

	REQUIRE(attr[0].attr_id == XENIB_ATTR_UAR_ALLOC_HANDLE &&
		attr[1].attr_id == XENIB_ATTR_UAR_ALLOC_TYPE &&
		attr[2].attr_id == XENIB_ATTR_UAR_ALLOC_RESP && attr[2].len == sizeof(*resp));
	err = fake_command();
	if (err)
		return err;
	while (i < FAKE_UARS && uar_used[i])
		i++;
	if (i >= fake.max_uars)
		return ENOMEM;

	uar_used[i] = true;
	fake.uars++;
	attr[0].data = 100 + i;
	*resp = (struct xenib_uar_alloc_resp){
		.mmap_offset = (uint64_t)i * 4096,
		.index = i,
		.bf_size = attr[1].data == XENIB_UAR_BF ? fake.bf_size : 0,
		.bf_offset = fake.bf_offset,
	};
	return 0;
}

/* All deferred CQs are one to the fake kernel. */
static int cq_make(struct ibv_command_buffer *cmd)
{
	struct ib_uverbs_attr *attr = cmd->hdr.attrs;
	struct xenib_create_cq_resp *resp = (void *)(uintptr_t)attr[1].data;
	int err;

	REQUIRE(cmd->hdr.method_id == XENIB_METHOD_CQ_MAKE &&
		attr[0].attr_id == XENIB_ATTR_CQ_MAKE_HANDLE &&
		attr[1].attr_id == XENIB_ATTR_CQ_MAKE_RESP && attr[1].len == sizeof(*resp));
	fake.cqs_made++;
	err = fake_command();
	if (!err)
		*resp = (struct xenib_create_cq_resp){ .cqn = FAKE_CQN };
	return err;
}

static int clock_query(struct ibv_command_buffer *cmd)
{
	struct ib_uverbs_attr *attr = cmd->hdr.attrs;
	uint64_t *ticks = (void *)(uintptr_t)attr->data;
	int err;

	REQUIRE(cmd->hdr.method_id == XENIB_METHOD_CLOCK_QUERY &&
		attr->attr_id == XENIB_ATTR_CLOCK_QUERY_TICKS && attr->len == sizeof(*ticks));
	err = fake_command();
	if (!err)
		*ticks = FAKE_TICKS;
	return err;
}

int execute_ioctl(struct ibv_context *context, struct ibv_command_buffer *cmd)
{
	uint32_t i;

	(void)context;
	if (cmd->hdr.object_id == UVERBS_OBJECT_QP) {
		REQUIRE(cmd->hdr.method_id == XENIB_METHOD_QP_AWAIT);
		fake.awaits++;
		return fake_command();
	}
	if (cmd->hdr.object_id == UVERBS_OBJECT_DEVICE)
		return clock_query(cmd);
	if (cmd->hdr.object_id == UVERBS_OBJECT_PD)
		return pd_query(cmd);
	if (cmd->hdr.object_id == UVERBS_OBJECT_MR)
		return dmabuf_mr(cmd);
	if (cmd->hdr.object_id == UVERBS_OBJECT_CQ)
		return cq_make(cmd);
	REQUIRE(cmd->hdr.object_id == XENIB_OBJECT_UAR);
	if (cmd->hdr.method_id == XENIB_METHOD_UAR_ALLOC)
		return uar_alloc(cmd);

	REQUIRE(cmd->hdr.method_id == XENIB_METHOD_UAR_FREE);
	i = cmd->hdr.attrs[0].data - 100;
	REQUIRE(i < FAKE_UARS && uar_used[i]);
	uar_used[i] = false;
	fake.uars--;
	return 0;
}
