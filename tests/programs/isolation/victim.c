// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * victim - what honest programs of a guest do while the backend lies to their kernel. What becomes of it is seen from
 * outside: each case is to be named, and those that wait do so until standard input ends.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "beside.h"

#define PAGE 4096
#define SMALL (64 * PAGE)
#define LARGE (2048 * PAGE) /* takes several commands */
#define PAUSE_MS 100

static void wait_until_told(const char *word)
{
	printf("%s\n", word);
	fflush(stdout);
	while (!told_to_stop(PAUSE_MS))
		;
}

static struct vp_conf conf_with_events(void)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);

	conf.channel = true;
	conf.use_srq = true;
	return conf;
}

static uint8_t *memory(size_t bytes)
{
	uint8_t *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	require(at != MAP_FAILED, "%zu octets of memory", bytes);
	return at;
}

/* No doorbell page, so no use of the device; which of the calls fails is the provider's affair. */
static void run_refused(const void *arg)
{
	struct ibv_context *ctx = NULL;
	struct ibv_cq *cq = NULL;
	struct ibv_device **list;
	int i, n;

	(void)arg;
	list = ibv_get_device_list(&n);
	for (i = 0; list && i < n; i++)
		if (opt.device[0] && !strcmp(ibv_get_device_name(list[i]), opt.device[0]))
			ctx = ibv_open_device(list[i]);
	if (ctx)
		cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	check(!cq, "no CQ without a doorbell page");
}

/* Doorbell pages, by which the device stays open. */
static void unmap_device(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	char line[512];

	require(maps, "the process sees its mappings");
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "/dev/infiniband/uverbs") &&
		    sscanf(line, "%lx-%lx", &from, &to) == 2)
			require(!munmap((void *)from, to - from), "a doorbell page is unmapped");
	fclose(maps);
}

/*
 * Some of everything, and then the descriptor closes under it, as when a process is killed; but the process goes on, and
 * what it has registered changes later, when the device may have gone.
 */
static void run_leaves(const void *arg)
{
	struct vp_conf ud_conf = vp_conf(IBV_QPT_UD), conf = conf_with_events();
	uint8_t *small = memory(SMALL), *large = memory(LARGE);
	union ibv_gid group = { .raw = { 0xff, 0x12, 0x40, 0x1b, [15] = 0x77 } };
	struct vp_pair pair, ud;
	struct vp_dev dev;
	struct ibv_mw *mw;

	(void)arg;
	vp_open(&dev, 0);
	vp_pair_make(&pair, &dev, &dev, &conf);
	vp_pair_make(&ud, &dev, &dev, &ud_conf);
	require(!ibv_attach_mcast(ud.a.qp, &group, 0xc077), "a QP is in a multicast group");
	mw = ibv_alloc_mw(pair.a.pd, IBV_MW_TYPE_2);
	require(mw, "a memory window");
	require(ibv_reg_mr(pair.a.pd, small, SMALL, VP_ACCESS_ALL), "a small region");
	require(ibv_reg_mr(pair.a.pd, large, LARGE, VP_ACCESS_ALL), "a large region");
	unmap_device();
	require(!close(dev.ctx->async_fd) && !close(dev.ctx->cmd_fd), "the descriptors close");
	wait_until_told("left");
	require(!munmap(small, SMALL) && !munmap(large, LARGE), "the memory goes");
}

/* Events may come, but the process looks for none. */
static void run_waits(const void *arg)
{
	struct vp_conf conf = conf_with_events();
	struct vp_pair pair;
	struct vp_dev dev;

	(void)arg;
	vp_open(&dev, 0);
	vp_pair_make(&pair, &dev, &dev, &conf);
	require(!ibv_req_notify_cq(pair.b.rcq.cq, 0), "a CQ is armed");
	wait_until_told("waiting");
}

/* Regions of both kinds that are given back to the kernel, and by it to the backend. */
static void run_gives_back(const void *arg)
{
	uint8_t *small = memory(SMALL), *large = memory(LARGE);
	struct ibv_mr *mr[2];
	struct vp_dev dev;
	struct ibv_pd *pd;

	(void)arg;
	vp_open(&dev, 0);
	pd = ibv_alloc_pd(dev.ctx);
	require(pd, "a PD");
	mr[0] = ibv_reg_mr(pd, small, SMALL, VP_ACCESS_ALL);
	mr[1] = ibv_reg_mr(pd, large, LARGE, VP_ACCESS_ALL);
	require(mr[0] && mr[1], "two regions");
	require(!ibv_dereg_mr(mr[0]) && !ibv_dereg_mr(mr[1]), "are deregistered");
	require(!munmap(small, SMALL) && !munmap(large, LARGE), "and unmapped");
	wait_until_told("given back");
}

/* Memory of a few pages that are there again and again, so that no guest is too small for it. */
static uint8_t *repeated_memory(size_t bytes)
{
	int fd = memfd_create("victim", 0);
	uint8_t *at, *end;

	require(fd >= 0 && !ftruncate(fd, LARGE), "a file of %u octets", LARGE);
	at = mmap(NULL, bytes + LARGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		  0);
	require(at != MAP_FAILED, "room for %zu octets", bytes);
	for (end = at; end < at + bytes; end += LARGE)
		require(mmap(end, LARGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
				end,
			"a piece of it");
	return at;
}

/* What a program that sends from a region has as well is there before it. */
static void run_registers(const void *arg)
{
	struct vp_conf conf = conf_with_events();
	struct vp_pair pair;
	struct vp_dev dev;
	struct ibv_mr *mr;
	unsigned long n;
	uint8_t *at;
	size_t size;

	(void)arg;
	vp_open(&dev, 0);
	vp_pair_make(&pair, &dev, &dev, &conf);
	size = opt.max_size ? opt.max_size : dev.attr.max_mr_size;
	at = repeated_memory(size);
	for (n = 0; n < (opt.count ? opt.count : 1); n++) {
		mr = ibv_reg_mr(pair.a.pd, at, size, VP_ACCESS_ALL);
		require(mr, "%zu octets are registered", size);
		require(!ibv_dereg_mr(mr), "and deregistered");
	}
}

static const struct check_case cases[] = {
	CHECK_CASE("refused", run_refused, "no doorbell page", .on_demand = true),
	CHECK_CASE("leaves", run_leaves, "closes the device with some of everything",
		   .on_demand = true, .seconds = 600),
	CHECK_CASE("waits", run_waits, "has a CQ that is armed, and a QP", .on_demand = true,
		   .seconds = 600),
	CHECK_CASE("gives-back", run_gives_back, "deregisters memory", .on_demand = true,
		   .seconds = 600),
	CHECK_CASE("registers", run_registers,
		   "registers --max-size octets, or as many as the device allows, --count times",
		   .on_demand = true, .seconds = 600),
};

int main(int argc, char **argv)
{
	return check_main(argc, argv, "what programs do while the backend lies to their kernel",
			  cases, ARRAY_SIZE(cases));
}
