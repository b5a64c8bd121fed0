// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The commands for queue pairs: what can be made of what, and the state machine. */
#include "unit.h"

#include "driver.h"
#include "objects/qp.h"

enum { RC = 0, UC = 1, UD = 2, XRC = 3, SMI = 7, GSI = 8, UMR = 0xc };
enum { RQ_OWN = 0, RQ_SRQ = 1, RQ_NONE = 3 };
enum {
	OPT_ALT_PATH = 1 << 0,
	OPT_RRE = 1 << 1,
	OPT_RAE = 1 << 2,
	OPT_RWE = 1 << 3,
	OPT_RNR = 1 << 6,
	OPT_PM = 1 << 10
};

static uint32_t uar, eq, cq, pd;

static void begin(void)
{
	drv_start();
	uar = drv_uar(0);
	eq = drv_eq(uar, DRV_ALL_EVENTS);
	cq = drv_cq(uar, eq);
	pd = drv_pd(0);
}

static uint8_t *qpc(void)
{
	return IFC_ADDR(create_qp_in, drv.in, qpc);
}

#define QPC(field, value) IFC_SET(qpc, qpc(), field, value)

static struct qp *find(uint32_t qpn)
{
	return (struct qp *)obj_find(drv.hca->objs[OBJ_QP], qpn);
}

/* A modify command, with what RC needs in any of them. */
static void modify(uint16_t opcode, uint32_t qpn, uint32_t mask)
{
	uint8_t *c = IFC_ADDR(rst2init_qp_in, drv.in, qpc);

	drv_begin_len(opcode, IFC_SIZE(rst2init_qp_in), IFC_SIZE(rst2init_qp_out));
	IN(rst2init_qp, qpn, qpn);
	IN(rst2init_qp, opt_param_mask, mask);
	IFC_SET(qpc, c, pm_state, 3);
	IFC_SET(qpc, c, mtu, 3);
	IFC_SET(qpc, c, remote_qpn, 0x1234);
	IFC_SET(qpc, c, next_rcv_psn, 0x111111);
	IFC_SET(qpc, c, next_send_psn, 0x222222);
	IFC_SET(qpc, c, log_rra_max, 2);
	IFC_SET(qpc, c, log_sra_max, 3);
	IFC_SET(qpc, c, retry_count, 6);
	IFC_SET(qpc, c, rnr_retry, 5);
	IFC_SET(qpc, c, min_rnr_nak, 12);
	IFC_SET(qpc, c, q_key, 0x11111111);
	IFC_SET(qpc, c, primary_address_path.vhca_port_num, 1);
	IFC_SET(qpc, c, primary_address_path.rlid, 1);
	IFC_SET(qpc, c, primary_address_path.ack_timeout, 14);
}

#define MOD(field, value) IFC_SET(qpc, IFC_ADDR(rst2init_qp_in, drv.in, qpc), field, value)

static uint8_t step(uint16_t opcode, uint32_t qpn)
{
	modify(opcode, qpn, 0);
	return drv_run();
}

static uint8_t simple(uint16_t opcode, uint32_t qpn)
{
	drv_begin_len(opcode, IFC_SIZE(qp_2err_in), IFC_SIZE(qp_2err_out));
	IN(qp_2err, qpn, qpn);
	return drv_run();
}

static void bring_to(uint32_t qpn, enum qp_state state)
{
	CHECK_EQ(simple(MLX5_CMD_OP_2RST_QP, qpn), CMD_OK);
	if (state >= QP_INIT)
		CHECK_EQ(step(MLX5_CMD_OP_RST2INIT_QP, qpn), CMD_OK);
	if (state >= QP_RTR)
		CHECK_EQ(step(MLX5_CMD_OP_INIT2RTR_QP, qpn), CMD_OK);
	if (state >= QP_RTS)
		CHECK_EQ(step(MLX5_CMD_OP_RTR2RTS_QP, qpn), CMD_OK);
	if (state == QP_ERR)
		CHECK_EQ(simple(MLX5_CMD_OP_2ERR_QP, qpn), CMD_OK);
	CHECK_EQ(find(qpn)->state, state);
}

static uint8_t query_len(uint32_t qpn, uint32_t out)
{
	drv_begin_len(MLX5_CMD_OP_QUERY_QP, IFC_SIZE(query_qp_in), out);
	IN(query_qp, qpn, qpn);
	return drv_run();
}

static uint8_t query(uint32_t qpn)
{
	return query_len(qpn, IFC_SIZE(query_qp_out));
}

static uint8_t destroy_qp(uint32_t qpn)
{
	drv_begin(destroy_qp, DESTROY_QP);
	IN(destroy_qp, qpn, qpn);
	return drv_run();
}

TEST(a_connection_from_reset_to_send)
{
	uint32_t qpn;
	struct qp *qp;

	begin();
	qpn = drv_qp(RC, pd, cq, uar);
	qp = find(qpn);
	CHECK_EQ(qp->state, QP_RST);
	bring_to(qpn, QP_RTS);
	CHECK_EQ(qp->mtu, 1024);
	CHECK_EQ(qp->remote_qpn, 0x1234);
	CHECK_EQ(qp->recv_psn, 0x111111);
	CHECK_EQ(qp->send_psn, 0x222222);
	CHECK_EQ(qp->max_dest_rd_atomic, 4);
	CHECK_EQ(qp->max_rd_atomic, 8);
	CHECK_EQ(qp->retry_count, 6);
	CHECK_EQ(qp->rnr_retry, 5);
	CHECK_EQ(qp->min_rnr_timer, 12);
	CHECK_EQ(qp->path.ack_timeout, 14);
	CHECK_EQ(qp->path.dlid, 1);
	CHECK(!qp->remote_read && !qp->remote_write && !qp->remote_atomic);
	REQUIRE_EQ(query(qpn), CMD_OK);
	CHECK_EQ(OUT(query_qp, qpc.state), QP_RTS);
	CHECK_EQ(OUT(query_qp, qpc.mtu), 3);
	CHECK_EQ(OUT(query_qp, qpc.remote_qpn), 0x1234);
	CHECK_EQ(OUT(query_qp, qpc.primary_address_path.rlid), 1);
	CHECK_EQ(OUT(query_qp, qpc.primary_address_path.ack_timeout), 14);
	CHECK_EQ(OUT(query_qp, qpc.rnr_retry), 5);
	CHECK_EQ(OUT(query_qp, qpc.log_sra_max), 3);
	CHECK_EQ(OUT(query_qp, qpc.next_send_psn), 0x222222);
	REQUIRE_EQ(query_len(qpn, IFC_BYTE(query_qp_out, qp_pas_or_qpc_ext_and_pas)), CMD_OK);
	CHECK_EQ(OUT(query_qp, qpc.state), QP_RTS);
	drv_stop();
}

TEST(each_command_has_its_state)
{
	static const struct {
		uint16_t opcode;
		enum qp_state from;
	} commands[] = {
		{ MLX5_CMD_OP_RST2INIT_QP, QP_RST },  { MLX5_CMD_OP_INIT2INIT_QP, QP_INIT },
		{ MLX5_CMD_OP_INIT2RTR_QP, QP_INIT }, { MLX5_CMD_OP_RTR2RTS_QP, QP_RTR },
		{ MLX5_CMD_OP_RTS2RTS_QP, QP_RTS },   { MLX5_CMD_OP_SQERR2RTS_QP, QP_SQER },
		{ MLX5_CMD_OP_SQD_RTS_QP, QP_SQD },
	};
	static const enum qp_state states[] = { QP_RST, QP_INIT, QP_RTR, QP_RTS, QP_ERR };
	uint32_t qpn;

	begin();
	qpn = drv_qp(RC, pd, cq, uar);
	for (unsigned int s = 0; s < sizeof(states) / sizeof(states[0]); s++)
		for (unsigned int i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
			bring_to(qpn, states[s]);
			CHECK_EQ(step(commands[i].opcode, qpn),
				 commands[i].from == states[s] ? CMD_OK : CMD_BAD_QP_STATE);
		}
	drv_stop();
}

TEST(optional_parameters_need_their_bit)
{
	uint32_t qpn;
	struct qp *qp;

	begin();
	qpn = drv_qp(RC, pd, cq, uar);
	qp = find(qpn);
	bring_to(qpn, QP_INIT);
	modify(MLX5_CMD_OP_INIT2INIT_QP, qpn, OPT_RRE);
	MOD(rre, 1);
	MOD(rwe, 1);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK(qp->remote_read && !qp->remote_write);
	modify(MLX5_CMD_OP_INIT2RTR_QP, qpn, OPT_RWE | OPT_RAE);
	MOD(rae, 1);
	MOD(rwe, 1);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK(qp->remote_read && qp->remote_write && qp->remote_atomic);
	modify(MLX5_CMD_OP_RTR2RTS_QP, qpn, OPT_RNR | OPT_PM);
	MOD(min_rnr_nak, 3);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(qp->min_rnr_timer, 3);
	modify(MLX5_CMD_OP_RTS2RTS_QP, qpn, 0);
	MOD(min_rnr_nak, 9);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK_EQ(qp->min_rnr_timer, 3);
	modify(MLX5_CMD_OP_RTS2RTS_QP, qpn, OPT_ALT_PATH);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	modify(MLX5_CMD_OP_RTS2RTS_QP, qpn, OPT_PM);
	MOD(pm_state, 0);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	CHECK_EQ(qp->state, QP_RTS);
	drv_stop();
}

TEST(attributes_are_checked)
{
	uint32_t qpn;

	begin();
	qpn = drv_qp(RC, pd, cq, uar);
	modify(MLX5_CMD_OP_RST2INIT_QP, qpn, 0);
	MOD(primary_address_path.vhca_port_num, 2);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	modify(MLX5_CMD_OP_RST2INIT_QP, qpn, 0);
	MOD(primary_address_path.pkey_index, PORT_PKEYS);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	CHECK_EQ(find(qpn)->state, QP_RST);
	bring_to(qpn, QP_INIT);
	modify(MLX5_CMD_OP_INIT2RTR_QP, qpn, 0);
	MOD(mtu, 0);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	modify(MLX5_CMD_OP_INIT2RTR_QP, qpn, 0);
	MOD(mtu, 6);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	modify(MLX5_CMD_OP_INIT2RTR_QP, qpn, 0);
	MOD(primary_address_path.rlid, 0);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	modify(MLX5_CMD_OP_INIT2RTR_QP, qpn, 0);
	MOD(primary_address_path.rlid, 0xc000);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	modify(MLX5_CMD_OP_INIT2RTR_QP, qpn, 0);
	MOD(primary_address_path.stat_rate, 1); /* 56 Gb/s */
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	modify(MLX5_CMD_OP_INIT2RTR_QP, qpn, 0);
	MOD(primary_address_path.grh, 1);
	MOD(primary_address_path.src_addr_index, PORT_GIDS);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	MOD(primary_address_path.src_addr_index, 1); /* empty */
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	modify(MLX5_CMD_OP_INIT2RTR_QP, qpn, 0);
	MOD(log_rra_max, 5);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	CHECK_EQ(find(qpn)->state, QP_INIT);
	bring_to(qpn, QP_RTR);
	modify(MLX5_CMD_OP_RTR2RTS_QP, qpn, 0);
	MOD(log_sra_max, 5);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	CHECK_EQ(find(qpn)->state, QP_RTR);
	drv_stop();
}

TEST(what_a_qp_is_made_of)
{
	begin();
	drv_qp_begin(RC, 77, cq, uar);
	CHECK_EQ(drv_run(), CMD_BAD_RES);
	drv_qp_begin(RC, pd, 77, uar);
	CHECK_EQ(drv_run(), CMD_BAD_RES);
	drv_qp_begin(RC, pd, cq, 77);
	CHECK_EQ(drv_run(), CMD_BAD_RES);
	drv_qp_begin(6, pd, cq, uar); /* DC */
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	drv_qp_begin(RC, pd, cq, uar);
	QPC(dbr_addr, DRV_IOVA + 4);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	drv_qp_begin(RC, pd, cq, uar);
	QPC(dbr_addr, 0x7000000000ull);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	drv_qp_begin(RC, pd, cq, uar);
	drv.in_len -= 8; /* a page of the list */
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	drv_qp_begin(RC, pd, cq, uar);
	QPC(log_page_size, 31);
	QPC(page_offset, 63);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	drv_qp_begin(RC, pd, cq, uar);
	QPC(rq_type, 2);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	drv_qp_begin(RC, pd, cq, uar);
	QPC(wq_signature, 1);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	drv_qp_begin(RC, pd, cq, uar);
	QPC(cs_req, 1);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	CHECK_EQ(obj_count(drv.hca->objs[OBJ_QP]), 0);
	CHECK_EQ(obj_find(drv.hca->objs[OBJ_PD], pd)->refs, 0);
	CHECK_EQ(obj_find(drv.hca->objs[OBJ_CQ], cq)->refs, 0);
	drv_stop();
}

static uint8_t with_srq(uint32_t st, uint32_t srqn, bool no_sq, uint32_t xrcd)
{
	drv_qp_begin(st, pd, cq, uar);
	QPC(rq_type, RQ_SRQ);
	QPC(srqn_rmpn_xrqn, srqn);
	QPC(no_sq, no_sq);
	QPC(xrcd, xrcd);
	return drv_run();
}

TEST(receive_queues_that_are_shared)
{
	uint32_t xrcd, rmp, xrc_srq, other, tgt;

	begin();
	xrcd = drv_xrcd(0);
	rmp = drv_rmp(pd);
	xrc_srq = drv_xrc_srq(pd, xrcd, cq);
	other = drv_rmp(drv_pd(0));
	CHECK_EQ(with_srq(RC, rmp, false, 0), CMD_OK);
	CHECK_EQ(with_srq(RC, 99, false, 0), CMD_BAD_RES);
	CHECK_EQ(with_srq(RC, other, false, 0), CMD_BAD_PARAM); /* of another PD */
	CHECK_EQ(with_srq(RC, xrc_srq, false, 0), CMD_BAD_PARAM);
	CHECK_EQ(with_srq(XRC, rmp, true, xrcd), CMD_BAD_PARAM);
	CHECK_EQ(with_srq(XRC, xrc_srq, true, 99), CMD_BAD_RES);
	CHECK_EQ(with_srq(XRC, xrc_srq, true, xrcd), CMD_OK);
	tgt = OUT(create_qp, qpn);
	CHECK_EQ(find(tgt)->transport, QP_XRC_TGT);
	CHECK_EQ(obj_find(drv.hca->objs[OBJ_XRCD], xrcd)->refs, 2);
	drv_begin(dealloc_xrcd, DEALLOC_XRCD);
	IN(dealloc_xrcd, xrcd, xrcd);
	CHECK_EQ(drv_run(), CMD_BAD_RES_STATE);
	CHECK_EQ(destroy_qp(tgt), CMD_OK);
	CHECK_EQ(obj_find(drv.hca->objs[OBJ_XRCD], xrcd)->refs, 1);
	drv_stop();
}

TEST(what_a_qp_uses_is_busy)
{
	uint32_t qpn;

	begin();
	qpn = drv_qp(RC, pd, cq, uar);
	drv_begin(dealloc_pd, DEALLOC_PD);
	IN(dealloc_pd, pd, pd);
	CHECK_EQ(drv_run(), CMD_BAD_RES_STATE);
	drv_begin(destroy_cq, DESTROY_CQ);
	IN(destroy_cq, cqn, cq);
	CHECK_EQ(drv_run(), CMD_BAD_RES_STATE);
	drv_begin(dealloc_uar, DEALLOC_UAR);
	IN(dealloc_uar, uar, uar);
	CHECK_EQ(drv_run(), CMD_BAD_RES_STATE);
	CHECK_EQ(destroy_qp(qpn), CMD_OK);
	CHECK_EQ(destroy_qp(qpn), CMD_BAD_RES);
	CHECK_EQ(query(qpn), CMD_BAD_RES);
	drv_begin(destroy_cq, DESTROY_CQ);
	IN(destroy_cq, cqn, cq);
	CHECK_EQ(drv_run(), CMD_OK);
	drv_stop();
}

TEST(special_qps_are_one_each)
{
	uint32_t qp1;

	begin();
	qp1 = drv_qp(GSI, pd, cq, uar);
	CHECK(drv.hca->special_qp[1] == find(qp1));
	drv_qp_begin(GSI, pd, cq, uar);
	CHECK_EQ(drv_run(), CMD_RES_BUSY);
	drv_qp(SMI, pd, cq, uar);
	CHECK(drv.hca->special_qp[0] != NULL);
	CHECK_EQ(destroy_qp(qp1), CMD_OK);
	CHECK(drv.hca->special_qp[1] == NULL);
	drv_qp(GSI, pd, cq, uar);
	drv_stop();
}

TEST(a_user_context_keeps_to_its_own)
{
	uint16_t mine, others;
	uint32_t my_pd, my_uar, qpn;

	begin();
	mine = drv_uctx();
	others = drv_uctx();
	my_pd = drv_pd(mine);
	my_uar = drv_uar(mine);
	drv_cq_begin(my_uar, eq);
	drv_uid(mine);
	CHECK_EQ(drv_run(), CMD_BAD_RES); /* the kernel's EQ, which it has not shared */
	drv_cq_begin(my_uar, eq);
	drv_uid(others);
	CHECK_EQ(drv_run(), CMD_BAD_RES);
	drv_qp_begin(RC, my_pd, cq, my_uar);
	drv_uid(mine);
	CHECK_EQ(drv_run(), CMD_BAD_RES); /* the kernel's CQ */
	drv_qp_begin(GSI, my_pd, cq, my_uar);
	drv_uid(mine);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	drv_qp_begin(RC, my_pd, cq, my_uar);
	QPC(rlky, 1);
	drv_uid(mine);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	drv_qp_begin(RC, my_pd, cq, my_uar);
	QPC(fre, 1);
	drv_uid(mine);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	/* The kernel may use a context's objects; when that goes, they stay with the kernel. */
	qpn = drv_qp(RC, my_pd, cq, my_uar);
	find(qpn)->obj.uid = mine;
	modify(MLX5_CMD_OP_RST2INIT_QP, qpn, 0);
	MOD(fre, 1);
	drv_uid(mine);
	CHECK_EQ(drv_run(), CMD_BAD_PARAM);
	find(qpn)->obj.uid = 0;
	modify(MLX5_CMD_OP_RST2INIT_QP, qpn, 0);
	MOD(fre, 1);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK(find(qpn)->fast_register);
	drv_begin(destroy_uctx, DESTROY_UCTX);
	IN(destroy_uctx, uid, mine);
	CHECK_EQ(drv_run(), CMD_OK);
	CHECK(obj_find(drv.hca->objs[OBJ_PD], my_pd) != NULL);
	CHECK_EQ(destroy_qp(qpn), CMD_OK);
	CHECK_EQ(obj_find(drv.hca->objs[OBJ_PD], my_pd)->uid, 0);
	drv_stop();
}

TEST(the_memory_for_page_lists_is_bounded)
{
	uint32_t before, qpn;

	begin();
	before = drv.hca->queue_pages;
	qpn = drv_qp(RC, pd, cq, uar);
	CHECK_EQ(drv.hca->queue_pages, before + 1);
	drv.hca->queue_pages = HCA_QUEUE_PAGES;
	drv_qp_begin(RC, pd, cq, uar);
	CHECK_EQ(drv_run(), CMD_LIM);
	drv.hca->queue_pages = before + 1;
	CHECK_EQ(destroy_qp(qpn), CMD_OK);
	CHECK_EQ(drv.hca->queue_pages, before);
	drv_stop();
}

TEST(everything_goes_at_teardown_and_at_reset)
{
	uint32_t first;

	begin();
	drv_qp(RC, pd, cq, uar);
	drv_qp(UD, pd, cq, uar);
	drv_begin(teardown_hca, TEARDOWN_HCA);
	CHECK_EQ(drv_run(), CMD_OK);
	for (unsigned int i = 0; i < OBJ_TYPES; i++)
		CHECK_EQ(obj_count(drv.hca->objs[i]), 0);
	drv_begin(alloc_pd, ALLOC_PD);
	CHECK_EQ(drv_run(), CMD_BAD_SYS_STATE);
	hca_reset(drv.hca);
	drv_init();
	first = uar;
	uar = drv_uar(0);
	CHECK_EQ(uar, first);
	eq = drv_eq(uar, DRV_ALL_EVENTS);
	cq = drv_cq(uar, eq);
	pd = drv_pd(0);
	bring_to(drv_qp(UC, pd, cq, uar), QP_RTS);
	hca_reset(drv.hca);
	for (unsigned int i = 0; i < OBJ_TYPES; i++)
		CHECK_EQ(obj_count(drv.hca->objs[i]), 0);
	CHECK_EQ(drv.hca->queue_pages, 0);
	drv_stop();
}
