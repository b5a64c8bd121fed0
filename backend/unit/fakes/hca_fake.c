// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * hca_fake.c - see hca_fake.h.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared-ring/unit/example.h"
#include "shared-ring/vhca_check.h"
#include "unit/fakes/fake_objects.h"
#include "unit/fakes/hca_fake.h"
#include "unit/fakes/transport_shm.h"

#define C ((struct fake_ctx *)ctx)

static int query_device(struct hca *hca, struct xen_vhca_device_attr *attr)
{
	(void)hca;
	*attr = example_limits();
	attr->max_pd = attr->max_mr = attr->max_cq = attr->max_qp = attr->max_srq = 1u << 16;
	return 0;
}

static int query_port(struct hca *hca, struct xen_vhca_port_attr *attr)
{
	(void)hca;
	*attr = (struct xen_vhca_port_attr){ .state = 4,
					     .max_mtu = 5,
					     .active_mtu = 5,
					     .lid = 3,
					     .gid_tbl_len = 8,
					     .pkey_tbl_len = 128 };
	return 0;
}

static int query_gid(struct hca *hca, uint32_t index, uint8_t gid[16])
{
	(void)hca;
	memset(gid, index, 16);
	return 0;
}

static int query_pkey(struct hca *hca, uint32_t index, uint16_t *pkey)
{
	if (fake_fails((struct fake_hca *)hca))
		return -EIO;
	*pkey = index ? 0x8000 + index : 0xffff;
	return 0;
}

static int query_clock(struct hca *hca, uint64_t *ticks)
{
	if (fake_fails((struct fake_hca *)hca))
		return -EOPNOTSUPP;
	*ticks = FAKE_TICKS;
	return 0;
}

static int ctx_open(struct hca *hca, bool events, struct hca_ctx **ctx)
{
	struct fake_hca *fake = (struct fake_hca *)hca;
	struct fake_ctx *c = calloc(1, sizeof(*c));

	fake_must(!!c, "no memory");
	pthread_mutex_lock(&fake_lock);
	if (fake_fails(fake)) {
		pthread_mutex_unlock(&fake_lock);
		free(c);
		return -EMFILE;
	}
	c->fake = fake;
	fake_queue_init(&c->completions, events);
	fake_queue_init(&c->events, events);
	LIST_INSERT_HEAD(&fake->open, c, link);
	fake->contexts++;
	pthread_mutex_unlock(&fake_lock);
	*ctx = (struct hca_ctx *)c;
	return 0;
}

static void ctx_close(struct hca_ctx *ctx)
{
	unsigned int n;

	pthread_mutex_lock(&fake_lock);
	for (n = 1; n < MAX_OBJECTS; n++)
		if (C->objects[n].kind)
			fake_drop(C, &C->objects[n]);
	C->fake->contexts--;
	LIST_REMOVE(C, link);
	fake_queue_free(&C->completions);
	fake_queue_free(&C->events);
	pthread_mutex_unlock(&fake_lock);
	free(ctx);
}

static int completion_fd(struct hca_ctx *ctx)
{
	return C->completions.fd;
}

static int next_completion(struct hca_ctx *ctx, uint64_t *user)
{
	struct hca_event event;
	int got;

	pthread_mutex_lock(&fake_lock);
	if (C->fake->endless)
		got = fake_queue_peek(&C->completions, &event);
	else
		got = fake_queue_get(&C->completions, &event);
	pthread_mutex_unlock(&fake_lock);
	if (got)
		*user = event.user;
	return got;
}

static int channel_open(struct hca_ctx *ctx)
{
	int fd;

	fake_must(C->completions.fd >= 0, "a channel in a context without events");
	if (fake_fails(C->fake))
		return -EMFILE;
	fd = eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC);
	fake_must(fd > 0, "no descriptor");
	return fd;
}

static int channel_next(struct hca *hca, int channel)
{
	eventfd_t one;
	bool endless;

	pthread_mutex_lock(&fake_lock);
	endless = ((struct fake_hca *)hca)->endless_channel == channel;
	pthread_mutex_unlock(&fake_lock);
	return endless || !eventfd_read(channel, &one);
}

static int event_fd(struct hca_ctx *ctx)
{
	return C->events.fd;
}

static int next_event(struct hca_ctx *ctx, struct hca_event *event)
{
	int got;

	pthread_mutex_lock(&fake_lock);
	got = fake_queue_get(&C->events, event);
	pthread_mutex_unlock(&fake_lock);
	return got;
}

static int port_fd(struct hca *hca)
{
	return ((struct fake_hca *)hca)->port.fd;
}

static int next_port_event(struct hca *hca, uint32_t *type)
{
	struct hca_event event;
	int got;

	pthread_mutex_lock(&fake_lock);
	got = fake_queue_get(&((struct fake_hca *)hca)->port, &event);
	pthread_mutex_unlock(&fake_lock);
	if (got)
		*type = event.type;
	return got;
}

static void uar_layout(struct hca *hca, uint32_t type, uint32_t *bf_size, uint32_t *bf_offset)
{
	(void)hca;
	*bf_size = type == XEN_VHCA_UAR_BF ? 256 : 0;
	*bf_offset = 0x800;
}

static int make_obj(struct fake_ctx *c, enum fake_kind kind, const struct fake_object *from,
		    struct hca_obj *obj)
{
	int err = fake_make(c, kind, from, &obj->id);

	obj->number = obj->id + 0x100;
	return err;
}

static int pd_alloc(struct hca_ctx *ctx, struct hca_obj *pd)
{
	fake_meet(C->fake);
	return make_obj(C, PD, &(struct fake_object){ 0 }, pd);
}

static int pd_free(struct hca_ctx *ctx, uint32_t pd)
{
	return fake_destroy(C, pd, PD);
}

/* Of the transport's: transport_shm.h. */
static void must_be_complete(const struct hca_place *at, bool writable)
{
	char octets[SHM_PAGES];
	struct stat st;

	fake_must(!fstat(at->dmabuf, &st) && st.st_size <= SHM_PAGES, "no dma-buf");
	fake_must(pread(at->dmabuf, octets, st.st_size, 0) == st.st_size, "no dma-buf");
	fake_must(!memchr(octets, 0, st.st_size), "the dma-buf lacks pages");
	fake_must(at->addr + at->length <= (uint64_t)st.st_size * 4096, "beyond the dma-buf");
	fake_must(!writable || st.st_mode & 0200, "a read-only dma-buf");
}

/*
 * An object's memory. The descriptor of a dma-buf may be closed before the object ends, so such memory
 * is not looked at again.
 */
static void use_memory(struct fake_object *o, unsigned int n, const struct hca_place *at,
		       bool writable)
{
	if (at->dmabuf >= 0) {
		must_be_complete(at, writable);
		return;
	}
	o->addr[n] = at->addr;
	o->length[n] = at->length;
}

static void use_queue(struct fake_ctx *c, struct fake_object *o, const struct hca_place *buf,
		      const struct hca_place *dbr, uint64_t bytes)
{
	fake_must(c->fake->hca.queue_dmabufs || (buf->dmabuf < 0 && dbr->dmabuf < 0),
		  "a queue in a dma-buf");
	fake_must(buf->length == bytes && dbr->length == 8, "the length of a queue");
	use_memory(o, 0, buf, true);
	use_memory(o, 1, dbr, true);
}

static int mr_reg(struct hca_ctx *ctx, const struct hca_mr_attr *attr, struct hca_mr *mr)
{
	struct fake_object o = { .parents = { attr->pd },
				 .writable = attr->access & VHCA_ACCESS_WRITES };
	int err;

	use_memory(&o, 0, &attr->at, attr->access & VHCA_ACCESS_WRITES);
	fake_must(attr->at.dmabuf < 0 || (attr->at.addr & 4095) == (attr->iova & 4095),
		  "offset and iova differ in the page");
	fake_check(C, attr->pd, PD);
	if (C->fake->slow_us) /* to sleep for no time takes its time as well */
		usleep(C->fake->slow_us);
	err = fake_make(C, MR, &o, &mr->id);
	mr->lkey = mr->rkey = mr->id << 8;
	return err;
}

static int mr_modify(struct hca_ctx *ctx, uint32_t mr, const struct hca_mr_attr *attr,
		     struct hca_mr *is)
{
	fake_check(C, attr->pd, PD);
	fake_must(!(attr->access & VHCA_ACCESS_WRITES) || attr->at.dmabuf >= 0 ||
			  C->objects[mr].writable,
		  "writing to memory that was pinned for reading");
	if (fake_fails(C->fake))
		return -EIO;
	fake_move(C, mr, MR, attr->pd);
	*is = (struct hca_mr){ .id = mr, .lkey = mr << 8, .rkey = mr << 8 };
	return 0;
}

static int mr_dereg(struct hca_ctx *ctx, uint32_t mr)
{
	return fake_destroy(C, mr, MR);
}

static int mw_alloc(struct hca_ctx *ctx, uint32_t pd, uint32_t type, uint32_t entries,
		    struct hca_mr *mw)
{
	int err;

	fake_must(type == 2 || !entries, "entries of a window of type 1");
	fake_check(C, pd, PD);
	err = fake_make(C, MW, &(struct fake_object){ .parents = { pd } }, &mw->id);
	mw->lkey = 0;
	mw->rkey = mw->id << 8 | entries; /* who tests it sees what was asked for */
	return err;
}

static int mw_free(struct hca_ctx *ctx, uint32_t mw)
{
	return fake_destroy(C, mw, MW);
}

static int cq_create(struct hca_ctx *ctx, const struct hca_cq_attr *attr, struct hca_obj *cq)
{
	struct fake_object o = { .user = attr->user, .events = attr->events };
	int err;

	use_queue(C, &o, &attr->buf, &attr->dbr, (uint64_t)attr->cqes * attr->cqe_size);
	fake_must(!attr->events || C->completions.fd >= 0, "events in a context without");
	fake_must(attr->uar_index, "CQ without UAR");
	C->fake->cq_flags = attr->flags;
	if (attr->channel >= 0) {
		fake_must(attr->events, "a channel for no events");
		o.channel = attr->channel;
		o.copy = dup(attr->channel);
		fake_must(o.copy > 0, "no channel");
	}
	err = make_obj(C, CQ, &o, cq);
	if (err && o.copy)
		close(o.copy);
	return err;
}

static int cq_modify(struct hca_ctx *ctx, uint32_t cq, uint16_t count, uint16_t period_us)
{
	(void)count;
	(void)period_us;
	fake_check(C, cq, CQ);
	return 0;
}

static int cq_resize(struct hca_ctx *ctx, uint32_t cq, uint32_t cqes, uint32_t cqe_size,
		     const struct hca_place *buf)
{
	struct fake_object *o = fake_get(C, cq, CQ);

	fake_must(buf->dmabuf < 0, "a CQ's other buffer in a dma-buf");
	fake_must(buf->length == (uint64_t)cqes * cqe_size, "the length of a CQ's other buffer");
	fake_must(buf->length != o->length[0], "a CQ resized to what it is");
	fake_must_be_mapped(buf->addr, buf->length, "a CQ's other buffer");
	if (fake_fails(C->fake))
		return -EINVAL;
	use_memory(o, 0, buf, true);
	return 0;
}

static int cq_destroy(struct hca_ctx *ctx, uint32_t cq)
{
	return fake_destroy(C, cq, CQ);
}

static int xrcd_open(struct hca_ctx *ctx, int domain, uint32_t *xrcd)
{
	struct stat st;
	int err;

	fake_must(!fstat(domain, &st), "an XRC domain without a descriptor");
	err = fake_make(C, XRCD, &(struct fake_object){ 0 }, xrcd);
	if (err)
		return err;
	pthread_mutex_lock(&fake_lock);
	C->fake->domain = st.st_ino;
	pthread_mutex_unlock(&fake_lock);
	return 0;
}

static int xrcd_close(struct hca_ctx *ctx, uint32_t xrcd)
{
	return fake_destroy(C, xrcd, XRCD);
}

static int srq_create(struct hca_ctx *ctx, const struct hca_srq_attr *attr, struct hca_obj *srq)
{
	struct fake_object o = { .parents = { attr->pd, attr->cq, attr->xrcd },
				 .user = attr->user };

	use_queue(C, &o, &attr->buf, &attr->dbr,
		  (uint64_t)attr->wqes * vhca_srq_stride(attr->max_sge));
	fake_check(C, attr->pd, PD);
	fake_must(attr->xrc || (!attr->cq && !attr->xrcd), "a CQ of an SRQ without domain");
	if (attr->xrc) {
		fake_check(C, attr->cq, CQ);
		fake_check(C, attr->xrcd, XRCD);
	}
	return make_obj(C, SRQ, &o, srq);
}

static int srq_modify(struct hca_ctx *ctx, uint32_t srq, uint32_t limit)
{
	(void)limit;
	fake_check(C, srq, SRQ);
	return 0;
}

static int srq_query(struct hca_ctx *ctx, uint32_t srq, struct xen_vhca_srq_attr *attr)
{
	fake_check(C, srq, SRQ);
	*attr = (struct xen_vhca_srq_attr){ .max_wr = 255, .max_sge = 1 };
	return 0;
}

static int srq_destroy(struct hca_ctx *ctx, uint32_t srq)
{
	return fake_destroy(C, srq, SRQ);
}

static int target_create(struct hca_ctx *ctx, const struct hca_qp_attr *attr, struct hca_obj *qp)
{
	struct fake_object o = { .user = attr->user, .parents = { attr->xrcd } };

	fake_check(C, attr->xrcd, XRCD);
	fake_must(!attr->pd && !attr->send_cq && !attr->recv_cq && !attr->buf.length &&
			  !attr->dbr.length,
		  "more than a domain of an XRC target");
	fake_must(attr->buf.dmabuf < 0 && attr->dbr.dmabuf < 0, "an XRC target in a dma-buf");
	return make_obj(C, QP, &o, qp);
}

static int qp_create(struct hca_ctx *ctx, const struct hca_qp_attr *attr, struct hca_obj *qp)
{
	struct fake_object o = {
		.user = attr->user,
		.parents = { attr->pd, attr->send_cq, attr->recv_cq, attr->srq },
	};

	if (attr->type == XEN_VHCA_QPT_XRC_TGT)
		return target_create(ctx, attr, qp);
	use_queue(C, &o, &attr->buf, &attr->dbr,
		  ((uint64_t)attr->rq_wqes << attr->rq_shift) + (uint64_t)attr->sq_blocks * 64);
	fake_check(C, attr->pd, PD);
	fake_check(C, attr->send_cq, CQ);
	if (attr->type != XEN_VHCA_QPT_XRC_INI)
		fake_check(C, attr->recv_cq, CQ);
	if (attr->has_srq)
		fake_check(C, attr->srq, SRQ);
	fake_must(attr->uar_index, "QP without UAR");
	C->fake->send_cq = attr->send_cq;
	C->fake->block_loopback = attr->block_loopback;
	C->fake->recv_cq = attr->recv_cq;
	return make_obj(C, QP, &o, qp);
}

static int qp_modify(struct hca_ctx *ctx, uint32_t qp, uint32_t mask,
		     const struct xen_vhca_qp_attr *attr)
{
	(void)mask;
	fake_check(C, qp, QP);
	return attr->state == 3 ? -EINVAL : 0; /* RTS is refused, to have an E_HCA */
}

static int qp_query(struct hca_ctx *ctx, uint32_t qp, struct xen_vhca_qp_attr *attr)
{
	fake_check(C, qp, QP);
	memset(attr, 0, sizeof(*attr));
	attr->state = 1;
	return 0;
}

static int qp_destroy(struct hca_ctx *ctx, uint32_t qp)
{
	return fake_destroy(C, qp, QP);
}

static int mcast(struct hca_ctx *ctx, uint32_t qp, bool attach, const uint8_t gid[16], uint16_t lid)
{
	struct fake_hca *fake = C->fake;
	int err = 0;

	(void)lid;
	fake_must(gid[0] == 0xff, "no multicast GID");
	fake_check(C, qp, QP);
	pthread_mutex_lock(&fake_lock);
	if (fake_fails(fake))
		err = -ENOMEM;
	else
		fake->members += attach ? 1 : -1;
	pthread_mutex_unlock(&fake_lock);
	return err;
}

static const struct hca_ops fake_ops = {
	.query_device = query_device,
	.query_port = query_port,
	.query_gid = query_gid,
	.query_pkey = query_pkey,
	.query_clock = query_clock,
	.port_fd = port_fd,
	.next_port_event = next_port_event,
	.ctx_open = ctx_open,
	.ctx_close = ctx_close,
	.completion_fd = completion_fd,
	.next_completion = next_completion,
	.channel_open = channel_open,
	.channel_next = channel_next,
	.event_fd = event_fd,
	.next_event = next_event,
	.uar_layout = uar_layout,
	.pd_alloc = pd_alloc,
	.pd_free = pd_free,
	.mr_reg = mr_reg,
	.mr_modify = mr_modify,
	.mr_dereg = mr_dereg,
	.mw_alloc = mw_alloc,
	.mw_free = mw_free,
	.cq_create = cq_create,
	.cq_modify = cq_modify,
	.cq_resize = cq_resize,
	.cq_destroy = cq_destroy,
	.xrcd_open = xrcd_open,
	.xrcd_close = xrcd_close,
	.srq_create = srq_create,
	.srq_modify = srq_modify,
	.srq_query = srq_query,
	.srq_destroy = srq_destroy,
	.qp_create = qp_create,
	.qp_modify = qp_modify,
	.qp_query = qp_query,
	.qp_destroy = qp_destroy,
	.mcast = mcast,
};

void fake_init(struct fake_hca *fake)
{
	memset(fake, 0, sizeof(*fake));
	fake->hca.ops = &fake_ops;
	fake->hca.xrc = true;
	LIST_INIT(&fake->open);
	fake_queue_init(&fake->port, true);
}

void fake_fini(struct fake_hca *fake)
{
	fake_queue_free(&fake->port);
}

/* Under the lock. */
static struct fake_object *find_user(struct fake_ctx *c, uint64_t user)
{
	unsigned int n;

	for (n = 1; n < c->top; n++)
		if (c->objects[n].kind && c->objects[n].user == user)
			return &c->objects[n];
	return NULL;
}

/* Under the lock. */
static void put_into_channel(struct fake_hca *fake, const struct fake_object *o)
{
	eventfd_write(o->copy, 1);
	fake->woken(fake->woken_arg, o->channel);
}

bool fake_complete(struct fake_hca *fake, uint64_t user)
{
	struct fake_object *o;
	struct fake_ctx *c;
	bool found = false;

	pthread_mutex_lock(&fake_lock);
	LIST_FOREACH(c, &fake->open, link) {
		o = find_user(c, user);
		if (!o || o->kind != CQ || !o->events)
			continue;
		if (o->channel)
			put_into_channel(fake, o);
		else
			fake_queue_put(&c->completions, user, 0);
		found = true;
	}
	pthread_mutex_unlock(&fake_lock);
	return found;
}

/* Millions are read: none of them takes a system call here. */
bool fake_flood(struct fake_hca *fake, uint64_t user)
{
	const struct fake_object *o;
	struct fake_ctx *c;

	pthread_mutex_lock(&fake_lock);
	fake->endless = true;
	LIST_FOREACH(c, &fake->open, link) {
		o = find_user(c, user);
		if (o && o->channel)
			fake->endless_channel = o->channel;
	}
	pthread_mutex_unlock(&fake_lock);
	return fake_complete(fake, user);
}

bool fake_async(struct fake_hca *fake, uint64_t user, uint32_t type)
{
	struct fake_ctx *c;
	bool found = false;

	pthread_mutex_lock(&fake_lock);
	LIST_FOREACH(c, &fake->open, link) {
		if (!find_user(c, user))
			continue;
		fake_queue_put(&c->events, user, type);
		found = true;
	}
	pthread_mutex_unlock(&fake_lock);
	return found;
}

void fake_port(struct fake_hca *fake, uint32_t type)
{
	struct fake_ctx *c;

	pthread_mutex_lock(&fake_lock);
	fake_queue_put(&fake->port, 1, type);
	LIST_FOREACH(c, &fake->open, link)
		fake_queue_put(&c->events, 1, type);
	pthread_mutex_unlock(&fake_lock);
}
