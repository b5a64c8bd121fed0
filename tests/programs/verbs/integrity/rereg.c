// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ibv_rereg_mr(): an MR gets other memory, other rights or another PD. What it was before is over, its keys included if
 * they have changed; what was not to change is as it was.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "integrity.h"

#define LEN (5 * 4096ul)
#define READ_ONLY (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ)

static void open_pair(struct fixture *fix)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);

	fixture_open(fix, &conf, LEN);
}

static uint8_t *buffer(void)
{
	uint8_t *at = aligned_alloc(4096, LEN);

	require(at, "memory");
	memset(at, 0, LEN);
	return at;
}

static struct ibv_mr *reg(struct vp_end *end, uint8_t *at, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(end->pd, at, LEN, access);

	require(mr, "register memory");
	return mr;
}

static void rereg(struct ibv_mr *mr, int flags, struct ibv_pd *pd, uint8_t *at, size_t len,
		  int access)
{
	int err = ibv_rereg_mr(mr, flags, pd, at, len, access);

	require(!err, "register it again: %d, errno %d", err, errno);
}

static void use(struct fixture *fix, uint8_t *at, struct ibv_mr *mr, size_t len)
{
	there_and_back(&fix->pair.a, fix->pair.a.buf, fix->pair.a.mr, at, (uintptr_t)at, mr, len);
}

/* A write there is refused, and not a byte changes. The pair is of no use afterwards. */
static void no_write(struct fixture *fix, uint8_t *at, uint32_t rkey, const char *what)
{
	uint64_t before = vp_fresh();
	struct vp_wr w;

	vp_fill(at, 64, before);
	vp_wr(&w, &fix->pair.a, IBV_WR_RDMA_WRITE, 0, 64);
	w.wr.wr.rdma.remote_addr = (uintptr_t)at;
	w.wr.wr.rdma.rkey = rkey;
	vp_send(&fix->pair.a, &w.wr);
	vp_expect(&fix->pair.a.scq, w.wr.wr_id, IBV_WC_REM_ACCESS_ERR, what);
	check(vp_differs(at, 64, before) < 0, "%s: the memory is as it was", what);
	vp_expect_qp_event(&fix->pair.b, IBV_EVENT_QP_ACCESS_ERR, "responder");
}

/* Other memory, longer and shorter by turns; then the first one is not reached by any key that the MR ever had. */
static void translation(const void *arg)
{
	uint8_t *at[] = { buffer(), buffer() };
	struct fixture fix;
	struct ibv_mr *mr;
	uint32_t first;
	int i;

	(void)arg;
	open_pair(&fix);
	mr = reg(&fix.pair.b, at[0], VP_ACCESS_ALL);
	first = mr->rkey;
	use(&fix, at[0], mr, LEN);
	for (i = 1; i < 6; i++) {
		size_t len = LEN - 4096 * (i % 3) - i;

		rereg(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, at[i % 2] + i, len, 0);
		check(mr->addr == at[i % 2] + i && mr->length == len, "the MR says what it is");
		use(&fix, at[i % 2] + i, mr, len);
	}
	no_write(&fix, at[0], first, "a write to the first memory by the first key");
	require(!ibv_dereg_mr(mr), "deregister");
	fixture_close(&fix);
	free(at[0]);
	free(at[1]);
}

/* Rights come and go, the memory stays. */
static void rights(const void *arg)
{
	uint8_t *at = buffer();
	struct fixture fix;
	struct ibv_mr *mr;
	uint32_t before;

	(void)arg;
	open_pair(&fix);
	mr = reg(&fix.pair.b, at, READ_ONLY);
	rereg(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, VP_ACCESS_ALL);
	use(&fix, at, mr, LEN);
	before = mr->rkey;
	rereg(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, READ_ONLY);
	no_write(&fix, at, before, "a write by the key from when that was allowed");
	require(!ibv_dereg_mr(mr), "deregister");
	fixture_close(&fix);
	free(at);
}

/* Into another PD and back; then into it with other memory and other rights. */
static void domain(const void *arg)
{
	uint8_t *at[] = { buffer(), buffer() };
	struct fixture fix;
	struct ibv_pd *pd;
	struct ibv_mr *mr;

	(void)arg;
	open_pair(&fix);
	pd = ibv_alloc_pd(fix.dev_b.ctx);
	require(pd, "another PD");
	mr = reg(&fix.pair.b, at[0], VP_ACCESS_ALL);
	rereg(mr, IBV_REREG_MR_CHANGE_PD, pd, NULL, 0, 0);
	check(mr->pd == pd, "the MR says which PD it is of");
	check(ibv_dealloc_pd(pd), "a PD with an MR is not deallocated");
	rereg(mr, IBV_REREG_MR_CHANGE_PD, fix.pair.b.pd, NULL, 0, 0);
	use(&fix, at[0], mr, LEN);
	rereg(mr,
	      IBV_REREG_MR_CHANGE_PD | IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_ACCESS,
	      pd, at[1], LEN, VP_ACCESS_ALL);
	no_write(&fix, at[1], mr->rkey, "a write by a QP of the first PD");
	require(!ibv_dereg_mr(mr), "deregister");
	require(!ibv_dealloc_pd(pd), "deallocate the PD");
	fixture_close(&fix);
	free(at[0]);
	free(at[1]);
}

/* What is refused leaves the MR as it was. */
static void refused(const void *arg)
{
	uint8_t *at = buffer();
	struct fixture fix;
	struct ibv_mr *mr;

	(void)arg;
	open_pair(&fix);
	mr = reg(&fix.pair.b, at, VP_ACCESS_ALL);
	check(ibv_rereg_mr(mr, 0, NULL, NULL, 0, 0), "nothing to change");
	check(ibv_rereg_mr(mr, 1 << 7, NULL, NULL, 0, 0), "a flag that there is not");
	check(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_REMOTE_WRITE),
	      "writing by others but not by the HCA");
	check(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, (void *)4096, LEN, 0),
	      "memory that is not there");
	use(&fix, at, mr, LEN);
	require(!ibv_dereg_mr(mr), "deregister");
	fixture_close(&fix);
	free(at);
}

static const struct check_case cases[] = {
	CHECK_CASE("rereg-translation", translation, "an MR gets other memory"),
	CHECK_CASE("rereg-rights", rights, "an MR gets other rights"),
	CHECK_CASE("rereg-domain", domain, "an MR moves to another PD"),
	CHECK_CASE("rereg-refused", refused, "what is refused changes nothing"),
};

const struct check_table integrity_rereg = { .cases = cases, .count = ARRAY_SIZE(cases) };
