// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a device of the personality "mlx5" is asked beyond what libmlx5 asks for it: structures cut and prolonged, flags of
 * what is not offered, methods and mappings of mlx5_ib that are not there.
 *
 * The driver: EINVAL for a part that is too short, for reserved fields and for what contradicts itself, EOPNOTSUPP for what a
 * card could do. The core: EPROTONOSUPPORT for an object or method that the driver has not.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#include "forge.h"
#include "uabi_mlx5.h"

#define MORE 32 /* bytes behind a structure */
#define WHAT 96

/* -- contexts -- */

struct context_req {
	struct mlx5_ib_alloc_ucontext_req_v2 req;
	uint8_t more[MORE];
};

static int ask_context(struct forge *f, const struct context_req *req, uint32_t len)
{
	struct mlx5_ib_alloc_ucontext_resp resp;
	int fd = uverbs_open(f->device), err;

	require(fd >= 0, "open the device");
	err = uabi_mlx5_context(fd, len, req, &resp);
	close(fd);
	return err;
}

static struct context_req good_context(void)
{
	return (struct context_req){ .req = uabi_mlx5_good_context() };
}

static void refuse_context(struct forge *f, const struct context_req *req, const char *what)
{
	REFUSED(f, ask_context(f, req, sizeof(req->req)), what, EOPNOTSUPP);
}

static void run_context(const void *arg)
{
	const uint32_t flags[] = { MLX5_IB_ALLOC_UCTX_DEVX, 2, 1u << 31 };
	struct context_req req;
	struct forge f;
	uint32_t len;
	size_t i;

	(void)arg;
	forge_begin_mlx5(&f);
	req = good_context();
	for (len = 4; len < sizeof(req.req); len += 4)
		REFUSED_QUICK(ask_context(&f, &req, len), "a context with a request cut short",
			      EINVAL);
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		req = good_context();
		req.req.flags = flags[i];
		refuse_context(&f, &req, "a context with DEVX, or another flag");
	}
	req = good_context();
	req.req.comp_mask = 1;
	refuse_context(&f, &req, "a context with a field that does not exist");
	req = good_context();
	req.req.reserved2 = 1;
	refuse_context(&f, &req, "a context with a reserved field");
	req = good_context();
	req.req.max_cqe_version = 0;
	refuse_context(&f, &req, "a library with old CQEs");
	req = good_context();
	req.req.lib_caps = MLX5_LIB_CAP_4K_UAR;
	refuse_context(&f, &req, "a library without dynamic doorbell pages");
	req = good_context();
	req.more[MORE - 1] = 1;
	REFUSED(&f, ask_context(&f, &req, sizeof(req)), "a context with more than is known",
		EOPNOTSUPP);
	req.more[MORE - 1] = 0;
	require(!ask_context(&f, &req, sizeof(req)), "a context with more zeros than is known");
	forge_end(&f);
}

/* -- queues -- */

struct cq_req {
	struct mlx5_ib_create_cq req;
	uint8_t more[MORE];
};

struct srq_req {
	struct mlx5_ib_create_srq req;
	uint8_t more[MORE];
};

struct qp_req {
	struct mlx5_ib_create_qp req;
	uint8_t more[MORE];
};

static int ask_cq(struct forge *f, struct cq_req *driver, size_t len)
{
	struct ib_uverbs_create_cq_resp rsp = { 0 };
	struct mlx5_ib_create_cq_resp result;
	struct xenib_create_cq_req unused;
	struct ib_uverbs_create_cq core;
	int err;

	uabi_good_cq(&f->set, &core, &unused);
	err = uverbs_write(f->fd, IB_USER_VERBS_CMD_CREATE_CQ,
			   &(struct uverbs_msg){ &core, sizeof(core), driver, len },
			   &(struct uverbs_msg){ &rsp, sizeof(rsp), &result, sizeof(result) });
	if (!err)
		require(!uabi_destroy(f->fd, IB_USER_VERBS_CMD_DESTROY_CQ, rsp.cq_handle),
			"destroy the CQ");
	return err;
}

static int ask_srq(struct forge *f, struct srq_req *driver, size_t len)
{
	struct ib_uverbs_create_srq_resp rsp = { 0 };
	struct mlx5_ib_create_srq_resp result;
	struct xenib_create_srq_req unused;
	struct ib_uverbs_create_srq core;
	int err;

	uabi_good_srq(&f->set, &core, &unused);
	err = uverbs_write(f->fd, IB_USER_VERBS_CMD_CREATE_SRQ,
			   &(struct uverbs_msg){ &core, sizeof(core), driver, len },
			   &(struct uverbs_msg){ &rsp, sizeof(rsp), &result, sizeof(result) });
	if (!err)
		require(!uabi_destroy(f->fd, IB_USER_VERBS_CMD_DESTROY_SRQ, rsp.srq_handle),
			"destroy the SRQ");
	return err;
}

static int ask_qp(struct forge *f, struct qp_req *driver, size_t len)
{
	struct ib_uverbs_create_qp_resp rsp = { 0 };
	struct mlx5_ib_create_qp_resp result;
	struct xenib_create_qp_req unused;
	struct ib_uverbs_create_qp core;
	int err;

	uabi_good_qp(&f->set, &core, &unused);
	err = uverbs_write(f->fd, IB_USER_VERBS_CMD_CREATE_QP,
			   &(struct uverbs_msg){ &core, sizeof(core), driver, len },
			   &(struct uverbs_msg){ &rsp, sizeof(rsp), &result, sizeof(result) });
	if (!err)
		require(!uabi_destroy(f->fd, IB_USER_VERBS_CMD_DESTROY_QP, rsp.qp_handle),
			"destroy the QP");
	return err;
}

static struct cq_req good_cq(struct forge *f)
{
	struct ib_uverbs_create_cq core;
	struct xenib_create_cq_req req;

	uabi_good_cq(&f->set, &core, &req);
	return (struct cq_req){ .req = uabi_mlx5_cq(&req) };
}

static struct srq_req good_srq(struct forge *f)
{
	struct ib_uverbs_create_srq core;
	struct xenib_create_srq_req req;

	uabi_good_srq(&f->set, &core, &req);
	return (struct srq_req){ .req = uabi_mlx5_srq(&req) };
}

static struct qp_req good_qp(struct forge *f)
{
	struct ib_uverbs_create_qp core;
	struct xenib_create_qp_req req;

	uabi_good_qp(&f->set, &core, &req);
	return (struct qp_req){ .req = uabi_mlx5_qp(&req) };
}

/* Each kind of queue with its structure cut at each word, up to what is needed of it; then all of it, and zeros behind it. */
#define TRY_LENGTHS(f, kind, needed) \
	do { \
		struct kind##_req _req = good_##kind(f); \
		size_t _n; \
		for (_n = 0; _n < (needed); _n += 4) \
			REFUSED_QUICK(ask_##kind(f, &_req, _n), "a " #kind " cut short", EINVAL); \
		for (; _n <= sizeof(_req); _n += 4) \
			require(!ask_##kind(f, &_req, _n), "a " #kind " of %zu bytes", _n); \
		_req.more[MORE - 1] = 1; \
		REFUSED(f, ask_##kind(f, &_req, sizeof(_req)), "more than is known of a " #kind, \
			EOPNOTSUPP); \
	} while (0)

static void run_lengths(const void *arg)
{
	struct forge f;

	(void)arg;
	forge_begin_mlx5(&f);
	TRY_LENGTHS(&f, cq, offsetof(struct mlx5_ib_create_cq, uar_page_index) + 2);
	TRY_LENGTHS(&f, srq, offsetof(struct mlx5_ib_create_srq, flags) + 4);
	TRY_LENGTHS(&f, qp, offsetof(struct mlx5_ib_create_qp, bfreg_index) + 4);
	forge_end(&f);
}

#define REFUSE(f, kind, change, err) \
	do { \
		struct kind##_req _req = good_##kind(f); \
		_req.req.change; \
		REFUSED_QUICK(ask_##kind(f, &_req, sizeof(_req.req)), "a " #kind " with " #change, \
			      err); \
	} while (0)

static void run_fields(const void *arg)
{
	const uint32_t taken = MLX5_QP_FLAG_SCATTER_CQE | MLX5_QP_FLAG_ALLOW_SCATTER_CQE |
			       MLX5_QP_FLAG_UAR_PAGE_INDEX;
	struct forge f;
	unsigned int i;

	(void)arg;
	forge_begin_mlx5(&f);
	for (i = 0; i < 16; i++)
		REFUSE(&f, cq, flags ^= 1u << i, EOPNOTSUPP);
	REFUSE(&f, cq, cqe_comp_en = 1, EOPNOTSUPP);
	REFUSE(&f, cq, cqe_comp_res_format = 1, EINVAL);
	REFUSE(&f, cq, reserved0 = 1, EINVAL);
	REFUSE(&f, cq, reserved1 = 1, EINVAL);
	REFUSE(&f, cq, uar_page_index = 0xffff, EINVAL);

	for (i = 0; i < 32; i++)
		REFUSE(&f, srq, flags = 1u << i, EOPNOTSUPP);
	REFUSE(&f, srq, reserved0 = 1, EINVAL);
	REFUSE(&f, srq, reserved1 = 1, EINVAL);
	REFUSE(&f, srq, uidx = 1u << 24, EINVAL);

	REFUSE(&f, qp, flags &= ~MLX5_QP_FLAG_UAR_PAGE_INDEX, EOPNOTSUPP);
	for (i = 0; i < 32; i++)
		if (!(taken & 1u << i))
			REFUSE(&f, qp, flags |= 1u << i, EOPNOTSUPP);
	REFUSE(&f, qp, sq_buf_addr = (uintptr_t)f.set.memory, EOPNOTSUPP);
	REFUSE(&f, qp, ece_options = 0x10000000, EOPNOTSUPP);
	REFUSE(&f, qp, dci_streams.log_num_concurent = 1, EOPNOTSUPP);
	REFUSE(&f, qp, dci_streams.log_num_errored = 1, EOPNOTSUPP);
	REFUSE(&f, qp, reserved = 1, EINVAL);
	REFUSE(&f, qp, bfreg_index = 0xffffffff, EINVAL);
	REFUSE(&f, qp, uidx = 1u << 24, EINVAL);
	beside_works(&f.beside, "fields that are refused");
	forge_end(&f);
}

/* -- doorbell pages -- */

enum { PAGE_HANDLE, PAGE_TYPE, PAGE_OFFSET, PAGE_LENGTH, PAGE_INDEX, PAGE_ARGS };

struct page_answer {
	uint64_t offset;
	uint32_t length, index;
};

static void good_page(struct uverbs_arg args[PAGE_ARGS], struct page_answer *to)
{
	memset(to, 0, sizeof(*to));
	args[PAGE_HANDLE] = (struct uverbs_arg){ MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, 0, 0 };
	args[PAGE_TYPE] = (struct uverbs_arg){ MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, 8,
					       MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC };
	args[PAGE_OFFSET] = (struct uverbs_arg){ MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, 8,
						 (uintptr_t)&to->offset };
	args[PAGE_LENGTH] = (struct uverbs_arg){ MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, 4,
						 (uintptr_t)&to->length };
	args[PAGE_INDEX] =
		(struct uverbs_arg){ MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, 4, (uintptr_t)&to->index };
}

static int ask_page(struct forge *f, struct uverbs_arg *args, unsigned int n)
{
	return uverbs_ioctl(f->fd, RDMA_DRIVER_MLX5, MLX5_IB_OBJECT_UAR,
			    MLX5_IB_METHOD_UAR_OBJ_ALLOC, args, n);
}

static void run_pages(const void *arg)
{
	const uint64_t types[] = { 2, 3, 0x7fffffff, 0x80000000, 1ull << 32, ~0ull };
	struct xenib_uar_alloc_resp resp;
	struct uverbs_arg args[PAGE_ARGS];
	struct page_answer to;
	struct forge f;
	uint32_t uar;
	size_t i;

	(void)arg;
	forge_begin_mlx5(&f);
	for (i = 0; i < PAGE_ARGS; i++) {
		good_page(args, &to);
		args[i] = args[PAGE_ARGS - 1];
		REFUSED(&f, ask_page(&f, args, PAGE_ARGS - 1), "an attribute that is missing",
			EINVAL);
	}
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		good_page(args, &to);
		args[PAGE_TYPE].data = types[i];
		REFUSED(&f, ask_page(&f, args, PAGE_ARGS), "a type of page that does not exist",
			EINVAL, EOPNOTSUPP);
	}
	for (i = PAGE_OFFSET; i < PAGE_ARGS; i++) {
		good_page(args, &to);
		args[i].data = (uintptr_t)f.set.memory + UABI_SET_PAGES * UABI_PAGE;
		REFUSED(&f, ask_page(&f, args, PAGE_ARGS), "an answer into a hole", EFAULT);
	}
	require(!uabi_alloc_uar(f.fd, XENIB_UAR_NC, &uar, &resp), "a page in the right way");
	check(resp.index == f.set.uar_index + 1,
	      "nothing is left of the attempts (the next index is %u)", resp.index);
	require(!uabi_free_uar(f.fd, uar), "free it");
	forge_end(&f);
}

/* The page is gone for new queues at once, and for the old ones with the last of them. */
static void run_freed_in_use(const void *arg)
{
	struct xenib_create_cq_req driver;
	struct ib_uverbs_create_cq core;
	struct xenib_uar_alloc_resp resp;
	struct uabi_set set;
	struct forge f;
	uint32_t cq;
	int i;

	(void)arg;
	forge_begin_mlx5(&f);
	for (i = 0; i < 3; i++) {
		require(!uabi_make(f.fd, &set), "another set of objects");
		require(!uabi_free_uar(f.fd, set.uar), "free its page under its queues");
		uabi_good_cq(&set, &core, &driver);
		REFUSED(&f, uabi_create_cq(f.fd, &core, &driver, &cq), "a CQ on it", EINVAL);
		REFUSED(&f, uabi_free_uar(f.fd, set.uar), "to free it once more", ENOENT);
		check(!uabi_query_qp(f.fd, set.qp), "the QP is there still");
		require(!uabi_alloc_uar(f.fd, XENIB_UAR_NC, &set.uar, &resp),
			"a page in its place");
		check(resp.index == set.uar_index, "it has the same index (%u)", resp.index);
		require(!uabi_unmake(f.fd, &set), "destroy them all");
	}
	forge_end(&f);
}

/* -- what is not there -- */

static void run_objects(const void *arg)
{
	const uint16_t objects[] = {
		MLX5_IB_OBJECT_DEVX,
		MLX5_IB_OBJECT_DEVX_OBJ,
		MLX5_IB_OBJECT_DEVX_UMEM,
		MLX5_IB_OBJECT_FLOW_MATCHER,
		MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD,
		MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD,
		MLX5_IB_OBJECT_VAR,
		MLX5_IB_OBJECT_PP,
		MLX5_IB_OBJECT_STEERING_ANCHOR,
	};
	struct uverbs_arg args[] = { { 1u << 12, 8, 0 }, { (1u << 12) + 1, 8, 0 } };
	struct forge f;
	char what[WHAT];
	uint16_t method;
	size_t i;

	(void)arg;
	forge_begin_mlx5(&f);
	for (i = 0; i < ARRAY_SIZE(objects); i++) {
		for (method = 1u << 12; method < (1u << 12) + 8; method++) {
			snprintf(what, sizeof(what), "object %#x, method %#x", objects[i], method);
			REFUSED_QUICK(uverbs_ioctl(f.fd, RDMA_DRIVER_MLX5, objects[i], method, args,
						   ARRAY_SIZE(args)),
				      what, EPROTONOSUPPORT);
		}
		beside_works(&f.beside, "objects that are not offered");
	}
	forge_end(&f);
}

/* The commands of mlx5_ib's mmap(): in bits 8 and up of the page's number. */
static void run_mappings(const void *arg)
{
	struct forge f;
	uint64_t offset;
	char what[WHAT];
	unsigned int i;
	void *at;

	(void)arg;
	forge_begin_mlx5(&f);
	for (i = 0; i <= MLX5_IB_MMAP_DEVICE_MEM; i++) {
		offset = ((uint64_t)i << 8) * UABI_PAGE;
		at = mmap(NULL, UABI_PAGE, PROT_WRITE, MAP_SHARED, f.fd, offset);
		snprintf(what, sizeof(what), "a mapping by command %u", i);
		REFUSED(&f, at == MAP_FAILED ? -errno : 0, what, EINVAL);
	}
	forge_end(&f);
}

static const struct check_case cases[] = {
	CHECK_CASE("mlx5-context", run_context,
		   "contexts that libmlx5 may ask for and does not get"),
	CHECK_CASE("mlx5-length", run_lengths, "requests of libmlx5 cut at every word, and longer"),
	CHECK_CASE("mlx5-field", run_fields, "flags of what is not offered, reserved fields"),
	CHECK_CASE("mlx5-page", run_pages, "doorbell pages asked for in wrong ways"),
	CHECK_CASE("mlx5-page-in-use", run_freed_in_use, "doorbell pages freed under queues"),
	CHECK_CASE("mlx5-object", run_objects, "objects of mlx5_ib that are not offered"),
	CHECK_CASE("mlx5-mmap", run_mappings, "mappings of mlx5_ib that are not offered"),
};

const struct check_table forge_mlx5 = { cases, ARRAY_SIZE(cases) };
