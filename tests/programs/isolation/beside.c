// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "beside.h"

/* Between rounds: leaves a processor to the one that misbehaves. */
#define PAUSE_US 2000

struct beside_shared {
	_Atomic uint64_t rounds;
	_Atomic bool stop;
};

void beside_round(struct vp_pair *pair, const char *what)
{
	struct ibv_mr *mr;

	vp_exchange(pair, what);
	mr = ibv_reg_mr(pair->a.pd, pair->a.buf, pair->a.len, VP_ACCESS_ALL);
	require(mr, "%s: registers memory", what);
	require(!ibv_dereg_mr(mr), "%s: deregisters it", what);
}

static void mind_own_business(struct beside_shared *shared)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct vp_pair pair;
	struct vp_dev dev;

	vp_open(&dev, 0);
	vp_pair_make(&pair, &dev, &dev, &conf);
	while (!atomic_load(&shared->stop)) {
		beside_round(&pair, "the process beside");
		atomic_fetch_add(&shared->rounds, 1);
		usleep(PAUSE_US);
	}
	vp_expect_no_async(&dev, "the process beside");
	vp_pair_free(&pair);
	vp_close(&dev);
}

void beside_start(struct beside *b)
{
	b->shared = mmap(NULL, sizeof(*b->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	require(b->shared != MAP_FAILED, "memory shared with the process beside");
	b->pid = check_fork();
	if (!b->pid) {
		mind_own_business(b->shared);
		check_end_case();
	}
	beside_works(b, "its start");
}

void beside_works(struct beside *b, const char *after)
{
	uint64_t until = now_ms() + opt.deadline_ms, from = atomic_load(&b->shared->rounds);
	int status;

	/* The round that is under way began before. */
	while (atomic_load(&b->shared->rounds) < from + 2) {
		require(waitpid(b->pid, &status, WNOHANG) == 0, "the process beside lives after %s",
			after);
		require(now_ms() < until, "the process beside goes on after %s", after);
		usleep(PAUSE_US);
	}
}

void beside_stop(struct beside *b)
{
	int status = -1;

	atomic_store(&b->shared->stop, true);
	require(waitpid(b->pid, &status, 0) == b->pid, "wait for the process beside");
	check(WIFEXITED(status) && !WEXITSTATUS(status),
	      "the process beside ends well (status %#x)", status);
	munmap(b->shared, sizeof(*b->shared));
}
