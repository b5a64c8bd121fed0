// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * registration: how long ibv_reg_mr() and ibv_dereg_mr() take, by the number of pages.
 *
 * Cold: the memory is new and has been written to once. Again: the same memory another time, with no registration of it
 * left. Held: the same memory while another registration of it exists.
 *
 * What that costs depends on how many pieces the memory is in. Free memory has small pieces that earlier programs have left, and
 * Linux takes those first, and among them what was given back last, page by page in any order. Fresh memory is behind these.
 * Scattered memory is fresh, too, but no two neighbours of it are contiguous.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "measure.h"

#define PAGE 4096ul
#define MOST_PAGES 65536ul

static struct ibv_mr *reg(struct ibv_pd *pd, void *at, size_t length, struct series *s)
{
	struct ibv_mr *mr;

	TIMED(*s,
	      mr = ibv_reg_mr(pd, at, length, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
	if (!mr)
		die("registering %zu bytes: %m", length);
	return mr;
}

static void dereg(struct ibv_mr *mr, struct series *s)
{
	int err;

	TIMED(*s, err = ibv_dereg_mr(mr));
	if (err)
		die("deregistering: %m");
}

enum what { COLD, AGAIN, HELD, DEREG, WHATS };

enum memory { ANY, FRESH, SCATTERED };

static const char *const names[][WHATS] = {
	{ [COLD] = "cold", [AGAIN] = "again", [HELD] = "held", [DEREG] = "dereg" },
	{ [COLD] = "cold-scattered",
	  [AGAIN] = "again-scattered",
	  [HELD] = "held-scattered",
	  [DEREG] = "dereg-scattered" },
};

/* Writes to each of the pages, from the first on, or to every second one. */
static void touch(volatile char *at, unsigned long first, unsigned long pages, unsigned long step)
{
	unsigned long page;

	for (page = first; page < pages; page += step)
		at[page * PAGE] = 1;
}

/*
 * Of what is contiguous, and aligned as its addresses are, the HCA's pages are larger (ib_umem_find_best_pgsz()). Whether it
 * is aligned would be left to chance. So the first two pages are the other way round.
 */
static void *new_memory(unsigned long pages, enum memory memory)
{
	void *at = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);

	if (at == MAP_FAILED)
		die("%lu pages of memory: %m", pages);
	touch(at, 1, memory == SCATTERED || pages < 2 ? pages : 2, 2);
	touch(at, 0, pages, 1);
	return at;
}

/* Pages of a line of /proc/buddyinfo: how many free pieces there are of 1, 2, 4 ... pages, in one zone. But for the largest. */
static unsigned long small_pieces(const char *numbers)
{
	unsigned long pages = 0, last = 0, n, size;
	char *end;

	for (size = 1;; size *= 2, numbers = end) {
		n = strtoul(numbers, &end, 10);
		if (end == numbers)
			return pages;
		pages += last;
		last = n * size;
	}
}

/* Takes all free memory that is in small pieces, for as long as the program runs. */
static void use_up_pieces(void)
{
	FILE *f = fopen("/proc/buddyinfo", "r");
	unsigned long pages = 0;
	char line[512];
	int at;

	if (!f)
		die("/proc/buddyinfo: %m");
	while (fgets(line, sizeof(line), f)) {
		at = 0;
		sscanf(line, "Node %*u, zone %*s%n", &at);
		pages += at ? small_pieces(line + at) : 0;
	}
	fclose(f);
	if (pages)
		new_memory(pages, ANY);
}

static void one_round(struct ibv_pd *pd, unsigned long pages, enum memory memory,
		      struct series *series)
{
	struct series unused;
	struct ibv_mr *mr, *second;
	void *at;

	series_init(&unused, "");
	at = new_memory(pages, memory);

	mr = reg(pd, at, pages * PAGE, &series[COLD]);
	second = reg(pd, at, pages * PAGE, &series[HELD]);
	dereg(second, &unused);
	dereg(mr, &series[DEREG]);
	mr = reg(pd, at, pages * PAGE, &series[AGAIN]);
	dereg(mr, &unused);
	if (memory == ANY)
		munmap(at, pages * PAGE);
	series_free(&unused);
}

static const char usage[] =
	"usage: registration [--device NAME] [--least PAGES] [--most PAGES] [--factor F] [--rounds N]\n"
	"                    [--fresh 1 | --scattered 1]\n"
	"\n"
	"Registers from the least (1) to the most (65536) pages of memory, F times (2) as many after\n"
	"each, and each N times (5). With --fresh 1 each time in fresh memory, of large pieces: none is given\n"
	"back before the end. With --scattered 1 in fresh memory whose pages are apart. Prints lines\n"
	"\"WHAT PAGES MEDIAN P99 MOST\", in microseconds; WHAT is cold, again, held or dereg,\n"
	"or these with \"-scattered\".\n";

int main(int argc, char **argv)
{
	unsigned long pages, least = 1, most = MOST_PAGES, factor = 2, rounds = 5, i;
	unsigned long fresh = 0, scattered = 0;
	const struct number_option numbers[] = {
		{ "least", &least, 1, MOST_PAGES },
		{ "most", &most, 1, MOST_PAGES },
		{ "factor", &factor, 2, MOST_PAGES },
		{ "rounds", &rounds, 1, 100000 },
		{ "fresh", &fresh, 0, 1 },
		{ "scattered", &scattered, 0, 1 },
		{ 0 },
	};
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct series series[WHATS];
	enum memory memory;
	enum what what;

	ctx = open_device(read_options(argc, argv, usage, numbers));
	pd = ibv_alloc_pd(ctx);
	if (!pd)
		die("no PD: %m");
	memory = scattered ? SCATTERED : fresh ? FRESH : ANY;
	for (what = 0; what < WHATS; what++)
		series_init(&series[what], names[memory == SCATTERED][what]);
	if (memory != ANY)
		use_up_pieces();
	for (pages = least; pages <= most; pages *= factor) {
		for (i = 0; i < rounds; i++)
			one_round(pd, pages, memory, series);
		for (what = 0; what < WHATS; what++)
			series_print(&series[what], pages);
	}
	for (what = 0; what < WHATS; what++)
		series_free(&series[what]);
	ibv_dealloc_pd(pd);
	ibv_close_device(ctx);
	return EXIT_SUCCESS;
}
