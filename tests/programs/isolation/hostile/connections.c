// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Messages of a connection manager that a guest may not send: in the name of another port, about connections that are not its
 * own; and addresses that it cannot have. What it may ask is asked first, so that it is the forgery that is refused.
 *
 * Needs the module xen-ibgsi in the domain with the HCA.
 */
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hostile.h"

#define WORDS (XEN_VHCA_MAD_SIZE / 4)
#define LID_UNICAST_END 0xc000
#define ADDRESSES 64     /* that a guest may have */
#define CONNECTIONS 4096 /* that it may have at a time */
#define NOBODYS_LID 0xbfff
#define PKEY_DEFAULT 0xffff

#define GUEST1 0x0a09000b /* the IP address of guest1, as tests/harness/ipoib.py has it */

/* How many messages it may send at once, and a second */
#define SEND_BURST 2000
#define SEND_RATE 1000
#define FLOOD_IDS 3000

/* Where fields are in a message. */
enum {
	CLASS = 1,
	METHOD = 3,
	ATTRIBUTE = 17,
	LOCAL_ID = 24,
	REMOTE_ID = 28,
	SIDR_PKEY = 28,
	SERVICE = 32,
	GUID = 40,
	REP_QP = 60, /* the interface's, of IPoIB */
	PKEY = 72,
	LID = 76,
	GID = 80,
	OTHER_LID = 120,
	OTHER_GID = 124,
	REQ_QP = 164,
	IP_VERSION = 165, /* of a REQ of rdma_cm */
	IP4_ASKED = 196,
};

enum {
	REQ = 0x10,
	MRA,
	REJ,
	REP,
	RTU,
	DREQ,
	DREP,
	SIDR_REQ,
	SIDR_REP,
	LAP,
	APR,
};

/* A guest with the GSI, and what its port is. */
struct caller {
	struct hostile h;
	xen_vhca_handle_t ctx;
	uint16_t lid;
	uint8_t gid[16];
};

static void begin(struct caller *c)
{
	struct xen_vhca_req req = { .op = XEN_VHCA_OP_PORT_QUERY };
	struct xen_vhca_rsp *rsp;

	c->ctx = hostile_begin_gsi(&c->h);
	rsp = vf_do(&c->h.v, &req);
	require(rsp->status == XEN_VHCA_OK, "the port can be queried");
	c->lid = rsp->u.port.lid;
	req = (struct xen_vhca_req){ .op = XEN_VHCA_OP_GID_QUERY };
	rsp = vf_do(&c->h.v, &req);
	require(rsp->status == XEN_VHCA_OK, "its GID can be queried");
	memcpy(c->gid, rsp->u.gids.gid[0], sizeof(c->gid));
}

static void end(struct caller *c)
{
	hostile_end_gsi(&c->h, c->ctx);
}

static void put_16(uint8_t *at, uint16_t value)
{
	at[0] = value >> 8;
	at[1] = value;
}

static void put_32(uint8_t *at, uint32_t value)
{
	at[0] = value >> 24;
	at[1] = value >> 16;
	at[2] = value >> 8;
	at[3] = value;
}

static void fill(const struct caller *c, uint8_t mad[XEN_VHCA_MAD_SIZE], unsigned int attribute,
		 uint32_t local, uint32_t remote)
{
	memset(mad, 0, XEN_VHCA_MAD_SIZE);
	mad[0] = 1;
	mad[CLASS] = 7;
	mad[2] = 2;
	mad[METHOD] = 3;
	mad[ATTRIBUTE] = attribute;
	put_32(mad + LOCAL_ID, local);
	if (attribute != REQ && attribute != SIDR_REQ)
		put_32(mad + REMOTE_ID, remote);
	if (attribute == REP)
		memcpy(mad + 52, &c->h.v.attr.node_guid, 8);
	if (attribute == SIDR_REQ)
		put_16(mad + SIDR_PKEY, PKEY_DEFAULT);
	if (attribute != REQ)
		return;
	put_16(mad + PKEY, PKEY_DEFAULT);
	memcpy(mad + GUID, &c->h.v.attr.node_guid, 8);
	put_16(mad + LID, c->lid);
	memcpy(mad + GID, c->gid, sizeof(c->gid));
}

static struct xen_vhca_req to(const struct caller *c, uint16_t dlid)
{
	return (struct xen_vhca_req){
		.op = XEN_VHCA_OP_MAD_SEND,
		.u.mad_send = { .ctx = c->ctx, .av = { .dlid = dlid, .port = 1 } },
	};
}

static void refused_request(struct caller *c, const struct xen_vhca_req *req, const uint8_t *mad,
			    enum xen_vhca_status status, const char *what)
{
	uint32_t words[WORDS];

	memcpy(words, mad, sizeof(words));
	hostile_refused_at(__FILE__, __LINE__, &c->h.v, req, words, WORDS, status, what);
}

static void refused(struct caller *c, uint16_t dlid, const uint8_t *mad,
		    enum xen_vhca_status status, const char *what)
{
	struct xen_vhca_req req = to(c, dlid);

	refused_request(c, &req, mad, status, what);
}

static enum xen_vhca_status send(struct caller *c, uint16_t dlid, const uint8_t *mad)
{
	struct xen_vhca_req req = to(c, dlid);
	uint32_t words[WORDS];

	memcpy(words, mad, sizeof(words));
	return vf_do_refs(&c->h.v, &req, words, WORDS)->status;
}

/* Asks for a service that nobody has, at the guest's own port. */
static void call(struct caller *c, unsigned int attribute, uint32_t id)
{
	uint8_t mad[XEN_VHCA_MAD_SIZE];

	fill(c, mad, attribute, id, 0);
	check(send(c, c->lid, mad) == XEN_VHCA_OK, "what it may ask");
}

static void claim(struct caller *c, unsigned int at, const char *what)
{
	uint8_t mad[XEN_VHCA_MAD_SIZE];

	fill(c, mad, REQ, 1, 0);
	mad[at] ^= 0x20;
	refused(c, c->lid, mad, XEN_VHCA_E_ARG, what);
}

/* The vHCA may use the first entry of the port's table alone. */
static void refused_by_key(struct caller *c, uint16_t index, const uint8_t *mad)
{
	struct xen_vhca_req req = to(c, c->lid);

	req.u.mad_send.pkey_index = index;
	refused_request(c, &req, mad, XEN_VHCA_E_ARG, "by another's P_Key");
}

static void run_claims(const void *arg)
{
	uint8_t mad[XEN_VHCA_MAD_SIZE];
	unsigned int i;
	struct caller c;

	(void)arg;
	begin(&c);
	call(&c, REQ, 1);
	claim(&c, GUID + 7, "with another's GUID");
	claim(&c, LID + 1, "with another's LID");
	claim(&c, GID + 15, "with another's GID");
	claim(&c, OTHER_LID + 1, "with another's second path");
	claim(&c, PKEY + 1, "in a partition that is not its own");
	fill(&c, mad, SIDR_REQ, 1, 0);
	mad[SIDR_PKEY + 1] ^= 0x20;
	refused(&c, c.lid, mad, XEN_VHCA_E_ARG, "about datagrams, in such a partition");
	fill(&c, mad, REQ, 1, 0);
	memcpy(mad + OTHER_LID, mad + LID, 2);
	refused(&c, c.lid, mad, XEN_VHCA_E_ARG, "with no GID on its second path");
	fill(&c, mad, REQ, 0, 0);
	refused(&c, c.lid, mad, XEN_VHCA_E_ARG, "without an id");
	fill(&c, mad, REQ, 1, 0);
	refused(&c, 0, mad, XEN_VHCA_E_ARG, "to nowhere");
	refused(&c, LID_UNICAST_END, mad, XEN_VHCA_E_ARG, "to a group");
	refused(&c, 0xffff, mad, XEN_VHCA_E_ARG, "to whoever hears it");
	for (i = 1; i < 1 << 16; i = i * 2 + 1)
		refused_by_key(&c, i, mad);
	end(&c);
}

/* About connections that there are not, and about one that it has only asked for. */
static void run_forged(const void *arg)
{
	static const unsigned int attributes[] = { MRA, REJ, REP, RTU, DREQ, DREP, SIDR_REP };
	uint8_t mad[XEN_VHCA_MAD_SIZE];
	struct caller c;
	unsigned int i;
	uint64_t ids;

	(void)arg;
	begin(&c);
	ids = hostile_number(&c.h.v, "mads-refused-id");
	call(&c, REQ, 0x101);
	call(&c, SIDR_REQ, 0x102);
	for (i = 0; i < ARRAY_SIZE(attributes); i++) {
		fill(&c, mad, attributes[i], 0x103, 0x104);
		refused(&c, c.lid, mad, XEN_VHCA_E_ARG, "about nothing");
		fill(&c, mad, attributes[i], 0x101, 0x104);
		refused(&c, c.lid, mad, XEN_VHCA_E_ARG, "to one who has not answered");
		fill(&c, mad, attributes[i], 0x102, 0x104);
		refused(&c, c.lid, mad, XEN_VHCA_E_ARG, "about datagrams");
	}
	fill(&c, mad, REP, 0x101, 0);
	refused(&c, c.lid, mad, XEN_VHCA_E_ARG, "an answer to itself");
	hostile_rose(&c.h.v, "mads-refused-id", ids, 3 * ARRAY_SIZE(attributes) + 1);
	for (i = 0; i < 256; i++) {
		if (i >= REQ && i <= SIDR_REP)
			continue;
		fill(&c, mad, i, 0x101, 0x104);
		refused(&c, c.lid, mad, XEN_VHCA_E_UNSUPPORTED, "what guests do not say");
	}
	for (i = 0; i < 256; i++) {
		fill(&c, mad, REQ, 0x101, 0);
		mad[METHOD] = i;
		if (i != 3)
			refused(&c, c.lid, mad, XEN_VHCA_E_UNSUPPORTED, "by another method");
	}
	end(&c);
}

/* IPoIB's connected mode asks for a QP, in the name of one. */
static void fill_ipoib(const struct caller *c, uint8_t mad[XEN_VHCA_MAD_SIZE], uint32_t asked,
		       uint32_t own)
{
	fill(c, mad, REQ, 0x201, 0);
	mad[SERVICE] = 0x10;
	put_32(mad + SERVICE + 4, asked);
	put_32(mad + REQ_QP, own);
}

static void refused_ipoib(struct caller *c, uint32_t asked, uint32_t own, const char *what)
{
	uint8_t mad[XEN_VHCA_MAD_SIZE];

	fill_ipoib(c, mad, asked, own);
	refused(c, c->lid, mad, XEN_VHCA_E_ARG, what);
}

static struct xen_vhca_new_queue make_ud(struct caller *c)
{
	struct xen_vhca_req req = vf_create_qp(&c->h.p);
	const struct xen_vhca_rsp *rsp;

	req.u.qp_create.type = XEN_VHCA_QPT_UD;
	rsp = vf_do(&c->h.v, &req);
	require(rsp->status == XEN_VHCA_OK, "a UD QP");
	return rsp->u.queue;
}

/* state, P_Key, port, Q_Key */
static void initialise(struct caller *c, xen_vhca_handle_t qp)
{
	const struct xen_vhca_req req = {
		.op = XEN_VHCA_OP_QP_MODIFY,
		.u.qp_modify = { .qp = qp,
				 .mask = 1 | 1 << 4 | 1 << 5 | 1 << 6,
				 .attr = { .state = 1, .port = 1 } },
	};

	require(vf_do(&c->h.v, &req)->status == XEN_VHCA_OK, "it gets its port");
}

/* Takes what comes until there is what it has asked of itself. Returns the id that others see. */
static uint32_t await_own_question(struct caller *c)
{
	const struct xen_vhca_req req = vf_object(XEN_VHCA_OP_MAD_RECV, c->ctx);
	uint64_t until = now_ms() + opt.deadline_ms;
	const struct xen_vhca_mad *mads;
	const struct xen_vhca_rsp *rsp;
	uint32_t i, id = 0;

	do {
		rsp = vf_do(&c->h.v, &req);
		require(rsp->status == XEN_VHCA_OK, "what has come can be read");
		mads = (const struct xen_vhca_mad *)vf_data(&c->h.v, rsp->id);
		for (i = 0; i < rsp->u.mads.count; i++)
			if (mads[i].mad[ATTRIBUTE] == REQ && mads[i].mad[SERVICE] == 0x10)
				memcpy(&id, mads[i].mad + LOCAL_ID, sizeof(id));
	} while (!id && now_ms() < until);
	require(id, "who asks for its QP, asks it");
	return be32toh(id);
}

static void run_ipoib(const void *arg)
{
	struct xen_vhca_new_queue ud;
	uint8_t mad[XEN_VHCA_MAD_SIZE];
	struct xen_vhca_req req;
	struct caller c;
	uint64_t claims;
	uint32_t id;

	(void)arg;
	begin(&c);
	claims = hostile_number(&c.h.v, "mads-refused-claim");
	ud = make_ud(&c);
	refused_ipoib(&c, ud.number, ud.number, "a QP at no port");
	initialise(&c, ud.handle);
	fill_ipoib(&c, mad, ud.number, ud.number);
	check(send(&c, c.lid, mad) == XEN_VHCA_OK, "its own QP");
	id = await_own_question(&c);
	refused_ipoib(&c, ud.number, 0, "no QP");
	refused_ipoib(&c, ud.number, 1, "the port's QP");
	refused_ipoib(&c, ud.number, ud.number ^ 0x800000, "nobody's QP");
	refused_ipoib(&c, ud.number, ud.number | 0x1000000, "more than a QP");
	fill(&c, mad, REP, 0x202, id);
	put_32(mad + REP_QP, ud.number + 1);
	refused(&c, c.lid, mad, XEN_VHCA_E_ARG, "an answer in the name of another QP");
	put_32(mad + REP_QP, ud.number);
	check(send(&c, c.lid, mad) == XEN_VHCA_OK, "an answer");
	req = vf_object(XEN_VHCA_OP_QP_DESTROY, ud.handle);
	check(vf_do(&c.h.v, &req)->status == XEN_VHCA_OK, "the QP can be destroyed");
	refused_ipoib(&c, ud.number, ud.number, "a QP that is gone");
	hostile_rose(&c.h.v, "mads-refused-claim", claims, 7);
	end(&c);
}

/* A service of rdma_cm, at that IP address */
static void ask_for(uint8_t mad[XEN_VHCA_MAD_SIZE], uint32_t address)
{
	static const uint8_t tcp_port_1[8] = { 0, 0, 0, 0, 1, 6, 0, 1 };

	memcpy(mad + SERVICE, tcp_port_1, sizeof(tcp_port_1));
	mad[IP_VERSION] = 4 << 4;
	put_32(mad + IP4_ASKED, address);
}

struct flood {
	unsigned int messages;
	uint32_t asked; /* who; 0: for a service that nobody has */
};

/* More than it may. */
static void run_flood(const void *arg)
{
	uint64_t sent, refused, from, seconds, most;
	const struct flood *flood = arg;
	uint8_t mad[XEN_VHCA_MAD_SIZE];
	struct xen_vhca_req req;
	uint32_t words[WORDS];
	unsigned int i, limit;
	struct caller c;

	begin(&c);
	sent = hostile_number(&c.h.v, "mads-sent");
	refused = hostile_number(&c.h.v, "mads-refused-rate");
	req = to(&c, c.lid);
	from = now_ms();
	for (i = 0; i < flood->messages; i++) {
		fill(&c, mad, REQ, i % FLOOD_IDS + 1, 0);
		if (flood->asked)
			ask_for(mad, flood->asked);
		memcpy(words, mad, sizeof(words));
		vf_send(&c.h.v, &req, words, WORDS);
	}
	vf_collect(&c.h.v, 0);
	seconds = (now_ms() - from) / 1000 + 1;
	most = SEND_BURST + SEND_RATE * seconds;
	limit = c.h.v.tally.refused[XEN_VHCA_OP_MAD_SEND][XEN_VHCA_E_LIMIT];
	printf("%u requests in %" PRIu64 " s, %u refused\n", flood->messages, seconds, limit);
	check(flood->messages - limit <= most, "%u of %u sent, %" PRIu64 " at most",
	      flood->messages - limit, flood->messages, most);
	hostile_rose(&c.h.v, "mads-sent", sent, flood->messages - limit);
	hostile_rose(&c.h.v, "mads-refused-rate", refused, limit);
	end(&c);
}

/* Does it ask until it is refused something else than to ask so often? */
static bool asks(struct caller *c, uint32_t id, uint64_t limits)
{
	uint64_t until = now_ms() + opt.deadline_ms;
	uint8_t mad[XEN_VHCA_MAD_SIZE];
	enum xen_vhca_status status;

	fill(c, mad, REQ, id, 0);
	do {
		status = send(c, NOBODYS_LID, mad);
		if (status != XEN_VHCA_E_LIMIT)
			return check(status == XEN_VHCA_OK, "what it may ask");
	} while (hostile_number(&c->h.v, "mads-refused-limit") == limits && now_ms() < until);
	return false;
}

/* More at a time than it may, of a LID that nobody has. They end with the GSI, and it may ask again. */
static void run_many(const void *arg)
{
	uint64_t limits;
	struct caller c;
	uint32_t id;

	(void)arg;
	begin(&c);
	limits = hostile_number(&c.h.v, "mads-refused-limit");
	for (id = 1; id <= CONNECTIONS && asks(&c, id, limits); id++)
		;
	check(id == CONNECTIONS + 1, "%u connections", id - 1);
	check(!asks(&c, id, limits), "one more");
	check(hostile_number(&c.h.v, "mads-refused-limit") > limits, "that are too many");
	end(&c);
	begin(&c);
	call(&c, REQ, 1);
	end(&c);
}

static struct xen_vhca_req address(const struct caller *c, unsigned int op, uint32_t value)
{
	struct xen_vhca_req req = { .op = op, .u.addr = { .ctx = c->ctx, .family = 4 } };

	put_32(req.u.addr.addr, value);
	return req;
}

static void run_addresses(const void *arg)
{
	static const uint32_t wrong[] = { 0, 0x7f000001, 0xe0000001, 0xffffffff };
	struct xen_vhca_req req;
	struct caller c;
	unsigned int i;

	(void)arg;
	begin(&c);
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		req = address(&c, XEN_VHCA_OP_ADDR_ADD, wrong[i]);
		REFUSED(&c.h.v, &req, E_ARG, "no host's address");
	}
	req = address(&c, XEN_VHCA_OP_ADDR_DEL, 0x0a5f0001);
	REFUSED(&c.h.v, &req, E_ARG, "an address that it does not have");
	req.op = XEN_VHCA_OP_ADDR_ADD;
	req.u.addr = (struct xen_vhca_addr){ .ctx = c.ctx,
					     .family = 6,
					     .addr = { 0xff, 0x02, [15] = 1 } };
	REFUSED(&c.h.v, &req, E_ARG, "the address of a group");
	for (i = 0; i < ADDRESSES; i++) {
		req = address(&c, XEN_VHCA_OP_ADDR_ADD, 0x0a5f0001 + i);
		check(vf_do(&c.h.v, &req)->status == XEN_VHCA_OK, "an address");
	}
	req = address(&c, XEN_VHCA_OP_ADDR_ADD, 0x0a5f0001 + i);
	REFUSED(&c.h.v, &req, E_LIMIT, "one address more");
	req = address(&c, XEN_VHCA_OP_ADDR_DEL, 0x0a5f0001);
	check(vf_do(&c.h.v, &req)->status == XEN_VHCA_OK, "an address that it had");
	REFUSED(&c.h.v, &req, E_ARG, "an address that it has no more");
	end(&c);
}

static const struct flood flood_of_nobody = { .messages = 20000 };
static const struct flood flood_of_guest1 = { .messages = 10000, .asked = GUEST1 };

static const struct check_case cases[] = {
	CHECK_CASE("cm-claims", run_claims, "connections asked for in the name of others",
		   .together = true),
	CHECK_CASE("cm-forged", run_forged, "messages about connections that it does not have",
		   .together = true),
	CHECK_CASE("cm-ipoib", run_ipoib, "connected mode in the name of another's QP",
		   .together = true),
	CHECK_CASE("cm-many", run_many, "more connections at a time than it may have",
		   .seconds = 120, .together = true),
	CHECK_CASE("cm-flood", run_flood, "more requests for connections than it may send",
		   .seconds = 600, .on_demand = true, .arg = &flood_of_nobody),
	CHECK_CASE("cm-crowd", run_flood, "more such requests to guest1 than that can answer",
		   .seconds = 600, .on_demand = true, .arg = &flood_of_guest1),
	CHECK_CASE("cm-addresses", run_addresses, "IP addresses that a guest cannot have",
		   .together = true),
};

const struct check_table hostile_connections = { cases, ARRAY_SIZE(cases) };
