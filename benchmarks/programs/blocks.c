// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * blocks: what reading and writing a disk costs, past the page cache, one piece at a time.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "measure.h"

#define DISK "/dev/nvme0n1"
#define MOST_BYTES (1ul << 20)

static void read_piece(int fd, void *data, size_t size)
{
	if (pread(fd, data, size, 0) != (ssize_t)size)
		die("reading " DISK ": %m");
}

static void write_piece(int fd, const void *data, size_t size)
{
	if (pwrite(fd, data, size, 0) != (ssize_t)size)
		die("writing " DISK ": %m");
}

static void measure(int fd, void *data, unsigned long size, unsigned long count)
{
	struct series reading, writing;
	unsigned long i;

	series_init(&reading, "disk-read");
	series_init(&writing, "disk-write");
	for (i = 0; i < count; i++) {
		TIMED(writing, write_piece(fd, data, size));
		TIMED(reading, read_piece(fd, data, size));
	}
	series_print(&reading, size);
	series_print(&writing, size);
	series_free(&reading);
	series_free(&writing);
}

static const char usage[] = "usage: blocks [--most BYTES] [--count N]\n"
			    "\n"
			    "Writes and reads the first 4 KiB, 64 KiB, ... BYTES (1048576) of " DISK
			    ", N times (100) each. Prints\n"
			    "lines \"WHAT SIZE MEDIAN P99 MOST\", in microseconds.\n";

int main(int argc, char **argv)
{
	unsigned long most = MOST_BYTES, count = 100, size;
	const struct number_option numbers[] = { { "most", &most, 4096, MOST_BYTES },
						 { "count", &count, 1, 1000000 },
						 { 0 } };
	void *data;
	int fd;

	read_options(argc, argv, usage, numbers);
	data = mmap(NULL, MOST_BYTES, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	fd = open(DISK, O_RDWR | O_DIRECT);
	if (fd < 0 || data == MAP_FAILED)
		die(DISK ": %m");
	for (size = 4096; size <= most; size *= 16)
		measure(fd, data, size, count);
	munmap(data, MOST_BYTES);
	close(fd);
	return EXIT_SUCCESS;
}
