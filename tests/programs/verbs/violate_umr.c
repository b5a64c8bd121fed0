// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Keys that a program rewrites by itself (UMR), as no library would: the WQE that binds a window lies in the program's own
 * memory, so it can make another one of it before the HCA reads it.
 *
 * An MR's key holds bus addresses. A program that could write those would read all memory of the machine, of dom0 and of
 * other guests as well. Nothing between the program and the HCA sees such a WQE, so the HCA alone can refuse it.
 *
 * For HCAs whose WQEs are those of mlx5.
 */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <infiniband/mlx5dv.h>

#include "violate.h"

#define PAGE 4096
#define PAGES 8
#define SPY_AT 0x100000u /* a bus address, of memory that is hardly this program's */
#define UMR_OFFSET (1 << 4)
#define UMR_INLINE (1 << 7)

/* The WQE that binds a window, by libmlx5 and by the provider of xenib. */
struct bind_wqe {
	struct mlx5_wqe_ctrl_seg ctrl;
	struct mlx5_wqe_umr_ctrl_seg umr;
	struct mlx5_wqe_mkey_context_seg context;
	union {
		struct mlx5_wqe_umr_klm_seg klm;
		uint64_t mtt[PAGES];
	} entries;
};

/* What a WQE is changed to, for the key of an MR. */
struct rewrite {
	uint64_t mask;  /* of the key's fields that it changes */
	bool addresses; /* writes bus addresses into the key's table */
};

struct umr {
	struct vio v;
	struct vp_conf conf;
	struct ibv_mw *mw;
	uint8_t *memory;
	struct ibv_mr *mr;
};

static void umr_begin(struct umr *u)
{
	memset(u, 0, sizeof(*u));
	u->conf = vp_conf(IBV_QPT_RC);
	u->conf.wr_api = true;
	u->conf.mr_access |= IBV_ACCESS_MW_BIND;
	vio_open(&u->v);
	vp_need_mw(&u->v.dev_b);
	vio_pair(&u->v, &u->conf);
	u->memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	require(u->memory != MAP_FAILED, "map memory");
	u->mr = ibv_reg_mr(u->v.pair.b.pd, u->memory, PAGES * PAGE, VP_ACCESS_ALL);
	require(u->mr, "register it");
	u->mw = ibv_alloc_mw(u->v.pair.b.pd, IBV_MW_TYPE_2);
	require(u->mw, "allocate a window");
}

static void umr_end(struct umr *u)
{
	require(!ibv_dealloc_mw(u->mw), "deallocate the window");
	require(!ibv_dereg_mr(u->mr), "deregister the memory");
	munmap(u->memory, PAGES * PAGE);
	vio_end(&u->v);
}

static bool is_wqe(const struct bind_wqe *wqe, const struct umr *u)
{
	return (be32toh(wqe->ctrl.opmod_idx_opcode) & 0xff) == MLX5_OPCODE_UMR &&
	       be32toh(wqe->ctrl.imm) == u->mw->rkey &&
	       be32toh(wqe->entries.klm.mkey) == u->v.pair.b.mr->lkey &&
	       be64toh(wqe->entries.klm.address) == (uintptr_t)u->v.pair.b.buf;
}

/* The WQE of this binding, somewhere in the process's memory. */
static struct bind_wqe *find_wqe(const struct umr *u)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	struct bind_wqe *found = NULL;
	uintptr_t at, end;
	char line[512];

	require(maps, "read the process's map");
	while (!found && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " rw-p", &at, &end) != 2 ||
		    !strstr(line, " rw-p "))
			continue;
		for (; !found && at + sizeof(*found) <= end; at += MLX5_SEND_WQE_BB)
			if (is_wqe((const void *)at, u))
				found = (void *)at;
	}
	fclose(maps);
	if (!found)
		skip("the send queue is not of mlx5's kind");
	return found;
}

static void rewrite(struct bind_wqe *wqe, const struct rewrite *r, const struct umr *u)
{
	unsigned int i;

	wqe->ctrl.imm = htobe32(u->mr->lkey);
	wqe->umr.flags = UMR_INLINE | UMR_OFFSET;
	wqe->umr.mkey_mask = htobe64(r->mask);
	wqe->umr.klm_octowords = 0;
	if (!r->addresses)
		return;
	wqe->umr.klm_octowords = htobe16(PAGES / 2);
	for (i = 0; i < PAGES; i++)
		wqe->entries.mtt[i] = htobe64((SPY_AT + (uint64_t)i * PAGE) | 3);
}

/* Binds the window to the first page of the buffer, with the WQE as it is, or changed to @r. Returns the status. */
static enum ibv_wc_status bind(struct umr *u, const struct rewrite *r)
{
	struct vp_end *b = &u->v.pair.b;
	const struct ibv_mw_bind_info info = { b->mr, (uintptr_t)b->buf, PAGE,
					       IBV_ACCESS_REMOTE_WRITE };
	uint32_t rkey = ibv_inc_rkey(u->mw->rkey);
	struct bind_wqe *wqe;
	struct ibv_wc wc;

	ibv_wr_start(b->qpx);
	b->qpx->wr_id = 0xb13d;
	b->qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_bind_mw(b->qpx, u->mw, rkey, &info);
	wqe = find_wqe(u);
	if (r)
		rewrite(wqe, r, u);
	errno = ibv_wr_complete(b->qpx);
	require(!errno, "post the WQE (%s)", strerror(errno));
	require(vp_poll_for(&b->scq, &wc, opt.deadline_ms), "it completes");
	check(wc.wr_id == 0xb13d, "and nothing before it");
	return wc.status;
}

/* Says what can be seen through the key. */
static void spy(struct umr *u)
{
	struct vp_end *b = &u->v.pair.b;
	enum ibv_wc_status status;
	struct vp_wr w;

	vp_wr(&w, b, IBV_WR_RDMA_WRITE, 0, PAGE);
	w.sge[0].addr = (uintptr_t)u->memory;
	w.sge[0].lkey = u->mr->lkey;
	vp_send(b, &w.wr);
	require(vp_status_for(&b->scq, &status, opt.deadline_ms), "the key is used");
	note("through the key: %s, %016" PRIx64 " %016" PRIx64, ibv_wc_status_str(status),
	     be64toh(*(uint64_t *)u->v.pair.a.buf), be64toh(*(uint64_t *)(u->v.pair.a.buf + 8)));
}

/* The neighbour, which is in the same PD, writes to the MR and reads it. */
static void mr_is_as_it_was(struct umr *u)
{
	struct vp_end *from = &u->v.neighbour.a;
	uint64_t pattern = vp_fresh();
	struct vp_wr w;

	vp_fill(from->buf, PAGE, pattern);
	vp_wr(&w, from, IBV_WR_RDMA_WRITE, 0, PAGE);
	w.wr.wr.rdma.remote_addr = (uintptr_t)u->memory + PAGE;
	w.wr.wr.rdma.rkey = u->mr->rkey;
	vp_send(from, &w.wr);
	vp_expect(&from->scq, w.wr.wr_id, IBV_WC_SUCCESS, "a write to the MR");
	check(vp_differs(u->memory + PAGE, PAGE, pattern) < 0, "every byte is where the MR is");
}

static void refused(const void *arg)
{
	enum ibv_wc_status status;
	struct umr u;

	umr_begin(&u);
	/* The WQE is the one that is meant: unchanged, it binds the window. */
	status = bind(&u, NULL);
	require(status == IBV_WC_SUCCESS, "the window is bound (got \"%s\")",
		ibv_wc_status_str(status));
	u.mw->rkey = ibv_inc_rkey(u.mw->rkey);
	status = bind(&u, arg);
	check(status == IBV_WC_MW_BIND_ERR, "the HCA refuses it (got \"%s\")",
	      ibv_wc_status_str(status));
	if (status == IBV_WC_SUCCESS)
		spy(&u);
	else
		vio_expect_dead(&u.v.pair.b, "the QP that tried");
	mr_is_as_it_was(&u);
	umr_end(&u);
}

#define CASE(name, what, ...) \
	CHECK_CASE(name, refused, what, .arg = (&(const struct rewrite){ __VA_ARGS__ }))

static const struct check_case cases[] = {
	CASE("umr-addresses", "bus addresses written into the key of an MR", .addresses = true),
	CASE("umr-length", "the key of an MR made longer", .mask = MLX5_WQE_UMR_CTRL_MKEY_MASK_LEN),
	CASE("umr-rights", "rights added to the key of an MR",
	     .mask = MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_REMOTE_WRITE |
		     MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_LOCAL_WRITE),
};

const struct check_table violate_umr = { .cases = cases, .count = ARRAY_SIZE(cases) };
