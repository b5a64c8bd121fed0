// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * sysfs.c - see sysfs.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "hca/sysfs.h"
#include "util/read_line.h"

#define CLASS "/sys/class/infiniband"

static int link_name(const char *ibdev, const char *link, char *name, size_t size)
{
	char path[PATH_MAX], real[PATH_MAX];
	const char *last;

	snprintf(path, sizeof(path), CLASS "/%s/%s", ibdev, link);
	if (!realpath(path, real))
		return -errno;
	last = strrchr(real, '/') + 1;
	if (strlen(last) >= size)
		return -ENAMETOOLONG;
	strcpy(name, last);
	return 0;
}

int hca_sysfs_driver(const char *ibdev, char *driver, size_t size)
{
	char bus[16];
	int err;

	err = link_name(ibdev, "device/subsystem", bus, sizeof(bus));
	if (err)
		return err;
	if (strcmp(bus, "pci"))
		return -ENODEV;
	return link_name(ibdev, "device/driver", driver, size);
}

/* One call, without a look at all that is on the way: who looks for pages asks for each. */
int hca_sysfs_driver_of_file(int uverbs, char *driver, size_t size)
{
	char path[64], target[PATH_MAX];
	const char *last;
	struct stat st;
	ssize_t length;

	if (fstat(uverbs, &st))
		return -errno;
	if (!S_ISCHR(st.st_mode))
		return -ENODEV;
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/device/driver", major(st.st_rdev),
		 minor(st.st_rdev));
	length = readlink(path, target, sizeof(target) - 1);
	if (length < 0)
		return -errno;
	target[length] = 0;
	last = strrchr(target, '/');
	last = last ? last + 1 : target;
	if (strlen(last) >= size)
		return -ENAMETOOLONG;
	strcpy(driver, last);
	return 0;
}

int hca_sysfs_pci_name(const char *ibdev, char *name, size_t size)
{
	return link_name(ibdev, "device", name, size);
}

int hca_sysfs_bar0(const char *ibdev, uint64_t *address, uint64_t *bytes)
{
	uint64_t last;
	char path[PATH_MAX], line[128];
	int err;

	snprintf(path, sizeof(path), CLASS "/%s/device/resource", ibdev);
	err = read_line(path, line, sizeof(line));
	if (err)
		return err;
	if (sscanf(line, "%" SCNx64 " %" SCNx64, address, &last) != 2)
		return -ENODEV;
	if (!*address || *address & 0xfff || last <= *address)
		return -ENODEV;
	if (bytes)
		*bytes = last - *address + 1;
	return 0;
}

int hca_sysfs_gid(const char *ibdev, unsigned int port, uint32_t index, uint8_t gid[16])
{
	char path[PATH_MAX], line[64];
	unsigned int word[8], i;
	int err;

	snprintf(path, sizeof(path), CLASS "/%s/ports/%u/gids/%u", ibdev, port, index);
	err = read_line(path, line, sizeof(line));
	if (err)
		return err;
	if (sscanf(line, "%4x:%4x:%4x:%4x:%4x:%4x:%4x:%4x", &word[0], &word[1], &word[2], &word[3],
		   &word[4], &word[5], &word[6], &word[7]) != 8)
		return -EIO;
	for (i = 0; i < 8; i++) {
		gid[2 * i] = word[i] >> 8;
		gid[2 * i + 1] = word[i];
	}
	return 0;
}

int hca_sysfs_pkey(const char *ibdev, unsigned int port, uint32_t index, uint16_t *pkey)
{
	char path[PATH_MAX], line[16];
	unsigned int value;
	int err;

	snprintf(path, sizeof(path), CLASS "/%s/ports/%u/pkeys/%u", ibdev, port, index);
	err = read_line(path, line, sizeof(line));
	if (err)
		return err;
	if (sscanf(line, "%x", &value) != 1)
		return -EIO;
	*pkey = value;
	return 0;
}
