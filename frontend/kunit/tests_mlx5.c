// SPDX-License-Identifier: GPL-2.0
/*
 * tests_mlx5.c - KUnit cases of the personality "mlx5". What libmlx5 sends
 * (personality/mlx5_udata.c): messages of any length with any bytes are taken or refused as a model
 * of them says. How a device begins (personality/mlx5.c).
 */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <rdma/mlx5-abi.h>

#include "fixture.h"
#include "personality/mlx5.h"

#define ROUNDS 4000
#define LONGEST 128 /* bytes of a message, of which the last ones are unknown here */
#define CANARY 0x5a

/* A message, and what is made of it; what is not there is zero. */
union bytes {
	u8 byte[LONGEST];
	struct mlx5_ib_alloc_ucontext_req_v2 context;
	struct mlx5_ib_create_cq cq;
	struct mlx5_ib_create_srq srq;
	struct mlx5_ib_create_qp qp;
};

union made {
	u8 byte[64];
	struct xenib_create_cq_req cq;
	struct xenib_create_srq_req srq;
	struct xenib_create_qp_req qp;
};

/* The model of one: bits that may have any value; others are as in @fixed, or it is refused. */
struct message {
	size_t least; /* bytes */
	size_t known;
	union bytes fixed;
	union bytes any;
	int (*ask)(struct xenib_dev *dev, struct ib_udata *udata, union made *made);
	union made (*expected)(const union bytes *sent);
};

static int ask_context(struct xenib_dev *dev, struct ib_udata *udata, union made *made)
{
	return xenib_mlx5_context_req(dev, udata);
}

static union made expected_context(const union bytes *sent)
{
	return (union made){};
}

static int ask_cq(struct xenib_dev *dev, struct ib_udata *udata, union made *made)
{
	return xenib_mlx5_cq_req(dev, udata, &made->cq);
}

static union made expected_cq(const union bytes *sent)
{
	return (union made){ .cq = { .buf_addr = sent->cq.buf_addr,
				     .db_addr = sent->cq.db_addr,
				     .cqe_size = sent->cq.cqe_size,
				     .uar = sent->cq.uar_page_index } };
}

static int ask_srq(struct xenib_dev *dev, struct ib_udata *udata, union made *made)
{
	return xenib_mlx5_srq_req(dev, udata, &made->srq);
}

static union made expected_srq(const union bytes *sent)
{
	return (union made){ .srq = { .buf_addr = sent->srq.buf_addr,
				      .db_addr = sent->srq.db_addr,
				      .uidx = sent->srq.uidx } };
}

static int ask_qp(struct xenib_dev *dev, struct ib_udata *udata, union made *made)
{
	return xenib_mlx5_qp_req(dev, udata, &made->qp);
}

static union made expected_qp(const union bytes *sent)
{
	return (union made){ .qp = { .buf_addr = sent->qp.buf_addr,
				     .db_addr = sent->qp.db_addr,
				     .sq_wqe_count = sent->qp.sq_wqe_count,
				     .rq_wqe_count = sent->qp.rq_wqe_count,
				     .rq_wqe_shift = sent->qp.rq_wqe_shift,
				     .uidx = sent->qp.uidx,
				     .uar = sent->qp.bfreg_index } };
}

static const struct message context = {
	.least = 32,
	.known = 32,
	.fixed.context = { .lib_caps = MLX5_LIB_CAP_DYN_UAR },
	.any.context = { .total_num_bfregs = ~0,
			 .num_low_latency_bfregs = ~0,
			 .max_cqe_version = 0xff,
			 .lib_caps = ~(u64)MLX5_LIB_CAP_DYN_UAR },
	.ask = ask_context,
	.expected = expected_context,
};

static const struct message cq = {
	.least = 26,
	.known = 32,
	.fixed.cq = { .flags = MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX },
	.any.cq = { .buf_addr = ~0ULL, .db_addr = ~0ULL, .cqe_size = ~0, .uar_page_index = 0xffff },
	.ask = ask_cq,
	.expected = expected_cq,
};

static const struct message srq = {
	.least = 20,
	.known = 32,
	.any.srq = { .buf_addr = ~0ULL, .db_addr = ~0ULL, .uidx = 0xffffff },
	.ask = ask_srq,
	.expected = expected_srq,
};

static const struct message qp = {
	.least = 40,
	.known = 56,
	.fixed.qp = { .flags = MLX5_QP_FLAG_UAR_PAGE_INDEX },
	.any.qp = { .buf_addr = ~0ULL,
		    .db_addr = ~0ULL,
		    .sq_wqe_count = ~0,
		    .rq_wqe_count = ~0,
		    .rq_wqe_shift = ~0,
		    .uidx = ~0,
		    .bfreg_index = ~0,
		    .flags = MLX5_QP_FLAG_SCATTER_CQE | MLX5_QP_FLAG_ALLOW_SCATTER_CQE },
	.ask = ask_qp,
	.expected = expected_qp,
};

/* What user space gives ends where memory ends: one byte beyond is a fault. */
static u8 __user *last_bytes(struct fixture *fixture, unsigned long page, size_t len)
{
	return (u8 __user *)fixture->buf + (page + 1) * PAGE_SIZE - len;
}

/* A good message, with up to three bytes of it, or behind it, changed. */
static void make(const struct message *message, union bytes *bytes)
{
	unsigned int i, place;

	get_random_bytes(bytes->byte, LONGEST);
	for (i = 0; i < LONGEST; i++)
		bytes->byte[i] = (bytes->byte[i] & message->any.byte[i]) | message->fixed.byte[i];
	for (i = get_random_u32_below(4); i; i--) {
		place = get_random_u32_below(message->known + message->known / 2);
		if (get_random_u32_below(2))
			bytes->byte[place] ^= 1U << get_random_u32_below(8);
		else
			bytes->byte[place] = get_random_u8();
	}
}

static size_t some_length(const struct message *message)
{
	switch (get_random_u32_below(4)) {
	case 0:
		return get_random_u32_below(LONGEST + 1);
	case 1:
		return message->least - 1 + get_random_u32_below(3);
	case 2:
		return message->known - 1 + get_random_u32_below(3);
	default:
		return message->known;
	}
}

/* 0, or the error: of two for what is there and is not as it has to be. */
static bool as_expected(const struct message *message, const union bytes *sent, size_t len, int err)
{
	size_t i;

	if (len < message->least)
		return err == -EINVAL;
	for (i = message->known; i < len; i++)
		if (sent->byte[i])
			return err == -EOPNOTSUPP;
	for (i = 0; i < message->known; i++)
		if (((i < len ? sent->byte[i] : 0) & ~message->any.byte[i]) !=
		    message->fixed.byte[i])
			return err == -EINVAL || err == -EOPNOTSUPP;
	return !err;
}

static void put(struct kunit *test, const struct ib_udata *udata, const void *bytes)
{
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)udata->inbuf, bytes, udata->inlen), 0);
}

static void random_messages(struct kunit *test, const struct message *message)
{
	struct fixture *fixture = test->priv;
	u8 __user *before = last_bytes(fixture, 2, LONGEST);
	unsigned int taken = 0, round;
	struct ib_udata udata;
	union made made, expected;
	union bytes sent;
	u8 seen[LONGEST];
	int err;

	vm_munmap(fixture->buf + PAGE_SIZE, PAGE_SIZE);
	vm_munmap(fixture->buf + 3 * PAGE_SIZE, PAGE_SIZE);
	for (round = 0; round < ROUNDS; round++) {
		make(message, &sent);
		udata.inlen = some_length(message);
		udata.inbuf = last_bytes(fixture, 0, udata.inlen);
		udata.outlen = get_random_u32_below(LONGEST / 2);
		udata.outbuf = last_bytes(fixture, 2, udata.outlen);
		put(test, &udata, &sent);
		memset(seen, CANARY, sizeof(seen));
		KUNIT_ASSERT_EQ(test, copy_to_user(before, seen, LONGEST), 0);
		memset(&made, 0, sizeof(made));

		err = message->ask(fixture->dev, &udata, &made);
		KUNIT_ASSERT_TRUE_MSG(test, as_expected(message, &sent, udata.inlen, err),
				      "%zu bytes, %d: %*ph", udata.inlen, err, 64, sent.byte);
		KUNIT_ASSERT_EQ(test, copy_from_user(seen, before, LONGEST), 0);
		KUNIT_ASSERT_PTR_EQ(test, memchr_inv(seen, CANARY, LONGEST - udata.outlen), NULL);
		if (err)
			continue;
		taken++;
		memset(sent.byte + udata.inlen, 0, LONGEST - udata.inlen);
		expected = message->expected(&sent);
		KUNIT_ASSERT_EQ_MSG(test, memcmp(&made, &expected, sizeof(made)), 0, "%*ph", 64,
				    sent.byte);
	}
	/* A quarter of all have no change, and half of these are as long as it is known. */
	KUNIT_EXPECT_GT(test, taken, ROUNDS / 16);
	KUNIT_EXPECT_LT(test, taken, ROUNDS - ROUNDS / 16);
}

static void test_mlx5_context_req(struct kunit *test)
{
	random_messages(test, &context);
}

static void test_mlx5_cq_req(struct kunit *test)
{
	random_messages(test, &cq);
}

static void test_mlx5_srq_req(struct kunit *test)
{
	random_messages(test, &srq);
}

static void test_mlx5_qp_req(struct kunit *test)
{
	random_messages(test, &qp);
}

/* A library that does not know the HCA's CQEs gets no context. */
static void test_mlx5_cqe_version(struct kunit *test)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req = { .lib_caps = MLX5_LIB_CAP_DYN_UAR };
	struct fixture *fixture = test->priv;
	struct ib_udata udata = { .inlen = sizeof(req) };

	udata.inbuf = last_bytes(fixture, 0, sizeof(req));
	fixture->dev->attr.cqe_version = 1;
	put(test, &udata, &req);
	KUNIT_EXPECT_EQ(test, xenib_mlx5_context_req(fixture->dev, &udata), -EOPNOTSUPP);
	req.max_cqe_version = 1;
	put(test, &udata, &req);
	KUNIT_EXPECT_EQ(test, xenib_mlx5_context_req(fixture->dev, &udata), 0);
}

/* However much of the answer the library takes, it is told how much, and nothing comes beyond. */
static void test_mlx5_context_resp(struct kunit *test)
{
	struct mlx5_ib_alloc_ucontext_resp resp;
	struct fixture *fixture = test->priv;
	struct xenib_mlx5 mlx5 = { .bf_reg_size = 512, .dev = fixture->dev };
	struct ib_udata udata = {};
	u32 length = offsetof(typeof(resp), response_length);

	fixture->dev->mlx5 = &mlx5;
	vm_munmap(fixture->buf + PAGE_SIZE, PAGE_SIZE);
	for (udata.outlen = 0; udata.outlen <= sizeof(resp) + 16; udata.outlen++) {
		size_t there = min(udata.outlen, sizeof(resp));

		udata.outbuf = last_bytes(fixture, 0, udata.outlen);
		KUNIT_ASSERT_EQ(test, xenib_mlx5_context_resp(fixture->dev, &udata), 0);
		memset(&resp, 0, sizeof(resp));
		KUNIT_ASSERT_EQ(test, copy_from_user(&resp, udata.outbuf, there), 0);
		if (there >= length + sizeof(resp.response_length))
			KUNIT_EXPECT_EQ(test, resp.response_length, there);
		if (there >= sizeof(resp.qp_tab_size) + sizeof(resp.bf_reg_size))
			KUNIT_EXPECT_EQ(test, resp.bf_reg_size, 512);
	}
	fixture->dev->mlx5 = NULL;
}

/* Instead of uar.c, uar_revoke.c and those of personality/ that are not compiled in. */

static int uar_error;

int xenib_uar_offer(struct xenib_uar *uar)
{
	uar->bf_size = 256;
	return uar_error;
}

void xenib_uar_return(struct xenib_uar *uar)
{
}

void xenib_spaces_forget(struct xenib_context *ctx)
{
}

const struct uapi_definition xenib_mlx5_uar_defs[] = { {} };
const struct uapi_definition xenib_mlx5_import_defs[] = { {} };

int xenib_mlx5_query_context(struct ib_ucontext *ibuc, struct uverbs_attr_bundle *attrs)
{
	return -EOPNOTSUPP;
}

int xenib_mlx5_sysfs_add(struct xenib_mlx5 *mlx5)
{
	return 0;
}

void xenib_mlx5_sysfs_remove(struct xenib_mlx5 *mlx5)
{
}

/* Of a device that begins, and ends. */
static u32 bf_reg_size(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	u32 size;

	KUNIT_ASSERT_EQ(test, xenib_personality_mlx5.start(fixture->dev), 0);
	size = fixture->dev->mlx5->bf_reg_size;
	xenib_personality_mlx5.stop(fixture->dev);
	fixture->dev->mlx5 = NULL;
	return size;
}

/* Whatever the backend refuses, there is a device; if it is gone, there is none. */
static void test_mlx5_bf_size(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct kunit_backend *backend = &fixture->backend;

	uar_error = 0;
	KUNIT_EXPECT_EQ(test, bf_reg_size(test), 512);
	uar_error = -EOPNOTSUPP;
	KUNIT_EXPECT_EQ(test, bf_reg_size(test), 0);
	uar_error = -EIO;
	KUNIT_EXPECT_EQ(test, bf_reg_size(test), 0);
	KUNIT_EXPECT_EQ(test, backend->requests[XEN_VHCA_OP_CTX_OPEN], 3);
	KUNIT_EXPECT_EQ(test, backend->requests[XEN_VHCA_OP_CTX_CLOSE], 3);

	uar_error = 0;
	backend->refuse[XEN_VHCA_OP_CTX_OPEN] = XEN_VHCA_E_LIMIT;
	KUNIT_EXPECT_EQ(test, bf_reg_size(test), 0);
	KUNIT_EXPECT_EQ(test, backend->requests[XEN_VHCA_OP_CTX_CLOSE], 3);

	xenib_ring_kill(fixture->dev->ring);
	KUNIT_EXPECT_EQ(test, xenib_personality_mlx5.start(fixture->dev), -EIO);
}

static struct kunit_case mlx5_cases[] = {
	KUNIT_CASE(test_mlx5_context_req), KUNIT_CASE(test_mlx5_cq_req),
	KUNIT_CASE(test_mlx5_srq_req),     KUNIT_CASE(test_mlx5_qp_req),
	KUNIT_CASE(test_mlx5_cqe_version), KUNIT_CASE(test_mlx5_context_resp),
	KUNIT_CASE(test_mlx5_bf_size),     {},
};

static struct kunit_suite mlx5_suite = {
	.name = "xen-ibfront-mlx5",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = mlx5_cases,
};

kunit_test_suite(mlx5_suite);
