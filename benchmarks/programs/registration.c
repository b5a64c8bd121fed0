// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * registration: how long ibv_reg_mr() and ibv_dereg_mr() take, by the number of pages (USENIX 2006, section 6.4).
 *
 * Cold: the memory is new and has been written to once. Again: the same memory another time, with no registration of it
 * left. Held: the same memory while another registration of it exists, which is what a cache of registrations makes of it.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "measure.h"

#define PAGE 4096ul
#define MOST_PAGES 65536ul

static struct ibv_mr *reg(struct ibv_pd *pd, void *at, size_t length, struct series *s)
{
	double start = now_us();
	struct ibv_mr *mr = ibv_reg_mr(pd, at, length, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);

	if (!mr)
		die("registering %zu bytes: %m", length);
	series_add(s, now_us() - start);
	return mr;
}

static void dereg(struct ibv_mr *mr, struct series *s)
{
	double start = now_us();

	if (ibv_dereg_mr(mr))
		die("deregistering: %m");
	series_add(s, now_us() - start);
}

struct all {
	struct series cold, again, held, dereg;
};

static void one_round(struct ibv_pd *pd, unsigned long pages, struct all *all)
{
	struct series unused;
	struct ibv_mr *mr, *second;
	void *at;

	series_init(&unused, "");
	at = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		die("%lu pages of memory: %m", pages);
	memset(at, 1, pages * PAGE);

	mr = reg(pd, at, pages * PAGE, &all->cold);
	second = reg(pd, at, pages * PAGE, &all->held);
	dereg(second, &unused);
	dereg(mr, &all->dereg);
	mr = reg(pd, at, pages * PAGE, &all->again);
	dereg(mr, &unused);
	munmap(at, pages * PAGE);
	series_free(&unused);
}

static void usage(FILE *to)
{
	fputs("usage: registration [--device NAME] [--most PAGES] [--rounds N]\n"
	      "\n"
	      "Registers 1, 2, 4, ... PAGES pages of memory (65536), each N times (5). Prints lines\n"
	      "\"WHAT PAGES MEDIAN P99 MOST\", in microseconds; WHAT is cold, again, held or dereg.\n", to);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'd' }, { "most", required_argument, NULL, 'm' },
		{ "rounds", required_argument, NULL, 'r' }, { "help", no_argument, NULL, 'h' }, { 0 },
	};
	unsigned long pages, most = MOST_PAGES, rounds = 5, i;
	const char *device = NULL;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct all all;
	int o;

	while ((o = getopt_long(argc, argv, "d:h", options, NULL)) != -1) {
		switch (o) {
		case 'd':
			device = optarg;
			break;
		case 'm':
			most = number("most", optarg, 1, MOST_PAGES);
			break;
		case 'r':
			rounds = number("rounds", optarg, 1, 100000);
			break;
		case 'h':
			usage(stdout);
			return EXIT_SUCCESS;
		default:
			usage(stderr);
			return 2;
		}
	}
	ctx = open_device(device);
	pd = ibv_alloc_pd(ctx);
	if (!pd)
		die("no PD: %m");
	series_init(&all.cold, "cold");
	series_init(&all.again, "again");
	series_init(&all.held, "held");
	series_init(&all.dereg, "dereg");
	for (pages = 1; pages <= most; pages *= 2) {
		for (i = 0; i < rounds; i++)
			one_round(pd, pages, &all);
		series_print(&all.cold, pages);
		series_print(&all.again, pages);
		series_print(&all.held, pages);
		series_print(&all.dereg, pages);
	}
	series_free(&all.cold);
	series_free(&all.again);
	series_free(&all.held);
	series_free(&all.dereg);
	ibv_dealloc_pd(pd);
	ibv_close_device(ctx);
	return EXIT_SUCCESS;
}
