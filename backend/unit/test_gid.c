// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_gid.c - a guest with a GID of its own: at which index it has that, and what the HCA is asked for.
 */
#include <string.h>

#include "unit/fakes/fixture.h"

enum { OWN = 5 };

static struct hca_ops ops;
static struct xen_vhca_qp_attr asked;

static int qp_modify(struct hca_ctx *ctx, uint32_t id, uint32_t mask,
		     const struct xen_vhca_qp_attr *attr)
{
	(void)ctx;
	(void)id;
	(void)mask;
	asked = *attr;
	return 0;
}

static int qp_query(struct hca_ctx *ctx, uint32_t id, struct xen_vhca_qp_attr *attr)
{
	(void)ctx;
	(void)id;
	*attr = asked;
	return 0;
}

static struct fixture fix;
static struct fixture_process p;

static void begin(unsigned int own)
{
	fixture_init(&fix, false, NULL);
	ops = *fix.fake.hca.ops;
	ops.qp_modify = qp_modify;
	ops.qp_query = qp_query;
	fix.fake.hca.ops = &ops;
	fix.v.gid_index = own;
	CHECK(!fixture_process(&fix, &p));
}

/* The GID of the fake HCA's index i is i, 16 times. */
static void table(const uint8_t expected[8])
{
	struct xen_vhca_req req = { .op = XEN_VHCA_OP_GID_QUERY, .u.index.more = 7 };
	unsigned int i;

	CHECK(!fixture_do(&fix, &req));
	for (i = 0; i < 8; i++)
		CHECK(fix.cmd->rsp.u.gids.gid[i][15] == expected[i]);
}

/* What the guest sets is what it is told. */
static void path(uint8_t guests, uint8_t hcas, bool is_global)
{
	struct xen_vhca_req req = { .op = XEN_VHCA_OP_QP_MODIFY };
	struct xen_vhca_qp_modify *a = &req.u.qp_modify;

	a->qp = p.qp;
	a->mask = VHCA_QP_STATE | VHCA_QP_AV | VHCA_QP_ALT_PATH;
	a->attr.state = 2;
	a->attr.alt_port = 1;
	a->attr.av = (struct xen_vhca_av){
		.is_global = is_global, .sgid_index = guests, .dlid = 3, .port = 1
	};
	a->attr.alt_av = a->attr.av;
	CHECK(!fixture_do(&fix, &req));
	CHECK(asked.av.sgid_index == hcas && asked.alt_av.sgid_index == hcas);
	CHECK(!fixture_object(&fix, XEN_VHCA_OP_QP_QUERY, p.qp));
	CHECK(fix.cmd->rsp.u.qp.attr.av.sgid_index == guests &&
	      fix.cmd->rsp.u.qp.attr.alt_av.sgid_index == guests);
}

static void ports(void)
{
	begin(0);
	table((const uint8_t[]){ 0, 1, 2, 3, 4, 5, 6, 7 });
	path(0, 0, true);
	path(3, 3, true);
	fixture_fini(&fix);
}

static void own(void)
{
	begin(OWN);
	table((const uint8_t[]){ OWN, 1, 2, 3, 4, 0, 6, 7 });
	path(0, OWN, true);
	path(OWN, 0, true);
	path(3, 3, true);
	path(0, 0, false);
	fixture_fini(&fix);
}

int main(void)
{
	ports();
	own();
	return 0;
}
