// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * uar.c - doorbell pages, see uar.h.
 */
#include <errno.h>
#include <sys/mman.h>

#include <infiniband/driver.h>

#include "abi.h"
#include "buf.h"
#include "uar.h"

/* The first 2 KiB of a UAR page hold other registers. */
#define SEND_REGISTERS_AT 0x800
#define BF_SIZE_MIN 64

void xenib_uars_init(struct xenib_uars *uars, bool no_bf)
{
	pthread_mutex_init(&uars->lock, NULL);
	uars->no_bf = no_bf;
}

void xenib_uars_exit(struct ibv_context *context, struct xenib_uars *uars)
{
	int i;

	for (i = 0; i < XENIB_UARS_OWN + XENIB_UARS_SHARED; i++)
		xenib_uar_destroy(context, &uars->bf[i]);
	xenib_uar_destroy(context, &uars->plain);
	pthread_mutex_destroy(&uars->lock);
}

/* Two buffers by turns: their offsets differ in one bit, and both are in the page. */
static bool layout_is_sound(const struct xenib_uar_alloc_resp *resp)
{
	uint32_t at = resp->bf_offset, size = resp->bf_size;

	if (at < SEND_REGISTERS_AT || at > XENIB_PAGE_SIZE - 8 || at % 8)
		return false;
	if (!size)
		return true;
	return size >= BF_SIZE_MIN && !(size & (size - 1)) && !(at & size) && !(at % BF_SIZE_MIN) &&
	       size <= (XENIB_PAGE_SIZE - at) / 2;
}

static int free_uar(struct ibv_context *context, uint32_t handle)
{
	DECLARE_COMMAND_BUFFER(cmd, XENIB_OBJECT_UAR, XENIB_METHOD_UAR_FREE, 1);

	fill_attr_in_obj(cmd, XENIB_ATTR_UAR_FREE_HANDLE, handle);
	return execute_ioctl(context, cmd);
}

int xenib_uar_create(struct ibv_context *context, struct xenib_uar *uar, bool bf)
{
	DECLARE_COMMAND_BUFFER(cmd, XENIB_OBJECT_UAR, XENIB_METHOD_UAR_ALLOC, 3);
	struct xenib_uar_alloc_resp resp = {};
	struct ib_uverbs_attr *handle;
	void *page;
	int err;

	handle = fill_attr_out_obj(cmd, XENIB_ATTR_UAR_ALLOC_HANDLE);
	fill_attr_const_in(cmd, XENIB_ATTR_UAR_ALLOC_TYPE, bf ? XENIB_UAR_BF : XENIB_UAR_NC);
	fill_attr_out_ptr(cmd, XENIB_ATTR_UAR_ALLOC_RESP, &resp);
	err = execute_ioctl(context, cmd);
	if (err)
		return err;
	uar->handle = read_attr_obj(XENIB_ATTR_UAR_ALLOC_HANDLE, handle);

	if (!layout_is_sound(&resp)) {
		err = EPROTO;
		goto err_free;
	}

	page = mmap(NULL, XENIB_PAGE_SIZE, PROT_WRITE, MAP_SHARED, context->cmd_fd,
		    resp.mmap_offset);
	if (page == MAP_FAILED) {
		err = errno;
		goto err_free;
	}

	uar->bell.page = page;
	uar->index = resp.index;
	uar->bell.bf_size = bf ? resp.bf_size : 0;
	uar->bell.send_at = resp.bf_offset;
	xenib_lock_init(&uar->bell.lock, false);
	return 0;

err_free:
	free_uar(context, uar->handle);
	return err;
}

void xenib_uar_destroy(struct ibv_context *context, struct xenib_uar *uar)
{
	if (!uar->bell.page)
		return;

	munmap(uar->bell.page, XENIB_PAGE_SIZE);
	free_uar(context, uar->handle);
	uar->bell.page = NULL;
}

static struct xenib_uar *get_plain_locked(struct ibv_context *context, struct xenib_uars *uars)
{
	int err;

	if (uars->plain.bell.page)
		return &uars->plain;

	err = xenib_uar_create(context, &uars->plain, false);
	if (err) {
		errno = err;
		return NULL;
	}
	return &uars->plain;
}

struct xenib_uar *xenib_uar_get_plain(struct ibv_context *context, struct xenib_uars *uars)
{
	struct xenib_uar *uar;

	pthread_mutex_lock(&uars->lock);
	uar = get_plain_locked(context, uars);
	pthread_mutex_unlock(&uars->lock);
	return uar;
}

/* Makes a BlueFlame page, or notes that there are none to be had. */
static void make_bf_locked(struct ibv_context *context, struct xenib_uars *uars,
			   struct xenib_uar *uar, bool shared)
{
	if (xenib_uar_create(context, uar, true)) {
		uars->no_bf = true;
		return;
	}
	if (!uar->bell.bf_size) {
		xenib_uar_destroy(context, uar);
		uars->no_bf = true;
		return;
	}
	uar->bell.lock.shared = shared;
}

/*
 * A BlueFlame page that is there or can be made: one that would have no other user, else the shared
 * one with the fewest.
 */
static struct xenib_uar *get_bf_locked(struct ibv_context *context, struct xenib_uars *uars,
				       bool single_threaded)
{
	struct xenib_uar *uar, *best = NULL;
	bool own;
	int i;

	for (i = 0; i < XENIB_UARS_OWN + XENIB_UARS_SHARED; i++) {
		uar = &uars->bf[i];
		own = i < XENIB_UARS_OWN;

		if (!uar->bell.page && !uars->no_bf)
			make_bf_locked(context, uars, uar, !own && !single_threaded);
		if (!uar->bell.page || (own && uar->users))
			continue;
		if (!uar->users)
			return uar;
		if (!best || uar->users < best->users)
			best = uar;
	}

	return best;
}

struct xenib_uar *xenib_uar_get(struct ibv_context *context, struct xenib_uars *uars,
				bool single_threaded)
{
	struct xenib_uar *uar;

	pthread_mutex_lock(&uars->lock);

	uar = get_bf_locked(context, uars, single_threaded);
	if (!uar)
		uar = get_plain_locked(context, uars);
	if (uar)
		uar->users++;

	pthread_mutex_unlock(&uars->lock);
	return uar;
}

void xenib_uar_put(struct xenib_uars *uars, struct xenib_uar *uar)
{
	pthread_mutex_lock(&uars->lock);
	uar->users--;
	pthread_mutex_unlock(&uars->lock);
}
