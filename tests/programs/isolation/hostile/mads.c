// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Management datagrams that a guest may not send: of the subnet's management, with the SA's key, in the name of others; and
 * a GSI that is not the context's.
 *
 * Needs the module xen-ibgsi in the domain with the HCA.
 */
#include <string.h>

#include "hostile.h"

#define BIT 99
#define WORDS (XEN_VHCA_MAD_SIZE / 4)

static xen_vhca_handle_t kernel; /* the context that has the GSI */

/* Where fields are in a MAD of the SA, or of performance management. */
enum {
	BASE_VERSION = 0,
	CLASS = 1,
	CLASS_VERSION = 2,
	METHOD = 3,
	ATTRIBUTE = 17,
	RMPP_FLAGS = 26,
	SM_KEY = 36,
	OUI = 37,
	COMP_MASK = 48,
	PORT_SELECT = 65,
	MGID = 56,
	PORT_GID = 72,
	JOIN_STATE = 104,
	PROXY = 105,
};

enum {
	CLASS_SM = 1,
	CLASS_SA = 3,
	CLASS_PERF = 4,
	CLASS_PING = 0x32,
	CLASS_SM_DIRECTED = 0x81,
	GET = 1,
	SET = 2,
	TRAP = 5,
	DELETE = 0x15,
	NODE_RECORD = 0x11,
	PORT_COUNTERS = 0x12,
	SERVICE_RECORD = 0x31,
	MCMEMBER = 0x38
};

static struct xen_vhca_req of(xen_vhca_handle_t ctx, unsigned int op)
{
	return (struct xen_vhca_req){ .op = op, .u.object.handle = ctx };
}

static xen_vhca_handle_t open_kernel(struct hostile *h)
{
	struct xen_vhca_req req = vf_open_ctx();
	const struct xen_vhca_rsp *rsp;

	req.u.ctx_open.flags = XEN_VHCA_CTX_KERNEL;
	rsp = vf_do(&h->v, &req);
	require(rsp->status == XEN_VHCA_OK, "the kernel gets a context");
	return rsp->u.object.handle;
}

static void close_kernel(struct hostile *h, xen_vhca_handle_t ctx)
{
	struct xen_vhca_req req = of(ctx, XEN_VHCA_OP_CTX_CLOSE);

	check(vf_do(&h->v, &req)->status == XEN_VHCA_OK, "its context can be closed");
}

static struct xen_vhca_req open_gsi(xen_vhca_handle_t ctx)
{
	return (struct xen_vhca_req){
		.op = XEN_VHCA_OP_GSI_OPEN,
		.u.gsi_open = { .ctx = ctx, .event_bit = BIT },
	};
}

xen_vhca_handle_t hostile_begin_gsi(struct hostile *h)
{
	struct xen_vhca_req req;
	xen_vhca_handle_t ctx;

	hostile_begin_events(h);
	ctx = open_kernel(h);
	req = open_gsi(ctx);
	require(vf_do(&h->v, &req)->status == XEN_VHCA_OK, "the GSI can be opened");
	return ctx;
}

void hostile_end_gsi(struct hostile *h, xen_vhca_handle_t ctx)
{
	struct xen_vhca_req req = of(ctx, XEN_VHCA_OP_GSI_CLOSE);

	check(vf_do(&h->v, &req)->status == XEN_VHCA_OK, "the GSI can be closed");
	close_kernel(h, ctx);
	hostile_end(h);
}

static void begin(struct hostile *h)
{
	kernel = hostile_begin_gsi(h);
}

static void end(struct hostile *h)
{
	hostile_end_gsi(h, kernel);
}

/* A good question: */
static void fill(uint8_t mad[XEN_VHCA_MAD_SIZE], unsigned int method, unsigned int attribute)
{
	memset(mad, 0, XEN_VHCA_MAD_SIZE);
	mad[BASE_VERSION] = 1;
	mad[CLASS] = CLASS_SA;
	mad[CLASS_VERSION] = 2;
	mad[METHOD] = method;
	mad[ATTRIBUTE] = attribute;
}

/* or a good request to join a group. */
static void fill_join(uint8_t mad[XEN_VHCA_MAD_SIZE], unsigned int method)
{
	fill(mad, method, MCMEMBER);
	mad[COMP_MASK + 5] = 1; /* the state of the member */
	mad[COMP_MASK + 7] = 3; /* MGID, PortGID */
	mad[MGID] = 0xff;
	mad[MGID + 1] = 0x12;
	mad[JOIN_STATE] = 1;
}

static void send_to(struct hostile *h, uint16_t dlid, const uint8_t *mad,
		    enum xen_vhca_status status, const char *what)
{
	struct xen_vhca_req req = of(kernel, XEN_VHCA_OP_MAD_SEND);
	uint32_t words[WORDS];

	req.u.mad_send.av.dlid = dlid;
	req.u.mad_send.av.port = 1;
	memcpy(words, mad, sizeof(words));
	hostile_refused_at(__FILE__, __LINE__, &h->v, &req, words, WORDS, status, what);
}

static void send(struct hostile *h, const uint8_t *mad, enum xen_vhca_status status,
		 const char *what)
{
	send_to(h, 0, mad, status, what);
}

static uint16_t own_lid(struct hostile *h)
{
	struct xen_vhca_req req = { .op = XEN_VHCA_OP_PORT_QUERY };
	const struct xen_vhca_rsp *rsp = vf_do(&h->v, &req);

	require(rsp->status == XEN_VHCA_OK, "the port can be queried");
	return rsp->u.port.lid;
}

/* Each class but those that guests have, and of the SA's each method that they do not have. */
static void run_class(const void *arg)
{
	uint8_t mad[XEN_VHCA_MAD_SIZE];
	struct hostile h;
	unsigned int i;

	(void)arg;
	begin(&h);
	for (i = 0; i < 256; i++) {
		fill(mad, GET, NODE_RECORD);
		mad[CLASS] = i;
		if (i != CLASS_SA && i != CLASS_PERF)
			send(&h, mad, XEN_VHCA_E_UNSUPPORTED, "a class that guests do not have");
	}
	for (i = 0; i < 256; i++) {
		fill(mad, i, SERVICE_RECORD);
		if (i != GET && i != 0x12)
			send(&h, mad, XEN_VHCA_E_UNSUPPORTED, "a method that guests do not have");
	}
	end(&h);
}

/* By whatever method, to the port itself and by a directed route: a guest's QP 0 has no way out. */
static void run_sm(const void *arg)
{
	static const unsigned int classes[] = { CLASS_SM, CLASS_SM_DIRECTED };
	uint8_t mad[XEN_VHCA_MAD_SIZE];
	struct hostile h;
	unsigned int i, j;
	uint16_t lid;

	(void)arg;
	begin(&h);
	lid = own_lid(&h);
	for (i = 0; i < ARRAY_SIZE(classes); i++) {
		for (j = 0; j < 256; j++) {
			fill(mad, j, NODE_RECORD);
			mad[CLASS] = classes[i];
			mad[CLASS_VERSION] = 1;
			send_to(&h, lid, mad, XEN_VHCA_E_UNSUPPORTED, "of subnet management");
		}
		send_to(&h, 0xffff, mad, XEN_VHCA_E_UNSUPPORTED, "of a directed route");
	}
	end(&h);
}

static void fill_perf(uint8_t mad[XEN_VHCA_MAD_SIZE])
{
	fill(mad, GET, PORT_COUNTERS);
	mad[CLASS] = CLASS_PERF;
	mad[CLASS_VERSION] = 1;
	mad[PORT_SELECT] = 1;
}

/* The last one is good. */
static void run_perf(const void *arg)
{
	struct xen_vhca_req req;
	uint8_t mad[XEN_VHCA_MAD_SIZE];
	uint32_t words[WORDS];
	struct hostile h;
	unsigned int i;
	uint16_t lid;

	(void)arg;
	begin(&h);
	lid = own_lid(&h);
	fill_perf(mad);
	send_to(&h, lid + 1, mad, XEN_VHCA_E_UNSUPPORTED, "of another node");
	for (i = 0; i < 256; i++) {
		mad[METHOD] = i;
		if (i != GET)
			send_to(&h, lid, mad, XEN_VHCA_E_UNSUPPORTED, "a change of counters");
		mad[METHOD] = GET;
		mad[PORT_SELECT] = i;
		if (i != 1)
			send_to(&h, lid, mad, XEN_VHCA_E_ARG, "of another port");
		mad[PORT_SELECT] = 1;
	}
	mad[CLASS_VERSION] = 2;
	send_to(&h, lid, mad, XEN_VHCA_E_ARG, "of another version");
	fill_perf(mad);
	mad[ATTRIBUTE] = NODE_RECORD;
	send_to(&h, lid, mad, XEN_VHCA_E_UNSUPPORTED, "of an attribute that guests do not have");
	fill_perf(mad);
	memcpy(words, mad, sizeof(words));
	req = of(kernel, XEN_VHCA_OP_MAD_SEND);
	req.u.mad_send.av.dlid = lid;
	req.u.mad_send.av.port = 1;
	check(vf_do_refs(&h.v, &req, words, WORDS)->status == XEN_VHCA_OK, "its own counters");
	end(&h);
}

static void fill_ping(uint8_t mad[XEN_VHCA_MAD_SIZE])
{
	fill(mad, GET, 0);
	mad[CLASS] = CLASS_PING;
	mad[CLASS_VERSION] = 1;
	mad[OUI + 1] = 0x14;
	mad[OUI + 2] = 0x05;
}

/* Each is good but for one thing. */
static void run_ping(const void *arg)
{
	uint8_t mad[XEN_VHCA_MAD_SIZE];
	struct hostile h;
	unsigned int i;
	uint16_t lid;

	(void)arg;
	begin(&h);
	lid = own_lid(&h);
	for (i = 0; i < 256; i++) {
		fill_ping(mad);
		mad[METHOD] = i;
		if (i != GET)
			send_to(&h, lid, mad, XEN_VHCA_E_UNSUPPORTED, "what is no question");
	}
	for (i = 0; i < 3; i++) {
		fill_ping(mad);
		mad[OUI + i] ^= 1;
		send_to(&h, lid, mad, XEN_VHCA_E_UNSUPPORTED, "of another vendor");
	}
	fill_ping(mad);
	mad[RMPP_FLAGS] = 1;
	send_to(&h, lid, mad, XEN_VHCA_E_UNSUPPORTED, "in parts");
	fill_ping(mad);
	mad[CLASS_VERSION] = 2;
	send_to(&h, lid, mad, XEN_VHCA_E_UNSUPPORTED, "of another version");
	fill_ping(mad);
	send_to(&h, 0, mad, XEN_VHCA_E_ARG, "to nobody");
	send_to(&h, 0xc000, mad, XEN_VHCA_E_ARG, "to a group");
	end(&h);
}

static void run_sa(const void *arg)
{
	uint8_t mad[XEN_VHCA_MAD_SIZE];
	struct hostile h;
	unsigned int i;

	(void)arg;
	begin(&h);
	for (i = 0; i < 8; i++) {
		fill(mad, GET, NODE_RECORD);
		mad[SM_KEY + i] = 1;
		send(&h, mad, XEN_VHCA_E_ARG, "with the SA's key");
	}
	fill(mad, GET, NODE_RECORD);
	mad[BASE_VERSION] = 0;
	send(&h, mad, XEN_VHCA_E_ARG, "of version 0");
	fill(mad, GET, NODE_RECORD);
	mad[CLASS_VERSION] = 1;
	send(&h, mad, XEN_VHCA_E_ARG, "of the class's version 1");
	end(&h);
}

/* In the name of another port; of no group; of no state. */
static void run_group(const void *arg)
{
	static const unsigned int methods[] = { SET, DELETE };
	uint8_t mad[XEN_VHCA_MAD_SIZE];
	struct hostile h;
	unsigned int i;

	(void)arg;
	begin(&h);
	for (i = 0; i < ARRAY_SIZE(methods); i++) {
		fill_join(mad, methods[i]);
		memset(mad + PORT_GID, 0xfe, 16);
		send(&h, mad, XEN_VHCA_E_ARG, "for another port");
		fill_join(mad, methods[i]);
		mad[COMP_MASK + 7] = 0;
		send(&h, mad, XEN_VHCA_E_ARG, "without a group");
		fill_join(mad, methods[i]);
		mad[COMP_MASK + 7] = 1;
		mad[MGID] = 0xfe;
		send(&h, mad, XEN_VHCA_E_ARG, "for what is no group");
		fill_join(mad, methods[i]);
		mad[COMP_MASK + 7] = 1;
		mad[JOIN_STATE] = 0xf0;
		send(&h, mad, XEN_VHCA_E_ARG, "as no member");
		fill_join(mad, methods[i]);
		mad[COMP_MASK + 7] = 1;
		mad[PROXY] = 0x80;
		send(&h, mad, XEN_VHCA_E_ARG, "by proxy");
	}
	end(&h);
}

/* It is one context's, from GSI_OPEN to GSI_CLOSE. */
static void run_owner(const void *arg)
{
	uint8_t mad[XEN_VHCA_MAD_SIZE];
	struct xen_vhca_req req;
	xen_vhca_handle_t other;
	struct hostile h;

	(void)arg;
	begin(&h);
	other = open_kernel(&h);
	req = open_gsi(other);
	REFUSED(&h.v, &req, E_BUSY, "another context");
	req = of(other, XEN_VHCA_OP_MAD_RECV);
	REFUSED(&h.v, &req, E_STATE, "another context");
	req = of(other, XEN_VHCA_OP_GSI_CLOSE);
	REFUSED(&h.v, &req, E_STATE, "another context");
	close_kernel(&h, other);
	end(&h);

	hostile_begin_events(&h);
	req = open_gsi(h.p.ctx);
	REFUSED(&h.v, &req, E_UNSUPPORTED, "a process's context");
	kernel = open_kernel(&h);
	fill(mad, GET, NODE_RECORD);
	send(&h, mad, XEN_VHCA_E_STATE, "before it is opened");
	close_kernel(&h, kernel);
	hostile_end(&h);
}

static const struct check_case cases[] = {
	CHECK_CASE("mad-class", run_class,
		   "datagrams of classes and methods that guests do not have", .together = true),
	CHECK_CASE("mad-sm", run_sm, "datagrams of subnet management", .together = true),
	CHECK_CASE("mad-perf", run_perf, "counters of others, and changes of the port's own",
		   .together = true),
	CHECK_CASE("mad-ping", run_ping, "what ibping does not send", .together = true),
	CHECK_CASE("mad-sa", run_sa, "questions to the SA that it must not get from a guest",
		   .together = true),
	CHECK_CASE("mad-group", run_group, "multicast groups in the name of others",
		   .together = true),
	CHECK_CASE("mad-owner", run_owner, "a GSI that is another context's, or nobody's",
		   .together = true),
};

const struct check_table hostile_mads = { cases, ARRAY_SIZE(cases) };
