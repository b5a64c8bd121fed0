// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * uverbs_event.c - see uverbs_event.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>

#include "hca/uverbs.h"
#include "hca/uverbs_event.h"

/* The kernel makes these descriptors close-on-exec, and blocking. */
static int make_nonblocking(int fd)
{
	int err;

	if (!fcntl(fd, F_SETFL, O_NONBLOCK))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

int uverbs_open_completions(int fd)
{
	struct ib_uverbs_create_comp_channel req = { 0 };
	struct ib_uverbs_create_comp_channel_resp rsp;
	int err;

	err = uverbs_write(fd, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL,
			   &(struct uverbs_msg){ .core = &req, .core_len = sizeof(req) },
			   &(struct uverbs_msg){ .core = &rsp, .core_len = sizeof(rsp) });
	return err ? err : make_nonblocking(rsp.fd);
}

int uverbs_open_events(int fd, uint32_t driver_id)
{
	struct uverbs_arg arg = { UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, 0, 0 };
	int err;

	err = uverbs_ioctl(fd, driver_id, UVERBS_OBJECT_ASYNC_EVENT,
			   UVERBS_METHOD_ASYNC_EVENT_ALLOC, &arg, 1);
	return err ? err : make_nonblocking(arg.data);
}

static int read_event(int fd, void *event, size_t size)
{
	ssize_t got = read(fd, event, size);

	if (got == (ssize_t)size)
		return 1;
	if (got >= 0)
		return -EIO;
	return errno == EAGAIN || errno == EINTR ? 0 : -errno;
}

int uverbs_next_completion(int fd, uint64_t *user)
{
	struct ib_uverbs_comp_event_desc event;
	int got = read_event(fd, &event, sizeof(event));

	if (got > 0)
		*user = event.cq_handle;
	return got;
}

int uverbs_next_event(int fd, uint64_t *user, uint32_t *type)
{
	struct ib_uverbs_async_event_desc event;
	int got = read_event(fd, &event, sizeof(event));

	if (got > 0) {
		*user = event.element;
		*type = event.event_type;
	}
	return got;
}
