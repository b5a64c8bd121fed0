// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * granter: a guest's pages for the program grants in dom0. It grants them to dom0, writes their references to a file, and does
 * what its input says: "fill SEED" and "check SEED" about their words, which it answers by "filled" and "right", or
 * "wrong: N words".
 * It also has two event channels for dom0, whose ports it writes to FILE.channels, and the first page can be that of event
 * bits: "clear" zeroes it ("cleared"); "take BIT" says if that was "set", or "clear", and clears it; "rung" says how often
 * the channels have rung; "close" closes them ("closed").
 * The grants end with it.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xen/xen.h> /* domid_t, of the next one */
#include <xen/evtchn.h>
#include <xen/gntalloc.h>

#include "granter.h"

static int fail(const char *what)
{
	perror(what);
	return 1;
}

static int write_references(const char *path, const struct ioctl_gntalloc_alloc_gref *grants)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return -1;
	for (uint32_t i = 0; i < grants->count; i++)
		fprintf(file, "%u ", grants->gref_ids_flex[i]);
	return fclose(file);
}

#define CHANNELS 2u

static int evtchn;

static int open_channels(const char *path)
{
	struct ioctl_evtchn_bind_unbound_port bind = { .remote_domain = 0 };
	char name[256];
	FILE *file;
	int port;

	evtchn = open("/dev/xen/evtchn", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	snprintf(name, sizeof(name), "%s.channels", path);
	file = fopen(name, "w");
	if (evtchn < 0 || !file)
		return -1;
	for (unsigned int i = 0; i < CHANNELS; i++) {
		port = ioctl(evtchn, IOCTL_EVTCHN_BIND_UNBOUND_PORT, &bind);
		if (port < 0)
			return -1;
		fprintf(file, "%d ", port);
	}
	return fclose(file);
}

/* What has rung may ring again. */
static unsigned int rung(void)
{
	unsigned int n = 0, port;

	while (read(evtchn, &port, sizeof(port)) == sizeof(port)) {
		if (write(evtchn, &port, sizeof(port)) < 0)
			break;
		n++;
	}
	return n;
}

static bool take(void *page, unsigned int bit)
{
	unsigned int *word = (unsigned int *)page + bit / 32;

	return __atomic_fetch_and(word, ~(1u << bit % 32), __ATOMIC_SEQ_CST) >> bit % 32 & 1;
}

static void command(const char *line, uint64_t *at, uint32_t pages)
{
	unsigned int seed, bit;
	uint64_t wrong;

	if (sscanf(line, "fill %u", &seed) == 1) {
		granter_fill(at, seed, 0, pages);
		puts("filled");
	} else if (sscanf(line, "check %u", &seed) == 1) {
		wrong = granter_wrong(at, seed, 0, pages);
		if (wrong)
			printf("wrong: %llu words\n", (unsigned long long)wrong);
		else
			puts("right");
	} else if (!strcmp(line, "clear\n")) {
		memset(at, 0, GRANTER_PAGE);
		puts("cleared");
	} else if (sscanf(line, "take %u", &bit) == 1 && bit < 8 * GRANTER_PAGE) {
		puts(take(at, bit) ? "set" : "clear");
	} else if (!strcmp(line, "rung\n")) {
		printf("%u\n", rung());
	} else if (!strcmp(line, "close\n")) {
		close(evtchn);
		puts("closed");
	} else {
		printf("not a command: %s", line);
	}
}

int main(int argc, char **argv)
{
	uint32_t pages = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
	struct ioctl_gntalloc_alloc_gref *grants;
	char line[80];
	uint64_t *at;
	int fd;

	if (!pages || argc < 3 || (argc > 3 && strcmp(argv[3], "read-only"))) {
		fputs("usage: granter PAGES FILE [read-only]\n", stderr);
		return 2;
	}
	grants = calloc(1, sizeof(*grants) + pages * sizeof(uint32_t));
	fd = open("/dev/xen/gntalloc", O_RDWR | O_CLOEXEC);
	if (!grants || fd < 0)
		return fail("/dev/xen/gntalloc");
	grants->flags = argc > 3 ? 0 : GNTALLOC_FLAG_WRITABLE;
	grants->count = pages;
	if (ioctl(fd, IOCTL_GNTALLOC_ALLOC_GREF, grants))
		return fail("grant pages");
	at = mmap(NULL, (size_t)pages * GRANTER_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		  (off_t)grants->index);
	if (at == MAP_FAILED)
		return fail("map pages");
	granter_fill(at, GRANTER_FIRST, 0, pages);
	if (open_channels(argv[2]))
		return fail("event channels");
	if (write_references(argv[2], grants))
		return fail(argv[2]);
	puts("granted");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		command(line, at, pages);
		fflush(stdout);
	}
	return 0;
}
