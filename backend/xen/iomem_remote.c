// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * iomem_remote.c - the driver domain's side: see iomem_remote.h.
 *
 * It looks again and again instead of setting watches, because those take a thread of libxenstore's,
 * and a broker has one thread. An answer takes a few milliseconds.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "xen/iomem_remote.h"
#include "xen/xenbus.h"

#define ANSWER_MS 10000
#define LOOK_MOST_MS 16

void iomem_grant_path(char path[IOMEM_PATH], unsigned int backend, const struct iomem_frame *frame)
{
	snprintf(path, IOMEM_PATH, IOMEM_GRANTS "/%u/%u/%u/%" PRIu64, backend, frame->domid,
		 frame->devid, frame->mfn);
}

void iomem_request_path(char path[IOMEM_PATH], unsigned int backend,
			const struct iomem_frame *frame)
{
	snprintf(path, IOMEM_PATH, "/local/domain/%u/backend/vhca/%u/%u/frames/%" PRIu64, backend,
		 frame->domid, frame->devid, frame->mfn);
}

/* 0: it is there. */
static int look_for(struct xs_handle *xs, const char *path)
{
	char *text = xs_read(xs, XBT_NULL, path, NULL);

	free(text);
	return text ? 0 : -errno;
}

/* Before dom0 has written it down, the vHCA that it has made tells that the domain is there. */
int iomem_remote_domain(struct xs_handle *xs, unsigned int own, unsigned int domid,
			bool *auto_translated)
{
	char dir[IOMEM_PATH], type[sizeof(IOMEM_TYPE_AUTO)];
	int err;

	snprintf(dir, sizeof(dir), IOMEM_GRANTS "/%u/%u", own, domid);
	if (xb_read(xs, dir, "type", type, sizeof(type))) {
		*auto_translated = strcmp(type, IOMEM_TYPE_PV);
		return 0;
	}
	snprintf(dir, sizeof(dir), "/local/domain/%u/backend/vhca/%u", own, domid);
	err = look_for(xs, dir);
	if (!err)
		return -EAGAIN;
	return err == -ENOENT ? -ESRCH : err;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ull + now.tv_nsec / 1000000;
}

static void pause_ms(unsigned int ms)
{
	const struct timespec time = { .tv_nsec = ms * 1000000l };

	nanosleep(&time, NULL);
}

/* True: there is an answer, in *err. */
typedef bool answered_fn(struct xs_handle *xs, unsigned int own, const struct iomem_frame *frame,
			 int *err);

static int wait_for(struct xs_handle *xs, unsigned int own, const struct iomem_frame *frame,
		    answered_fn *answered)
{
	uint64_t end = now_ms() + ANSWER_MS;
	unsigned int pause = 1;
	int err;

	while (!answered(xs, own, frame, &err)) {
		if (now_ms() >= end)
			return -ETIMEDOUT;
		pause_ms(pause);
		if (pause < LOOK_MOST_MS)
			pause *= 2;
	}
	return err;
}

static bool is_allowed(struct xs_handle *xs, unsigned int own, const struct iomem_frame *frame,
		       int *err)
{
	char path[IOMEM_PATH];
	uint64_t number;

	iomem_grant_path(path, own, frame);
	*err = 0;
	if (xb_read_number(xs, NULL, path, UINT64_MAX, &number) && number == frame->gfn)
		return true;
	iomem_request_path(path, own, frame);
	if (!xb_read_number(xs, path, "error", INT32_MAX, &number))
		return false;
	*err = -(int)number;
	return true;
}

static bool is_denied(struct xs_handle *xs, unsigned int own, const struct iomem_frame *frame,
		      int *err)
{
	char path[IOMEM_PATH];

	iomem_grant_path(path, own, frame);
	*err = look_for(xs, path);
	if (*err == -ENOENT)
		*err = 0;
	else if (!*err)
		return false;
	return true;
}

static int withdraw(struct xs_handle *xs, unsigned int own, const struct iomem_frame *frame)
{
	char path[IOMEM_PATH];

	iomem_request_path(path, own, frame);
	return xs_rm(xs, XBT_NULL, path) || errno == ENOENT ? 0 : -errno;
}

/* An error that is left of an earlier request is no answer to this one; while it stands dom0 does not try this one. */
int iomem_remote_allow(struct xs_handle *xs, unsigned int own, const struct iomem_frame *frame)
{
	char path[IOMEM_PATH], error[IOMEM_PATH + 8], gfn[24];
	int err;

	iomem_request_path(path, own, frame);
	snprintf(gfn, sizeof(gfn), "%" PRIu64, frame->gfn);
	if (!xs_write(xs, XBT_NULL, path, gfn, strlen(gfn)))
		return -errno;
	snprintf(error, sizeof(error), "%s/error", path);
	if (!xs_rm(xs, XBT_NULL, error) && errno != ENOENT)
		return -errno;
	err = wait_for(xs, own, frame, is_allowed);
	if (err)
		withdraw(xs, own, frame);
	return err;
}

int iomem_remote_deny(struct xs_handle *xs, unsigned int own, const struct iomem_frame *frame)
{
	return withdraw(xs, own, frame) ?: wait_for(xs, own, frame, is_denied);
}
