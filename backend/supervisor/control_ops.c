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
struct op {
	const struct control_source *source;
	struct control_reply *reply;
	int domid, devid;
	bool with_status;
	unsigned int found;

	/* For metrics: */
	struct listing *listings;
	unsigned int n;
};

static void add_worker(struct listing *listing, const struct control_source *source)
{
	const struct device *device;

	LIST_FOREACH(device, source->devices, link) {
		if (device->domid != listing->domid || device->devid != listing->devid)
			continue;
		listing->worker = device->pid;
		listing->failures = device->failures;
	}
}

static bool read_one(struct listing *listing, const struct op *op, const char *root,
		     unsigned int domid, unsigned int devid)
{
	if ((op->domid >= 0 && domid != (unsigned int)op->domid) ||
	    (op->devid >= 0 && devid != (unsigned int)op->devid))
		return false;
	if (!listing_read(listing, op->source->xs, root, domid, devid))
		return false;
	if (listing->backend == op->source->own)
		add_worker(listing, op->source);
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
	struct op *op = context;
	struct listing listing;

	if (!read_one(&listing, op, root, domid, devid))
		return;
	op->found++;
	if (ftell(op->reply->body) > CONTROL_BODY_MAX) /* which will not be sent */
		return;
	listing_write(&listing, op->reply->body);
	if (op->with_status && listing.backend == op->source->own)
		write_status(op->reply->body, op->source->dir, domid, devid);
}

static void collect_one(void *context, const char *root, unsigned int domid, unsigned int devid)
{
	struct op *op = context;
	struct listing read, *listing;

	if (!read_one(&read, op, root, domid, devid))
		return;
	listing = listing_add(&op->listings, &op->n);
	if (!listing)
		return;
	*listing = read;
	listing->status = calloc(1, sizeof(*listing->status));
	if (listing->status && status_load(listing->status, op->source->dir, domid, devid))
		return;
	free(listing->status);
	listing->status = NULL;
}

static void op_list(struct op *op, const struct control_request *req)
{
	listing_everywhere(op->source->xs, op->source->own, list_one, op);
	if (req->has_devid && !op->found)
		control_fail(op->reply, CONTROL_NOT_FOUND, "domain %s has no vHCA %u", req->domain,
			     req->devid);
}

static void op_metrics(struct op *op)
{
	listing_each(op->source->xs, op->source->root, collect_one, op);
	metrics_write(op->reply->body, op->listings, op->n, XEN_IB_RELEASE);
	listing_free(op->listings, op->n);
}

static void op_change(struct op *op, int err, unsigned int devid, const char *why)
{
	switch (-err) {
	case 0:
		fprintf(op->reply->body, "vhca %d %u\n", op->domid, devid);
		break;
	case ENOENT:
		control_fail(op->reply, CONTROL_NOT_FOUND, "%s", why);
		break;
	case EINVAL:
		control_fail(op->reply, CONTROL_USAGE, "%s", why);
		break;
	default:
		control_fail(op->reply, CONTROL_REFUSED, "%s", why);
		break;
	}
}

static void op_attach(struct op *op, const struct control_request *req)
{
	struct vhca_config config;
	unsigned int devid = 0;
	char why[200];
	int err;

	err = config_parse_spec(req->spec, &config, why, sizeof(why));
	if (!err)
		err = attach_vhca(op->source->xs, op->source->own, op->domid, &config, &devid, why,
				  sizeof(why));
	op_change(op, err, devid, why);
}

static void op_detach(struct op *op, const struct control_request *req)
{
	char why[200];
	int err;

	err = detach_vhca(op->source->xs, op->source->own, op->domid, req->devid, req->force, why,
			  sizeof(why));
	op_change(op, err, req->devid, why);
}

static void op_set(struct op *op, const struct control_request *req)
{
	struct vhca_config config;
	char why[200];
	int err;

	err = config_parse_limits(req->spec, &config, why, sizeof(why));
	if (!err)
		err = attach_set(op->source->xs, op->source->own, op->domid, req->devid, &config,
				 why, sizeof(why));
	op_change(op, err, req->devid, why);
}

void control_ops_request(void *from, const struct control_request *req, struct control_reply *reply)
{
	struct op op = { .source = from, .reply = reply, .domid = -1, .devid = -1 };

	if (req->verb == CONTROL_ATTACH && op.source->own) {
		control_fail(
			reply, CONTROL_REFUSED,
			"this is domain %u, and only dom0 can give a domain a vHCA: run it there, with backend=%u",
			op.source->own, op.source->own);
		return;
	}
	if (req->domain[0]) {
		op.domid = attach_domain(op.source->xs, op.source->own, req->domain);
		if (op.domid < 0) {
			control_fail(reply, CONTROL_NOT_FOUND, "there is no domain %s",
				     req->domain);
			return;
		}
	}
	if (req->has_devid)
		op.devid = req->devid;
	op.with_status = req->verb == CONTROL_SHOW;
	switch (req->verb) {
	case CONTROL_VERSION:
		fprintf(reply->body, "release %s\nprotocol %u\npid %d\n", XEN_IB_RELEASE,
			XEN_VHCA_VERSION, getpid());
		break;
	case CONTROL_LIST:
	case CONTROL_SHOW:
		op_list(&op, req);
		break;
	case CONTROL_ATTACH:
		op_attach(&op, req);
		break;
	case CONTROL_DETACH:
		op_detach(&op, req);
		break;
	case CONTROL_METRICS:
		op_metrics(&op);
		break;
	case CONTROL_SET:
		op_set(&op, req);
		break;
	}
}
