// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * hca_fake.c - see hca_fake.h.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared-ring/unit/example.h"
#include "shared-ring/vhca_check.h"
#include "unit/fakes/hca_fake.h"
#include "unit/fakes/transport_shm.h"

#define MAX_OBJECTS 8192u

enum kind { FREE, PD, MR, MW, CQ, SRQ, QP, XRCD };

struct fake_object {
	enum kind kind;
	unsigned int refs;
	uint64_t user;
	bool events;       /* of a CQ: completion events */
	int channel, copy; /* of its own, and a copy of the descriptor; or 0 */
	uint32_t parents[4];
	uint64_t addr[2], length[2];
};

struct fake_ctx {
	struct fake_hca *fake;
	struct fake_queue completions, events;
	LIST_ENTRY(fake_ctx) link;
	struct fake_object objects[MAX_OBJECTS]; /* 0 is none */
	unsigned int top;                        /* none has been used from here on */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void must(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "fake HCA: %s\n", what);
	abort();
}

static bool fails(struct fake_hca *fake)
{
	return fake->fail_in && !--fake->fail_in;
}

/* msync() tells of a range that is not mapped as a whole. */
static void must_be_mapped(uint64_t addr, uint64_t length, const char *when)
{
	uint64_t start = addr & ~4095ull;

	if (length)
		must(!msync((void *)start, addr + length - start, MS_ASYNC), when);
}

static struct fake_object *get(struct fake_ctx *c, uint32_t id, enum kind kind)
{
	must(id && id < MAX_OBJECTS && c->objects[id].kind == kind, "no such object");
	return &c->objects[id];
}

static int make(struct fake_ctx *c, enum kind kind, const struct fake_object *from, uint32_t *id)
{
	unsigned int i;
	uint32_t n;

	pthread_mutex_lock(&lock);
	for (n = 1; n < MAX_OBJECTS && c->objects[n].kind; n++)
		;
	if (fails(c->fake) || n == MAX_OBJECTS) {
		pthread_mutex_unlock(&lock);
		return -ENOMEM;
	}
	for (i = 0; i < 2; i++)
		must_be_mapped(from->addr[i], from->length[i], "memory is not mapped");
	if (n >= c->top)
		c->top = n + 1;
	c->objects[n] = *from;
	c->objects[n].kind = kind;
	for (i = 0; i < 4; i++)
		c->objects[from->parents[i]].refs++;
	c->fake->live++;
	pthread_mutex_unlock(&lock);
	*id = n;
	return 0;
}

static void drop(struct fake_ctx *c, struct fake_object *o)
{
	unsigned int i;

	for (i = 0; i < 2; i++)
		must_be_mapped(o->addr[i], o->length[i], "memory was unmapped while in use");
	for (i = 0; i < 4; i++)
		c->objects[o->parents[i]].refs--;
	if (o->copy)
		close(o->copy);
	fake_queue_drop(&c->completions, o->user);
	fake_queue_drop(&c->events, o->user);
	o->kind = FREE;
	c->fake->live--;
}

static int destroy(struct fake_ctx *c, uint32_t id, enum kind kind)
{
	struct fake_object *o;

	pthread_mutex_lock(&lock);
	o = get(c, id, kind);
	must(!o->refs, "object is still needed");
	drop(c, o);
	pthread_mutex_unlock(&lock);
	return 0;
}

static void check(struct fake_ctx *c, uint32_t id, enum kind kind)
{
	pthread_mutex_lock(&lock);
	get(c, id, kind);
	pthread_mutex_unlock(&lock);
}

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
	if (fails((struct fake_hca *)hca))
		return -EIO;
	*pkey = index ? 0x8000 + index : 0xffff;
	return 0;
}

static int ctx_open(struct hca *hca, bool events, struct hca_ctx **ctx)
{
	struct fake_hca *fake = (struct fake_hca *)hca;
	struct fake_ctx *c = calloc(1, sizeof(*c));

	must(!!c, "no memory");
	pthread_mutex_lock(&lock);
	if (fails(fake)) {
		pthread_mutex_unlock(&lock);
		free(c);
		return -EMFILE;
	}
	c->fake = fake;
	fake_queue_init(&c->completions, events);
	fake_queue_init(&c->events, events);
	LIST_INSERT_HEAD(&fake->open, c, link);
	fake->contexts++;
	pthread_mutex_unlock(&lock);
	*ctx = (struct hca_ctx *)c;
	return 0;
}

static void ctx_close(struct hca_ctx *ctx)
{
	unsigned int n;

	pthread_mutex_lock(&lock);
	for (n = 1; n < MAX_OBJECTS; n++)
		if (C->objects[n].kind)
			drop(C, &C->objects[n]);
	C->fake->contexts--;
	LIST_REMOVE(C, link);
	fake_queue_free(&C->completions);
	fake_queue_free(&C->events);
	pthread_mutex_unlock(&lock);
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

	pthread_mutex_lock(&lock);
	if (C->fake->endless)
		got = fake_queue_peek(&C->completions, &event);
	else
		got = fake_queue_get(&C->completions, &event);
	pthread_mutex_unlock(&lock);
	if (got)
		*user = event.user;
	return got;
}

static int channel_open(struct hca_ctx *ctx)
{
	int fd;

	must(C->completions.fd >= 0, "a channel in a context without events");
	if (fails(C->fake))
		return -EMFILE;
	fd = eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC);
	must(fd > 0, "no descriptor");
	return fd;
}

static int channel_next(struct hca *hca, int channel)
{
	eventfd_t one;
	bool endless;

	pthread_mutex_lock(&lock);
	endless = ((struct fake_hca *)hca)->endless_channel == channel;
	pthread_mutex_unlock(&lock);
	return endless || !eventfd_read(channel, &one);
}

static int event_fd(struct hca_ctx *ctx)
{
	return C->events.fd;
}

static int next_event(struct hca_ctx *ctx, struct hca_event *event)
{
	int got;

	pthread_mutex_lock(&lock);
	got = fake_queue_get(&C->events, event);
	pthread_mutex_unlock(&lock);
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

	pthread_mutex_lock(&lock);
	got = fake_queue_get(&((struct fake_hca *)hca)->port, &event);
	pthread_mutex_unlock(&lock);
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

static int make_obj(struct fake_ctx *c, enum kind kind, const struct fake_object *from,
		    struct hca_obj *obj)
{
	int err = make(c, kind, from, &obj->id);

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
	return destroy(C, pd, PD);
}

/* Of the transport's: transport_shm.h. */
static void must_be_complete(const struct hca_place *at, bool writable)
{
	char octets[SHM_PAGES];
	struct stat st;

	must(!fstat(at->dmabuf, &st) && st.st_size <= SHM_PAGES, "no dma-buf");
	must(pread(at->dmabuf, octets, st.st_size, 0) == st.st_size, "no dma-buf");
	must(!memchr(octets, 0, st.st_size), "the dma-buf lacks pages");
	must(at->addr + at->length <= (uint64_t)st.st_size * 4096, "beyond the dma-buf");
	must(!writable || st.st_mode & 0200, "a read-only dma-buf");
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
	must(c->fake->hca.queue_dmabufs || (buf->dmabuf < 0 && dbr->dmabuf < 0),
	     "a queue in a dma-buf");
	must(buf->length == bytes && dbr->length == 8, "the length of a queue");
	use_memory(o, 0, buf, true);
	use_memory(o, 1, dbr, true);
}

static int mr_reg(struct hca_ctx *ctx, const struct hca_mr_attr *attr, struct hca_mr *mr)
{
	struct fake_object o = { .parents = { attr->pd } };
	int err;

	use_memory(&o, 0, &attr->at, attr->access & VHCA_ACCESS_WRITES);
	must(attr->at.dmabuf < 0 || (attr->at.addr & 4095) == (attr->iova & 4095),
	     "offset and iova differ in the page");
	check(C, attr->pd, PD);
	if (C->fake->slow_us) /* to sleep for no time takes its time as well */
		usleep(C->fake->slow_us);
	err = make(C, MR, &o, &mr->id);
	mr->lkey = mr->rkey = mr->id << 8;
	return err;
}

static int mr_dereg(struct hca_ctx *ctx, uint32_t mr)
{
	return destroy(C, mr, MR);
}

static int mw_alloc(struct hca_ctx *ctx, uint32_t pd, uint32_t type, uint32_t entries,
		    struct hca_mr *mw)
{
	int err;

	must(type == 2 || !entries, "entries of a window of type 1");
	check(C, pd, PD);
	err = make(C, MW, &(struct fake_object){ .parents = { pd } }, &mw->id);
	mw->lkey = 0;
	mw->rkey = mw->id << 8 | entries; /* who tests it sees what was asked for */
	return err;
}

static int mw_free(struct hca_ctx *ctx, uint32_t mw)
{
	return destroy(C, mw, MW);
}

static int cq_create(struct hca_ctx *ctx, const struct hca_cq_attr *attr, struct hca_obj *cq)
{
	struct fake_object o = { .user = attr->user, .events = attr->events };
	int err;

	use_queue(C, &o, &attr->buf, &attr->dbr, (uint64_t)attr->cqes * attr->cqe_size);
	must(!attr->events || C->completions.fd >= 0, "events in a context without");
	must(attr->uar_index, "CQ without UAR");
	C->fake->cq_flags = attr->flags;
	if (attr->channel >= 0) {
		must(attr->events, "a channel for no events");
		o.channel = attr->channel;
		o.copy = dup(attr->channel);
		must(o.copy > 0, "no channel");
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
	check(C, cq, CQ);
	return 0;
}

static int cq_resize(struct hca_ctx *ctx, uint32_t cq, uint32_t cqes, uint32_t cqe_size,
		     const struct hca_place *buf)
{
	struct fake_object *o = get(C, cq, CQ);

	must(buf->dmabuf < 0, "a CQ's other buffer in a dma-buf");
	must(buf->length == (uint64_t)cqes * cqe_size, "the length of a CQ's other buffer");
	must(buf->length != o->length[0], "a CQ resized to what it is");
	must_be_mapped(buf->addr, buf->length, "a CQ's other buffer");
	if (fails(C->fake))
		return -EINVAL;
	use_memory(o, 0, buf, true);
	return 0;
}

static int cq_destroy(struct hca_ctx *ctx, uint32_t cq)
{
	return destroy(C, cq, CQ);
}

static int xrcd_open(struct hca_ctx *ctx, int domain, uint32_t *xrcd)
{
	struct stat st;
	int err;

	must(!fstat(domain, &st), "an XRC domain without a descriptor");
	err = make(C, XRCD, &(struct fake_object){ 0 }, xrcd);
	if (err)
		return err;
	pthread_mutex_lock(&lock);
	C->fake->domain = st.st_ino;
	pthread_mutex_unlock(&lock);
	return 0;
}

static int xrcd_close(struct hca_ctx *ctx, uint32_t xrcd)
{
	return destroy(C, xrcd, XRCD);
}

static int srq_create(struct hca_ctx *ctx, const struct hca_srq_attr *attr, struct hca_obj *srq)
{
	struct fake_object o = { .parents = { attr->pd, attr->cq, attr->xrcd },
				 .user = attr->user };

	use_queue(C, &o, &attr->buf, &attr->dbr,
		  (uint64_t)attr->wqes * vhca_srq_stride(attr->max_sge));
	check(C, attr->pd, PD);
	must(attr->xrc || (!attr->cq && !attr->xrcd), "a CQ of an SRQ without domain");
	if (attr->xrc) {
		check(C, attr->cq, CQ);
		check(C, attr->xrcd, XRCD);
	}
	return make_obj(C, SRQ, &o, srq);
}

static int srq_modify(struct hca_ctx *ctx, uint32_t srq, uint32_t limit)
{
	(void)limit;
	check(C, srq, SRQ);
	return 0;
}

static int srq_query(struct hca_ctx *ctx, uint32_t srq, struct xen_vhca_srq_attr *attr)
{
	check(C, srq, SRQ);
	*attr = (struct xen_vhca_srq_attr){ .max_wr = 255, .max_sge = 1 };
	return 0;
}

static int srq_destroy(struct hca_ctx *ctx, uint32_t srq)
{
	return destroy(C, srq, SRQ);
}

static int target_create(struct hca_ctx *ctx, const struct hca_qp_attr *attr, struct hca_obj *qp)
{
	struct fake_object o = { .user = attr->user, .parents = { attr->xrcd } };

	check(C, attr->xrcd, XRCD);
	must(!attr->pd && !attr->send_cq && !attr->recv_cq && !attr->buf.length &&
		     !attr->dbr.length,
	     "more than a domain of an XRC target");
	must(attr->buf.dmabuf < 0 && attr->dbr.dmabuf < 0, "an XRC target in a dma-buf");
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
	check(C, attr->pd, PD);
	check(C, attr->send_cq, CQ);
	if (attr->type != XEN_VHCA_QPT_XRC_INI)
		check(C, attr->recv_cq, CQ);
	if (attr->has_srq)
		check(C, attr->srq, SRQ);
	must(attr->uar_index, "QP without UAR");
	C->fake->send_cq = attr->send_cq;
	C->fake->recv_cq = attr->recv_cq;
	return make_obj(C, QP, &o, qp);
}

static int qp_modify(struct hca_ctx *ctx, uint32_t qp, uint32_t mask,
		     const struct xen_vhca_qp_attr *attr)
{
	(void)mask;
	check(C, qp, QP);
	return attr->state == 3 ? -EINVAL : 0; /* RTS is refused, to have an E_HCA */
}

static int qp_query(struct hca_ctx *ctx, uint32_t qp, struct xen_vhca_qp_attr *attr)
{
	check(C, qp, QP);
	memset(attr, 0, sizeof(*attr));
	attr->state = 1;
	return 0;
}

static int qp_destroy(struct hca_ctx *ctx, uint32_t qp)
{
	return destroy(C, qp, QP);
}

static int mcast(struct hca_ctx *ctx, uint32_t qp, bool attach, const uint8_t gid[16], uint16_t lid)
{
	struct fake_hca *fake = C->fake;
	int err = 0;

	(void)lid;
	must(gid[0] == 0xff, "no multicast GID");
	check(C, qp, QP);
	pthread_mutex_lock(&lock);
	if (fails(fake))
		err = -ENOMEM;
	else
		fake->members += attach ? 1 : -1;
	pthread_mutex_unlock(&lock);
	return err;
}

static const struct hca_ops fake_ops = {
	.query_device = query_device,
	.query_port = query_port,
	.query_gid = query_gid,
	.query_pkey = query_pkey,
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

	pthread_mutex_lock(&lock);
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
	pthread_mutex_unlock(&lock);
	return found;
}

/* Millions are read: none of them takes a system call here. */
bool fake_flood(struct fake_hca *fake, uint64_t user)
{
	const struct fake_object *o;
	struct fake_ctx *c;

	pthread_mutex_lock(&lock);
	fake->endless = true;
	LIST_FOREACH(c, &fake->open, link) {
		o = find_user(c, user);
		if (o && o->channel)
			fake->endless_channel = o->channel;
	}
	pthread_mutex_unlock(&lock);
	return fake_complete(fake, user);
}

bool fake_async(struct fake_hca *fake, uint64_t user, uint32_t type)
{
	struct fake_ctx *c;
	bool found = false;

	pthread_mutex_lock(&lock);
	LIST_FOREACH(c, &fake->open, link) {
		if (!find_user(c, user))
			continue;
		fake_queue_put(&c->events, user, type);
		found = true;
	}
	pthread_mutex_unlock(&lock);
	return found;
}

void fake_port(struct fake_hca *fake, uint32_t type)
{
	struct fake_ctx *c;

	pthread_mutex_lock(&lock);
	fake_queue_put(&fake->port, 1, type);
	LIST_FOREACH(c, &fake->open, link)
		fake_queue_put(&c->events, 1, type);
	pthread_mutex_unlock(&lock);
}
