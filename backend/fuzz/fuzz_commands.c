// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fuzz_commands.c - a hostile guest: any sequence of requests, with any page lists, and events for
 * what it has made. The fake HCA aborts where the daemon would use a real one wrongly; at the end
 * nothing may be left.
 *
 * So that it gets deeper than "no such handle", an octet in front of each request may put handles
 * that exist where they belong.
 */
#include <string.h>

#include "example.h"
#include "rig.h"

#define RECENT 16

struct input {
	const uint8_t *data;
	size_t size;
};

static uint8_t octet(struct input *in)
{
	if (!in->size)
		return 0;
	in->size--;
	return *in->data++;
}

static void octets(struct input *in, void *to, size_t n)
{
	size_t have = n < in->size ? n : in->size;

	memset(to, 0, n);
	memcpy(to, in->data, have);
	in->data += have;
	in->size -= have;
}

static void place_handles(struct input *in, struct xen_vhca_req *req,
			  const xen_vhca_handle_t recent[RECENT])
{
	xen_vhca_handle_t *words = (xen_vhca_handle_t *)req->u.octets;
	unsigned int i, n;

	/* Handles of the example are 7, wherever they are. */
	for (i = 0; i < sizeof(req->u.octets) / sizeof(*words); i++) {
		if (words[i] != 7)
			continue;
		n = octet(in);
		words[i] = recent[n % RECENT];
	}
}

/* A registration by place as one that brings its pages, which become a region to be kept. */
static void bring_pages(struct xen_vhca_mr_reg *m, unsigned int pages, bool keep)
{
	m->flags = XEN_VHCA_MR_REG_INLINE | (keep ? XEN_VHCA_MR_REG_KEEP : 0);
	m->place.mem = 0;
	m->pages = pages;
}

/* Some bytes of a good request changed, or all of it made up. */
static void next_request(struct input *in, struct xen_vhca_req *req,
			 const xen_vhca_handle_t recent[RECENT])
{
	unsigned int op = octet(in), changes = octet(in) % 4;

	if (op == 0xff) {
		octets(in, req, sizeof(*req));
		req->id = 0;
		return;
	}
	*req = example_request(op % XEN_VHCA_OPS);
	place_handles(in, req, recent);
	if (req->op == XEN_VHCA_OP_MR_REG && op >= XEN_VHCA_OPS)
		bring_pages(&req->u.mr_reg, octet(in), op / XEN_VHCA_OPS & 1);
	while (changes--) {
		unsigned int where = octet(in);

		if (where < sizeof(req->u.octets))
			req->u.octets[where] = octet(in);
	}
}

/* Things happen to one of the objects, and the guest writes something to the ring of events. */
static void next_event(struct input *in, struct rig *rig,
		       const xen_vhca_handle_t recent[RECENT])
{
	struct xen_vhca_async_page *page = shm_page(rig->shm, RIG_ASYNC_REF);
	unsigned int what = octet(in);

	fake_complete(&rig->fake, recent[what % RECENT]);
	fake_async(&rig->fake, recent[what % RECENT], what >> 4);
	if (what == 0xff)
		page->cons = (uint32_t)octet(in) << (octet(in) & 24);
}

/* What the quota has given it has back. */
static void close_all(struct rig *rig)
{
	struct context *ctx;

	while ((ctx = LIST_FIRST(&rig->v.contexts)))
		CHECK(!rig_object(rig, XEN_VHCA_OP_CTX_CLOSE, ctx->obj.handle));
	CHECK(rig_is_empty(rig));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct rig rig;
	xen_vhca_handle_t recent[RECENT] = { 0 };
	struct input in = { data, size };
	struct rig_process p;
	unsigned int n = 0, kind = octet(&in);

	rig_init(&rig, kind & 1, NULL);
	if (kind & 2)
		rig_events(&rig);
	rig.event_bit = kind & 4 ? kind << 7 : XEN_VHCA_NO_EVENT;
	rig.shm->fail_in = octet(&in);
	rig.fake.fail_in = octet(&in);
	rig_process(&rig, &p);
	memcpy(recent, &p, sizeof(p));
	while (in.size && n++ < 200) {
		struct xen_vhca_req req;

		next_request(&in, &req, recent);
		rig.refs[octet(&in)] = octet(&in) << 6;
		if (!rig_do(&rig, &req) && rig.handle)
			recent[n % RECENT] = rig.handle;
		if (req.op == XEN_VHCA_OP_MR_REG && rig.cmd->rsp.u.mr.mem)
			recent[(n + RECENT / 2) % RECENT] = rig.cmd->rsp.u.mr.mem;
		if (kind & 2)
			next_event(&in, &rig, recent);
	}
	if (kind & 8)
		close_all(&rig);
	rig_fini(&rig);
	return 0;
}
