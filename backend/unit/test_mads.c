// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_mads.c - management datagrams between a guest's kernel and the module: who may have them, what
 * gets through, and when the guest is told.
 */
#include <string.h>
#include <unistd.h>

#include "hca/gsi.h"
#include "modules/xen-ibgsi/xen-ibgsi.h"
#include "unit/fakes/fixture.h"
#include "vhca/events.h"

#define BIT 77

static struct fixture fix;
static int module_end;

static enum xen_vhca_status open_with(uint32_t flags, xen_vhca_handle_t *ctx)
{
	struct xen_vhca_req req = {
		.op = XEN_VHCA_OP_CTX_OPEN,
		.u.ctx_open = { .flags = flags, .name = "kernel" },
	};
	enum xen_vhca_status status = fixture_do(&fix, &req);

	*ctx = fix.handle;
	return status;
}

static enum xen_vhca_status open_ctx(xen_vhca_handle_t *ctx)
{
	return open_with(XEN_VHCA_CTX_KERNEL, ctx);
}

static enum xen_vhca_status gsi(xen_vhca_handle_t ctx)
{
	struct xen_vhca_req req = {
		.op = XEN_VHCA_OP_GSI_OPEN,
		.u.gsi_open = { .ctx = ctx, .event_bit = BIT },
	};

	return fixture_do(&fix, &req);
}

static bool is_told(void)
{
	uint8_t *bits = shm_page(fix.shm, FIXTURE_BITS_REF);
	bool told = bits[BIT / 8] >> BIT % 8 & 1;

	bits[BIT / 8] = 0;
	return told;
}

static void begin(xen_vhca_handle_t *ctx)
{
	fixture_init(&fix, false, NULL);
	fixture_events(&fix);
	module_end = fixture_mads(&fix);
	CHECK(!open_ctx(ctx) && !gsi(*ctx));
	fixture_mads_told(&fix, XEN_IBGSI_START);
}

/* It needs the module and events, and is one context's at a time. */
static void who(void)
{
	xen_vhca_handle_t a, b;

	fixture_init(&fix, false, NULL);
	CHECK(!open_ctx(&a) && gsi(a) == XEN_VHCA_E_UNSUPPORTED);
	fixture_mads(&fix);
	CHECK(gsi(a) == XEN_VHCA_E_UNSUPPORTED);
	CHECK(events_mads_fd(fix.v.events) < 0);
	fixture_fini(&fix);

	begin(&a);
	CHECK(!open_ctx(&b));
	CHECK(gsi(b) == XEN_VHCA_E_BUSY && gsi(a) == XEN_VHCA_E_BUSY);
	CHECK(fixture_object(&fix, XEN_VHCA_OP_MAD_SEND, b) == XEN_VHCA_E_STATE);
	CHECK(fixture_object(&fix, XEN_VHCA_OP_MAD_RECV, b) == XEN_VHCA_E_STATE);
	CHECK(fixture_object(&fix, XEN_VHCA_OP_GSI_CLOSE, b) == XEN_VHCA_E_STATE);
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_GSI_CLOSE, a));
	fixture_mads_told(&fix, XEN_IBGSI_RESET);
	CHECK(!gsi(b));
	fixture_mads_told(&fix, XEN_IBGSI_START);
	/* It ends with the context. */
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_CTX_CLOSE, b));
	fixture_mads_told(&fix, XEN_IBGSI_RESET);
	CHECK(!gsi(a));
	fixture_fini(&fix);
}

/* A process has no GSI; the kernel has no context where it is switched off. */
static void switched_off(void)
{
	xen_vhca_handle_t ctx;

	begin(&ctx);
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_GSI_CLOSE, ctx));
	CHECK(!open_with(0, &ctx) && gsi(ctx) == XEN_VHCA_E_UNSUPPORTED);
	fix.v.kernel = false;
	CHECK(open_ctx(&ctx) == XEN_VHCA_E_UNSUPPORTED);
	CHECK(!open_with(0, &ctx) && gsi(ctx) == XEN_VHCA_E_UNSUPPORTED);
	fixture_fini(&fix);
}

static enum xen_vhca_status send_mad(xen_vhca_handle_t ctx)
{
	struct xen_vhca_req req = {
		.op = XEN_VHCA_OP_MAD_SEND,
		.u.mad_send = { .ctx = ctx, .pkey_index = 5 },
	};

	req.u.mad_send.av = (struct xen_vhca_av){
		.dgid = { 0xfe, 0x80, [15] = 9 },
		.flow_label = 0x12345,
		.dlid = 7,
		.is_global = 1,
		.hop_limit = 64,
		.traffic_class = 3,
		.sl = 2,
		.port = 1,
	};
	return fixture_do(&fix, &req);
}

/* The data page, all of it, and where to; what the module refuses has a status of its own. */
static void sending(void)
{
	struct xen_ibgsi_send got[2];
	xen_vhca_handle_t ctx;
	unsigned int n = 0;

	begin(&ctx);
	memset(fix.refs, 0x5a, sizeof(fix.refs));
	CHECK(!send_mad(ctx));
	CHECK(read(module_end, got, sizeof(got)) == sizeof(got[0]));
	CHECK(got->mad[0] == 0x5a && got->mad[255] == 0x5a);
	CHECK(got->dlid == 7 && got->sl == 2 && got->pkey_index == 5 && got->has_grh == 1);
	CHECK(got->flow_label == 0x12345 && got->hop_limit == 64 && got->traffic_class == 3);
	CHECK(got->dgid[0] == 0xfe && got->dgid[15] == 9);
	/* Nobody reads: as if the module said that there are too many. */
	while (!send_mad(ctx))
		CHECK(n++ < 100000);
	CHECK(fix.cmd->rsp.status == XEN_VHCA_E_LIMIT);
	fixture_fini(&fix);
}

static enum xen_vhca_status change(xen_vhca_handle_t ctx, unsigned int op, unsigned int last)
{
	struct xen_vhca_req req = {
		.op = op,
		.u.addr = { .ctx = ctx, .family = 4, .addr = { 10, 9, 0, last } },
	};

	return fixture_do(&fix, &req);
}

static void expect_addr(unsigned int command, unsigned int last)
{
	struct xen_ibgsi_addr got[2];

	CHECK(read(module_end, got, sizeof(got)) == sizeof(got[0]));
	CHECK(got->command == command && got->family == 4);
	CHECK(got->addr[0] == 10 && got->addr[3] == last && !got->addr[4]);
}

/* Of the context that has the GSI. */
static void addresses(void)
{
	xen_vhca_handle_t ctx, other;

	begin(&ctx);
	CHECK(!open_ctx(&other));
	CHECK(change(other, XEN_VHCA_OP_ADDR_ADD, 1) == XEN_VHCA_E_STATE);
	CHECK(change(other, XEN_VHCA_OP_ADDR_DEL, 1) == XEN_VHCA_E_STATE);
	CHECK(!change(ctx, XEN_VHCA_OP_ADDR_ADD, 11));
	expect_addr(XEN_IBGSI_ADDR_ADD, 11);
	CHECK(!change(ctx, XEN_VHCA_OP_ADDR_DEL, 12));
	expect_addr(XEN_IBGSI_ADDR_DEL, 12);
	close(module_end);
	CHECK(change(ctx, XEN_VHCA_OP_ADDR_ADD, 11));
	module_end = fix.mads = dup(0);
	fixture_fini(&fix);
}

static void put(unsigned int n)
{
	struct xen_ibgsi_mad mad = { .slid = 3 };

	for (; n; n--) {
		mad.src_qpn = n;
		CHECK(write(module_end, &mad, sizeof(mad)) == sizeof(mad));
	}
}

static unsigned int take(xen_vhca_handle_t ctx)
{
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_MAD_RECV, ctx));
	CHECK(fix.cmd->data_len == fix.cmd->rsp.u.mads.count * sizeof(struct xen_vhca_mad));
	return fix.cmd->rsp.u.mads.count;
}

/* The guest is told once, until it has heard that there are no more. */
static void receiving(void)
{
	const struct xen_vhca_mad *mads;
	xen_vhca_handle_t ctx;

	begin(&ctx);
	CHECK(events_mads_fd(fix.v.events) == fix.v.mads.fd && !take(ctx) && !is_told());
	put(XEN_VHCA_MADS + 2);
	events_mads(fix.v.events);
	CHECK(is_told() && events_mads_fd(fix.v.events) < 0);
	CHECK(take(ctx) == XEN_VHCA_MADS && events_mads_fd(fix.v.events) < 0);
	mads = fix.cmd->data;
	CHECK(mads[0].src_qpn == XEN_VHCA_MADS + 2 && mads[0].slid == 3);
	CHECK(take(ctx) == 2 && events_mads_fd(fix.v.events) == fix.v.mads.fd);
	put(1);
	events_mads(fix.v.events);
	CHECK(is_told() && take(ctx) == 1);
	/* Of what nobody has asked for nobody is told. */
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_GSI_CLOSE, ctx));
	put(1);
	events_mads(fix.v.events);
	CHECK(!is_told() && events_mads_fd(fix.v.events) < 0);
	fixture_fini(&fix);
}

int main(void)
{
	who();
	switched_off();
	sending();
	addresses();
	receiving();
	return 0;
}
