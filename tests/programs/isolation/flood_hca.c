// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Floods of what an HCA has to look up: messages that each use another QP and another MR, whose contexts no cache has.
 */
#include "flood.h"
#include "verbs_pair.h"

#define PAIRS 64
#define REGIONS 4 /* of each pair; a page each */
#define PAGE 4096
#define LENGTH 8

struct place {
	struct vp_pair pair;
	struct ibv_mr *mr[REGIONS];
};

static struct place places[PAIRS];
static uint8_t memory[PAIRS][REGIONS][PAGE] __attribute__((aligned(PAGE)));

static void place_make(struct place *place, uint8_t pages[REGIONS][PAGE], struct vp_dev *dev,
		       const struct vp_conf *conf)
{
	int i;

	vp_pair_make(&place->pair, dev, dev, conf);
	for (i = 0; i < REGIONS; i++) {
		place->mr[i] = ibv_reg_mr(place->pair.b.pd, pages[i], PAGE, VP_ACCESS_ALL);
		require(place->mr[i], "register memory");
	}
}

static void place_free(struct place *place)
{
	int i;

	for (i = 0; i < REGIONS; i++)
		require(!ibv_dereg_mr(place->mr[i]), "deregister it");
	vp_pair_free(&place->pair);
}

static void write_to(struct place *place, const struct ibv_mr *mr)
{
	struct vp_end *end = &place->pair.a;
	struct vp_wr w;

	vp_wr(&w, end, IBV_WR_RDMA_WRITE, 0, LENGTH);
	w.wr.wr.rdma.remote_addr = (uintptr_t)mr->addr;
	w.wr.wr.rdma.rkey = mr->rkey;
	vp_send(end, &w.wr);
}

/* A write into each region, none by the QP of the one before it. */
static unsigned long write_everywhere(void *arg)
{
	struct ibv_wc wc;
	int p, r;

	(void)arg;
	for (r = 0; r < REGIONS; r++) {
		for (p = 0; p < PAIRS; p++)
			write_to(&places[p], places[p].mr[r]);
		for (p = 0; p < PAIRS; p++)
			require(vp_poll_for(&places[p].pair.a.scq, &wc, opt.deadline_ms),
				"it was written");
	}
	return PAIRS * REGIONS;
}

static void run_misses(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct vp_dev dev;
	int p;

	(void)arg;
	conf.cqe = 3;
	conf.len = PAGE;
	vp_open(&dev, 0);
	for (p = 0; p < PAIRS; p++)
		place_make(&places[p], memory[p], &dev, &conf);
	flood(write_everywhere, NULL, "writes, each by another QP into another MR");
	for (p = 0; p < PAIRS; p++)
		place_free(&places[p]);
	vp_close(&dev);
}

static const struct check_case cases[] = {
	FLOOD_CASE("misses", run_misses, "messages that each use another QP and another MR"),
};

const struct check_table flood_hca = { cases, ARRAY_SIZE(cases) };
