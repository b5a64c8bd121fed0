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
#include "xen/gntdev.h"

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
	err = gntdev_map(s->gntdev, s->domain.domid, refs, length / sizeof(*refs), index);
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

struct broker_response serving_request(struct serving *s, const struct broker_request *request,
				       const char *body)
{
	struct broker_response rsp = { 0 };
	struct hca_uar uar = { 0 };
	uint32_t i;

	for (i = 0; i < request->n_mapped && i < BROKER_MAPS; i++)
		forget_mapping(s, request->mapped[i]);
	switch (request->op) {
	case BROKER_DOMAIN:
		rsp.err = domain_check(&s->domain);
		break;
	case BROKER_UAR_ALLOC:
		rsp.err = uar_pool_alloc(&s->uars, request->type, request->gfn, &uar);
		rsp.index = uar.index;
		rsp.frame = uar.frame;
		break;
	case BROKER_UAR_FREE:
		rsp.err = uar_pool_free(&s->uars, request->index);
		break;
	case BROKER_UAR_RESET:
		rsp.err = uar_pool_reset(&s->uars);
		break;
	case BROKER_POOL_ALIVE:
		rsp.err = s->uars.family->uar_pool_alive(s->uars.file) ? 0 : -EIO;
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
	rsp.auto_translated = s->domain.auto_translated;
	return rsp;
}
