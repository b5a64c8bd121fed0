// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * requests.c - see requests.h.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "broker/requests.h"
#include "hca/hca.h"
#include "xen/gntdev.h"

/*
 * Its type stays as it is; all that can change is that the domain is gone. That is also why a type
 * that was known is known no more.
 */
int serving_domain(struct serving *s)
{
	int err = iomem_domain(s->iomem, s->domid, &s->auto_translated);

	if (!err)
		s->known = true;
	if (!s->known)
		return err;
	return err == -ESRCH || err == -EAGAIN ? -ESRCH : 0;
}

static bool is_doorbell(const struct serving *s, uint64_t mfn)
{
	return mfn >= s->first_frame && mfn < s->end_frame;
}

static int new_uar(struct serving *s, uint32_t type, uint64_t *index)
{
	uint32_t page, handle;
	int err;

	if (uar_table_full(s->table))
		return -ENOSPC;
	err = hca_uar_alloc(s->pool, type, &page, &handle);
	if (err)
		return err;
	if (!is_doorbell(s, s->bar_frame + page))
		return -ERANGE;
	uar_table_add(s->table, page, type, s->bar_frame + page);
	*index = page;
	return 0;
}

static struct iomem_frame frame_of(const struct serving *s, uint64_t mfn, uint64_t gfn)
{
	return (struct iomem_frame){
		.domid = s->domid, .devid = s->devid, .mfn = mfn, .gfn = s->auto_translated ? gfn : 0,
		.auto_translated = s->auto_translated,
	};
}

/*
 * What the guest was given is taken from where that is, whatever the worker says. -EINVAL: the guest
 * has removed the mapping itself. After another error it may have it still, and so the record stays.
 */
static int take(struct serving *s, struct uar_entry *record)
{
	const struct iomem_frame frame = frame_of(s, record->frame, record->gfn);
	int err = iomem_deny(s->iomem, &frame);

	if (err && err != -EINVAL)
		return err;
	record->allowed = 0;
	record->gfn = 0;
	return err;
}

/*
 * The record is written before the guest is given the right, so that whatever happens in between
 * the next worker knows of all that the guest may have seen. It has room for one place, so a page
 * that is somewhere is taken from there first.
 */
static int allow(struct serving *s, uint64_t mfn, uint64_t gfn)
{
	struct uar_entry *record = uar_table_find(s->table, mfn);
	struct iomem_frame frame;
	int err;

	if (!record)
		return -EPERM;
	if (record->allowed) {
		err = take(s, record);
		if (err && err != -EINVAL)
			return err;
	}
	if (s->auto_translated && uar_table_at(s->table, gfn))
		return -EEXIST;
	frame = frame_of(s, mfn, gfn);
	record->gfn = frame.gfn;
	record->allowed = 1;
	err = iomem_allow(s->iomem, &frame);
	if (err)
		record->allowed = record->gfn = 0;
	return err;
}

/* A domain that is dying has lost its frames by itself, and Xen complains when asked to take them. */
static int deny(struct serving *s, uint64_t mfn)
{
	struct uar_entry *record = uar_table_find(s->table, mfn);

	if (!record)
		return -EPERM;
	return !record->allowed || serving_domain(s) ? 0 : take(s, record);
}

/*
 * What the worker has mapped it has made gntdev forget by itself, so that its munmap() is the end of
 * it. Whether it has or not: it has no name any more when it does not count any more.
 */
static void forget_mapping(struct serving *s, uint64_t index)
{
	unsigned int i;

	for (i = 0; i < BROKER_MAPS; i++) {
		if (!s->maps[i].count || s->maps[i].index != index)
			continue;
		gntdev_unmap(s->gntdev, index, s->maps[i].count);
		s->maps[i].count = 0;
		return;
	}
}

static struct broker_mapping *free_mapping(struct serving *s)
{
	unsigned int i;

	for (i = 0; i < BROKER_MAPS; i++)
		if (!s->maps[i].count)
			return &s->maps[i];
	return NULL;
}

static int map(struct serving *s, const char *body, uint32_t length, uint64_t *index)
{
	struct broker_mapping *mapping = free_mapping(s);
	uint32_t refs[BROKER_MAP_PAGES];
	int err;

	if (!length || length % sizeof(*refs) || length > sizeof(refs))
		return -EINVAL;
	if (!mapping)
		return -EBUSY;
	memcpy(refs, body, length);
	err = gntdev_map(s->gntdev, s->domid, refs, length / sizeof(*refs), index);
	if (!err)
		*mapping = (struct broker_mapping){ *index, length / sizeof(*refs) };
	return err;
}

static int write_status(const struct serving *s, const char *body, uint32_t length)
{
	FILE *file;

	if (!length)
		return unlink(s->path) ? -errno : 0;
	file = fopen(s->temporary, "we");
	if (!file)
		return -errno;
	fwrite(body, 1, length, file);
	if (fclose(file) || rename(s->temporary, s->path))
		return -errno;
	return 0;
}

struct broker_response serving_request(struct serving *s, const struct broker_request *request, const char *body)
{
	struct broker_response rsp = { 0 };
	uint32_t i;

	for (i = 0; i < request->n_mapped && i < BROKER_MAPS; i++)
		forget_mapping(s, request->mapped[i]);
	switch (request->op) {
	case BROKER_DOMAIN:
		rsp.err = serving_domain(s);
		break;
	case BROKER_ALLOW:
		rsp.err = allow(s, request->mfn, request->gfn);
		break;
	case BROKER_DENY:
		rsp.err = deny(s, request->mfn);
		break;
	case BROKER_UAR:
		rsp.err = new_uar(s, request->type, &rsp.index);
		break;
	case BROKER_POOL_ALIVE:
		rsp.err = hca_uar_pool_alive(s->pool) ? 0 : -EIO;
		break;
	case BROKER_MAP:
		rsp.err = map(s, body, request->length, &rsp.index);
		break;
	case BROKER_STATUS:
		rsp.err = write_status(s, body, request->length);
		break;
	default:
		rsp.err = -ENOSYS;
	}
	rsp.auto_translated = s->auto_translated;
	return rsp;
}
