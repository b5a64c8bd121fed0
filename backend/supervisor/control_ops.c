// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * control_ops.c - see control_ops.h. It asks xenstore and reads status files, and waits for nobody else.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "admin/listing.h"
#include "admin/metrics.h"
#include "shared-ring/vhca.h"
#include "supervisor/control_ops.h"
#include "xen/attach.h"

#ifndef XEN_IB_RELEASE
#define XEN_IB_RELEASE "unknown"
#endif

/* Which vHCAs a request is about; -1: all. */
struct question {
	const struct answer_source *source;
	struct control_reply *reply;
	int domid, devid;
	bool with_status;
	unsigned int found;

	/* For metrics: */
	struct listing *listings;
	unsigned int n;
};

static void add_worker(struct listing *listing, const struct answer_source *source)
{
	const struct device *device;

	LIST_FOREACH(device, source->devices, link) {
		if (device->domid != listing->domid || device->devid != listing->devid)
			continue;
		listing->worker = device->pid;
		listing->failures = device->failures;
	}
}

static bool read_one(struct listing *listing, const struct question *q, const char *root, unsigned int domid,
		     unsigned int devid)
{
	if ((q->domid >= 0 && domid != (unsigned int)q->domid) || (q->devid >= 0 && devid != (unsigned int)q->devid))
		return false;
	if (!listing_read(listing, q->source->xs, root, domid, devid))
		return false;
	if (listing->backend == q->source->own)
		add_worker(listing, q->source);
	return true;
}

/* Each line of a status file begins with a tab, so that none can be taken for one of ours. */
static void write_status(FILE *to, const char *dir, unsigned int domid, unsigned int devid)
{
	char *text = status_file(dir, domid, devid), *rest = text, *line;

	while (rest && (line = strsep(&rest, "\n")))
		if (*line)
			fprintf(to, "\t%s\n", line);
	free(text);
}

static void list_one(void *context, const char *root, unsigned int domid, unsigned int devid)
{
	struct question *q = context;
	struct listing listing;

	if (!read_one(&listing, q, root, domid, devid))
		return;
	q->found++;
	if (ftell(q->reply->body) > CONTROL_BODY_MAX) /* which will not be sent */
		return;
	listing_write(&listing, q->reply->body);
	if (q->with_status && listing.backend == q->source->own)
		write_status(q->reply->body, q->source->dir, domid, devid);
}

static void collect_one(void *context, const char *root, unsigned int domid, unsigned int devid)
{
	struct question *q = context;
	struct listing read, *listing;

	if (!read_one(&read, q, root, domid, devid))
		return;
	listing = listing_add(&q->listings, &q->n);
	if (!listing)
		return;
	*listing = read;
	listing->status = calloc(1, sizeof(*listing->status));
	if (listing->status && status_load(listing->status, q->source->dir, domid, devid))
		return;
	free(listing->status);
	listing->status = NULL;
}

static void answer_list(struct question *q, const struct control_request *req)
{
	listing_everywhere(q->source->xs, q->source->own, list_one, q);
	if (req->has_devid && !q->found)
		control_fail(q->reply, CONTROL_NOT_FOUND, "domain %s has no vHCA %u", req->domain, req->devid);
}

static void answer_metrics(struct question *q)
{
	listing_each(q->source->xs, q->source->root, collect_one, q);
	metrics_write(q->reply->body, q->listings, q->n, XEN_IB_RELEASE);
	listing_free(q->listings, q->n);
}

static void answer_change(struct question *q, int err, unsigned int devid, const char *why)
{
	switch (-err) {
	case 0:
		fprintf(q->reply->body, "vhca %d %u\n", q->domid, devid);
		break;
	case ENOENT:
		control_fail(q->reply, CONTROL_NOT_FOUND, "%s", why);
		break;
	case EINVAL:
		control_fail(q->reply, CONTROL_USAGE, "%s", why);
		break;
	default:
		control_fail(q->reply, CONTROL_REFUSED, "%s", why);
		break;
	}
}

static void answer_attach(struct question *q, const struct control_request *req)
{
	struct vhca_config config;
	unsigned int devid = 0;
	char why[200];
	int err;

	err = config_parse_spec(req->spec, &config, why, sizeof(why));
	if (!err)
		err = attach_vhca(q->source->xs, q->source->own, q->domid, &config, &devid, why, sizeof(why));
	answer_change(q, err, devid, why);
}

static void answer_detach(struct question *q, const struct control_request *req)
{
	char why[200];
	int err;

	err = detach_vhca(q->source->xs, q->source->own, q->domid, req->devid, req->force, why, sizeof(why));
	answer_change(q, err, req->devid, why);
}

void answer_request(void *from, const struct control_request *req, struct control_reply *reply)
{
	struct question q = { .source = from, .reply = reply, .domid = -1, .devid = -1 };

	if (req->verb == CONTROL_ATTACH && q.source->own) {
		control_fail(reply, CONTROL_REFUSED,
			     "this is domain %u, and only dom0 can give a domain a vHCA: there, with backend=%u",
			     q.source->own, q.source->own);
		return;
	}
	if (req->domain[0]) {
		q.domid = attach_domain(q.source->xs, q.source->own, req->domain);
		if (q.domid < 0) {
			control_fail(reply, CONTROL_NOT_FOUND, "there is no domain %s", req->domain);
			return;
		}
	}
	if (req->has_devid)
		q.devid = req->devid;
	q.with_status = req->verb == CONTROL_SHOW;
	switch (req->verb) {
	case CONTROL_VERSION:
		fprintf(reply->body, "release %s\nprotocol %u\npid %d\n", XEN_IB_RELEASE, XEN_VHCA_VERSION, getpid());
		break;
	case CONTROL_LIST:
	case CONTROL_SHOW:
		answer_list(&q, req);
		break;
	case CONTROL_ATTACH:
		answer_attach(&q, req);
		break;
	case CONTROL_DETACH:
		answer_detach(&q, req);
		break;
	case CONTROL_METRICS:
		answer_metrics(&q);
		break;
	}
}
