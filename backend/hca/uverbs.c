// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * uverbs.c - see uverbs.h.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "hca/uverbs.h"
#include "util/read_line.h"

#define CLASS "/sys/class/infiniband_verbs"
#define MAX_MESSAGE 512

int uverbs_find(const char *ibdev, char *path, size_t size)
{
	struct dirent *entry;
	int err = -ENOENT;
	DIR *dir;

	if (!*ibdev || strlen(ibdev) >= UVERBS_NAME_MAX || strchr(ibdev, '/'))
		return -EINVAL;
	dir = opendir(CLASS);
	if (!dir)
		return -ENOENT;
	while (err && (entry = readdir(dir))) {
		char file[sizeof(CLASS) + sizeof(entry->d_name) + 8], name[UVERBS_NAME_MAX];

		if (strncmp(entry->d_name, "uverbs", 6))
			continue;
		snprintf(file, sizeof(file), CLASS "/%s/ibdev", entry->d_name);
		if (read_line(file, name, sizeof(name)) || strcmp(name, ibdev))
			continue;
		snprintf(path, size, "/dev/infiniband/%s", entry->d_name);
		err = 0;
	}
	closedir(dir);
	return err;
}

int uverbs_open(const char *ibdev)
{
	char path[sizeof("/dev/infiniband/") + 256];
	int err, fd;

	err = uverbs_find(ibdev, path, sizeof(path));
	if (err)
		return err;
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int uverbs_context(int fd, uint32_t driver_id, const void *in, size_t in_len, void *out,
		   size_t out_len, uint32_t *vectors)
{
	struct uverbs_arg args[] = {
		{ UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, sizeof(*vectors), (uintptr_t)vectors },
		{ UVERBS_ATTR_UHW_IN, in_len, (uintptr_t)in },
		{ UVERBS_ATTR_UHW_OUT, out_len, (uintptr_t)out },
	};

	return uverbs_ioctl(fd, driver_id, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, args,
			    3);
}

/* Several threads write to one file at a time, so nothing of a message is static. */
int uverbs_write(int fd, uint32_t command, const struct uverbs_msg *req,
		 const struct uverbs_msg *rsp)
{
	size_t in_len = sizeof(struct ib_uverbs_cmd_hdr) + req->core_len + req->driver_len;
	size_t out_len = rsp ? rsp->core_len + rsp->driver_len : 0;
	uint64_t in[MAX_MESSAGE / 8], out[MAX_MESSAGE / 8];
	struct ib_uverbs_cmd_hdr hdr = { command, in_len / 4, out_len / 4 };
	uint64_t response = (uintptr_t)out;
	char *at = (char *)in;

	if (in_len > sizeof(in) || out_len > sizeof(out))
		return -EMSGSIZE;
	memset(out, 0, out_len);
	if (rsp)
		memcpy(req->core, &response, sizeof(response));
	memcpy(at, &hdr, sizeof(hdr));
	memcpy(at + sizeof(hdr), req->core, req->core_len);
	if (req->driver_len)
		memcpy(at + sizeof(hdr) + req->core_len, req->driver, req->driver_len);
	if (write(fd, in, in_len) != (ssize_t)in_len)
		return errno ? -errno : -EIO;
	if (rsp) {
		memcpy(rsp->core, out, rsp->core_len);
		if (rsp->driver_len)
			memcpy(rsp->driver, (char *)out + rsp->core_len, rsp->driver_len);
	}
	return 0;
}

int uverbs_write_ex(int fd, uint32_t command, const void *core, size_t core_len, void *rsp,
		    size_t rsp_len)
{
	struct ib_uverbs_cmd_hdr hdr = {
		IB_USER_VERBS_CMD_FLAG_EXTENDED | command,
		core_len / 8,
		rsp_len / 8,
	};
	struct ib_uverbs_ex_cmd_hdr ex = { .response = (uintptr_t)rsp };
	size_t len = sizeof(hdr) + sizeof(ex) + core_len;
	uint64_t in[MAX_MESSAGE / 8];
	char *at = (char *)in;

	if (len > sizeof(in))
		return -EMSGSIZE;
	if (rsp)
		memset(rsp, 0, rsp_len);
	memcpy(at, &hdr, sizeof(hdr));
	memcpy(at + sizeof(hdr), &ex, sizeof(ex));
	memcpy(at + sizeof(hdr) + sizeof(ex), core, core_len);
	if (write(fd, in, len) != (ssize_t)len)
		return errno ? -errno : -EIO;
	return 0;
}

int uverbs_ioctl(int fd, uint32_t driver_id, uint16_t object, uint16_t method,
		 struct uverbs_arg *args, unsigned int n)
{
	uint64_t space[(sizeof(struct ib_uverbs_ioctl_hdr) +
			UVERBS_MAX_ARGS * sizeof(struct ib_uverbs_attr)) /
		       8];
	struct ib_uverbs_ioctl_hdr *hdr = (struct ib_uverbs_ioctl_hdr *)space;
	unsigned int i;

	if (n > UVERBS_MAX_ARGS)
		return -EINVAL;
	memset(space, 0, sizeof(space));
	hdr->length = sizeof(*hdr) + n * sizeof(hdr->attrs[0]);
	hdr->object_id = object;
	hdr->method_id = method;
	hdr->num_attrs = n;
	hdr->driver_id = driver_id;
	for (i = 0; i < n; i++) {
		hdr->attrs[i].attr_id = args[i].id;
		hdr->attrs[i].len = args[i].len;
		hdr->attrs[i].flags = UVERBS_ATTR_F_MANDATORY;
		hdr->attrs[i].data = args[i].data;
	}
	if (ioctl(fd, RDMA_VERBS_IOCTL, hdr))
		return -errno;
	for (i = 0; i < n; i++)
		if (!args[i].len)
			args[i].data = hdr->attrs[i].data;
	return 0;
}
