/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * read_line.h - what a file of sysfs or proc says in one line.
 */
#ifndef XEN_IB_UTIL_READ_LINE_H
#define XEN_IB_UTIL_READ_LINE_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * read_line - the first line of a file, without its end, and no more of it than there is room for.
 * 0 or -errno, and the line is empty then; -EIO also where the kernel has nothing to say.
 */
static inline int read_line(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "re");
	int err = 0;

	line[0] = 0;
	if (!file)
		return -errno;
	if (!fgets(line, size, file))
		err = -EIO;
	fclose(file);
	line[strcspn(line, "\n")] = 0;
	return err;
}

#endif
