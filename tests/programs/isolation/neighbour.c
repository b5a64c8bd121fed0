// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * neighbour: honest traffic, to run in one guest while something else misbehaves in another.
 */
#include <stdio.h>
#include <unistd.h>

#include "beside.h"

#define ROUNDS 20
#define PAUSE_MS 200 /* a neighbour is no flood */
#define HELD_BYTES (2 << 20)
#define TOLD_SECONDS \
	300 /* for a round of one who works until he is told; all of them last as long as what is beside them */

/* Registered all the time, and so hundreds of grant references, which somebody else may try. */
static uint8_t held[HELD_BYTES];

static void work(unsigned long rounds)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	unsigned long done = 0;
	struct vp_pair pair;
	struct ibv_mr *mr;
	struct vp_dev dev;

	vp_open(&dev, 0);
	vp_pair_make(&pair, &dev, &dev, &conf);
	mr = ibv_reg_mr(pair.a.pd, held, sizeof(held), IBV_ACCESS_LOCAL_WRITE);
	require(mr, "the neighbour registers %zu octets", sizeof(held));
	while (rounds ? done < rounds : !told_to_stop(PAUSE_MS)) {
		if (!rounds)
			alarm(TOLD_SECONDS);
		beside_round(&pair, "the neighbour");
		if (!done++) {
			printf("working\n");
			fflush(stdout);
		}
	}
	require(!ibv_dereg_mr(mr), "the neighbour deregisters them");
	vp_expect_no_async(&dev, "the neighbour");
	vp_pair_free(&pair);
	vp_close(&dev);
	require(done, "at least one round was done");
	printf("%lu rounds\n", done);
}

static void run_rounds(const void *arg)
{
	(void)arg;
	work(opt.count ? opt.count : ROUNDS);
}

static void run_until_told(const void *arg)
{
	(void)arg;
	work(0);
}

static const struct check_case cases[] = {
	CHECK_CASE("rounds", run_rounds, "--count exchanges, each with a registration of memory"),
	CHECK_CASE("until-told", run_until_told,
		   "the same until standard input has something or ends", .seconds = TOLD_SECONDS,
		   .on_demand = true),
};

int main(int argc, char **argv)
{
	return check_main(argc, argv, "Honest traffic of one process, every byte compared.", cases,
			  ARRAY_SIZE(cases));
}
