// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The QP state machine (IBTA vol. 1, 10.3.1 and tables 91 to 93): which command may come in which
 * state, which members of the context it sets always and which only when its mask names them.
 * Members that a transition does not set are passed over, as the driver fills in more than it
 * means.
 */
#include "firmware/caps.h"
#include "firmware/cmd_qp.h"

#define CMD_SYNDROME_BASE 0x90000u

/* MLX5_QP_OPTPAR_* of linux/mlx5/qp.h */
enum {
	OPT_ALT_PATH = 1 << 0,
	OPT_RRE = 1 << 1,
	OPT_RAE = 1 << 2,
	OPT_RWE = 1 << 3,
	OPT_PKEY = 1 << 4,
	OPT_QKEY = 1 << 5,
	OPT_RNR_TIMER = 1 << 6,
	OPT_PM_STATE = 1 << 10,
	OPT_PORT = 1 << 16,
	OPT_ACCESS = OPT_RRE | OPT_RAE | OPT_RWE,
};

#define MTU_MIN 1u /* 256 bytes */
#define MTU_MAX 5u /* 4096 */
#define MTU_BYTES(code) (128u << (code))
#define PORT_1 1u
#define PM_MIGRATED 3u

/* A modify command at work. All have the layout of RST2INIT_QP. */
struct modify {
	struct cmd *cmd;
	struct qp *qp;
	const uint8_t *qpc; /* the driver's */
	const uint8_t *path;
	uint32_t mask;
};

#define COPY(m, field) IFC_SET(qpc, (m)->qp->qpc, field, IFC_GET(qpc, (m)->qpc, field))

static bool is_connected(const struct qp *qp)
{
	return qp->transport == QP_RC || qp->transport == QP_UC || qp->transport == QP_XRC_INI ||
	       qp->transport == QP_XRC_TGT;
}

static bool is_datagram(const struct qp *qp)
{
	return qp->transport == QP_UD || qp->transport == QP_SMI || qp->transport == QP_GSI;
}

/* Finds the QP and checks its state and that the mask names only what this transition may set. */
static enum cmd_status begin(struct cmd *cmd, struct modify *m, enum qp_state from,
			     uint32_t allowed)
{
	enum cmd_status status;

	m->cmd = cmd;
	m->qpc = IFC_ADDR(rst2init_qp_in, cmd->in, qpc);
	m->path = IFC_ADDR(qpc, m->qpc, primary_address_path);
	m->mask = IFC_GET(rst2init_qp_in, cmd->in, opt_param_mask);
	m->qp = (struct qp *)cmd_obj(cmd, OBJ_QP, IFC_GET(rst2init_qp_in, cmd->in, qpn), &status);
	if (!m->qp)
		return status;
	if (m->qp->state != from)
		return cmd_fail(cmd, CMD_BAD_QP_STATE, "QP 0x%x is in %s, not %s", m->qp->obj.id,
				qp_state_name(m->qp->state), qp_state_name(from));
	if (m->mask & ~allowed)
		return cmd_fail(cmd, CMD_BAD_PARAM, "QP 0x%x: optional parameters 0x%x",
				m->qp->obj.id, m->mask & ~allowed);
	return CMD_OK;
}

static enum cmd_status set_pkey(struct modify *m)
{
	uint32_t index = IFC_GET(ads, m->path, pkey_index);

	if (index >= PORT_PKEYS)
		return cmd_fail(m->cmd, CMD_BAD_PARAM, "QP 0x%x: P_Key index %u", m->qp->obj.id,
				index);
	m->qp->path.pkey_index = (uint8_t)index;
	COPY(m, primary_address_path.pkey_index);
	return CMD_OK;
}

static enum cmd_status set_port(struct modify *m)
{
	uint32_t port = IFC_GET(ads, m->path, vhca_port_num);

	if (port != PORT_1)
		return cmd_fail(m->cmd, CMD_BAD_PARAM, "QP 0x%x: port %u", m->qp->obj.id, port);
	m->qp->path.port = PORT_1;
	COPY(m, primary_address_path.vhca_port_num);
	return CMD_OK;
}

static void set_qkey(struct modify *m)
{
	m->qp->qkey = IFC_GET(qpc, m->qpc, q_key);
	COPY(m, q_key);
}

static void set_access(struct modify *m, uint32_t which)
{
	if (which & OPT_RRE) {
		m->qp->remote_read = IFC_GET(qpc, m->qpc, rre);
		COPY(m, rre);
	}
	if (which & OPT_RWE) {
		m->qp->remote_write = IFC_GET(qpc, m->qpc, rwe);
		COPY(m, rwe);
	}
	if (which & OPT_RAE) {
		m->qp->remote_atomic = IFC_GET(qpc, m->qpc, rae);
		COPY(m, rae);
		COPY(m, atomic_mode);
	}
}

static enum cmd_status set_migration(struct modify *m)
{
	if (IFC_GET(qpc, m->qpc, pm_state) != PM_MIGRATED)
		return cmd_fail(m->cmd, CMD_BAD_PARAM, "QP 0x%x: path migration is not there",
				m->qp->obj.id);
	m->qp->migration = PM_MIGRATED;
	return CMD_OK;
}

/* What the mask names of those that several transitions have in common. */
static enum cmd_status set_optional(struct modify *m)
{
	enum cmd_status status = CMD_OK;

	if (m->mask & OPT_PKEY)
		status = set_pkey(m);
	if (!status && m->mask & OPT_PORT)
		status = set_port(m);
	if (!status && m->mask & OPT_PM_STATE)
		status = set_migration(m);
	if (status)
		return status;
	if (m->mask & OPT_QKEY)
		set_qkey(m);
	if (m->mask & OPT_RNR_TIMER) {
		m->qp->min_rnr_timer = (uint8_t)IFC_GET(qpc, m->qpc, min_rnr_nak);
		COPY(m, min_rnr_nak);
	}
	set_access(m, m->mask & OPT_ACCESS);
	return CMD_OK;
}

static enum cmd_status enter(struct modify *m, enum qp_state state)
{
	enum qp_state old = m->qp->state;

	m->qp->state = state;
	IFC_SET(qpc, m->qp->qpc, state, state);
	qp_engine_state(m->qp, old);
	return CMD_OK;
}

enum cmd_status cmd_rst2init_qp(struct cmd *cmd)
{
	struct modify m;
	enum cmd_status status = begin(cmd, &m, QP_RST, 0);

	if (!status && m.qp->transport != QP_UMR)
		status = set_port(&m);
	if (!status)
		status = set_pkey(&m);
	if (!status)
		status = set_migration(&m);
	if (status)
		return status;
	if (cmd->uid && cmd_qp_of_kernel(m.qpc))
		return cmd_fail(cmd, CMD_BAD_PARAM, "not for a user context");
	if (is_datagram(m.qp))
		set_qkey(&m);
	if (is_connected(m.qp))
		set_access(&m, OPT_ACCESS);
	m.qp->reserved_lkey |= IFC_GET(qpc, m.qpc, rlky);
	m.qp->fast_register |= IFC_GET(qpc, m.qpc, fre);
	m.qp->deth_sqpn = IFC_GET(qpc, m.qpc, deth_sqpn);
	return enter(&m, QP_INIT);
}

enum cmd_status cmd_init2init_qp(struct cmd *cmd)
{
	struct modify m;
	enum cmd_status status =
		begin(cmd, &m, QP_INIT, OPT_ACCESS | OPT_PKEY | OPT_QKEY | OPT_PORT);

	if (!status)
		status = set_optional(&m);
	return status ? status : enter(&m, QP_INIT);
}

static enum cmd_status set_path(struct modify *m)
{
	struct qp_path *path = &m->qp->path;
	const uint8_t *p = m->path;
	uint8_t *kept = IFC_ADDR(qpc, m->qp->qpc, primary_address_path);
	uint32_t pkey_index = IFC_GET(ads, kept, pkey_index);
	uint32_t timeout = IFC_GET(ads, kept, ack_timeout);
	uint16_t dlid = (uint16_t)IFC_GET(ads, p, rlid);
	uint8_t rate = (uint8_t)IFC_GET(ads, p, stat_rate);

	if (IFC_GET(ads, p, vhca_port_num) != PORT_1)
		return cmd_fail(m->cmd, CMD_BAD_PARAM, "QP 0x%x: port %u", m->qp->obj.id,
				(unsigned int)IFC_GET(ads, p, vhca_port_num));
	if (rate && !(CAP_RATES >> rate & 1))
		return cmd_fail(m->cmd, CMD_BAD_PARAM, "QP 0x%x: static rate %u", m->qp->obj.id,
				rate);
	if (!dlid || dlid >= 0xc000)
		return cmd_fail(m->cmd, CMD_BAD_PARAM, "QP 0x%x: DLID 0x%x is not of a port",
				m->qp->obj.id, dlid);
	if (IFC_GET(ads, p, grh) && !port_gid_valid(m->cmd->hca, IFC_GET(ads, p, src_addr_index)))
		return cmd_fail(m->cmd, CMD_BAD_PARAM, "QP 0x%x: no GID at index %u", m->qp->obj.id,
				(unsigned int)IFC_GET(ads, p, src_addr_index));
	path->dlid = dlid;
	path->sl = (uint8_t)IFC_GET(ads, p, sl);
	path->stat_rate = rate;
	path->path_bits = (uint8_t)IFC_GET(ads, p, mlid);
	path->grh = IFC_GET(ads, p, grh);
	path->sgid_index = (uint8_t)IFC_GET(ads, p, src_addr_index);
	path->hop_limit = (uint8_t)IFC_GET(ads, p, hop_limit);
	path->traffic_class = (uint8_t)IFC_GET(ads, p, tclass);
	path->flow_label = IFC_GET(ads, p, flow_label);
	memcpy(path->dgid, IFC_ADDR(ads, p, rgid_rip), sizeof(path->dgid));
	memcpy(kept, p, IFC_SIZE(ads));
	IFC_SET(ads, kept, pkey_index, pkey_index);
	IFC_SET(ads, kept, ack_timeout, timeout);
	return CMD_OK;
}

static enum cmd_status connect_to(struct modify *m)
{
	uint32_t mtu = IFC_GET(qpc, m->qpc, mtu), log_rra = IFC_GET(qpc, m->qpc, log_rra_max);
	enum cmd_status status;

	if (mtu < MTU_MIN || mtu > MTU_MAX)
		return cmd_fail(m->cmd, CMD_BAD_PARAM, "QP 0x%x: MTU code %u", m->qp->obj.id, mtu);
	if (log_rra > CAP_MAX_RD_ATOMIC)
		return cmd_fail(m->cmd, CMD_BAD_PARAM,
				"QP 0x%x: 2^%u reads and atomics as responder", m->qp->obj.id,
				log_rra);
	status = set_path(m);
	if (status)
		return status;
	m->qp->mtu = (uint16_t)MTU_BYTES(mtu);
	m->qp->remote_qpn = IFC_GET(qpc, m->qpc, remote_qpn);
	m->qp->recv_psn = IFC_GET(qpc, m->qpc, next_rcv_psn);
	m->qp->max_dest_rd_atomic = (uint8_t)(1u << log_rra);
	m->qp->min_rnr_timer = (uint8_t)IFC_GET(qpc, m->qpc, min_rnr_nak);
	COPY(m, mtu);
	COPY(m, log_msg_max);
	COPY(m, remote_qpn);
	COPY(m, next_rcv_psn);
	COPY(m, log_rra_max);
	COPY(m, min_rnr_nak);
	return CMD_OK;
}

enum cmd_status cmd_init2rtr_qp(struct cmd *cmd)
{
	struct modify m;
	enum cmd_status status = begin(cmd, &m, QP_INIT, OPT_ACCESS | OPT_PKEY | OPT_QKEY);

	if (!status)
		status = set_optional(&m);
	if (!status && is_connected(m.qp))
		status = connect_to(&m);
	if (status)
		return status;
	if (!is_connected(m.qp)) {
		m.qp->mtu = PORT_MTU;
		IFC_SET(qpc, m.qp->qpc, mtu, MTU_MAX);
	}
	return enter(&m, QP_RTR);
}

enum cmd_status cmd_rtr2rts_qp(struct cmd *cmd)
{
	struct modify m;
	enum cmd_status status =
		begin(cmd, &m, QP_RTR, OPT_ACCESS | OPT_QKEY | OPT_PM_STATE | OPT_RNR_TIMER);
	uint32_t log_sra;

	if (!status)
		status = set_optional(&m);
	if (status)
		return status;
	log_sra = IFC_GET(qpc, m.qpc, log_sra_max);
	if (log_sra > CAP_MAX_RD_ATOMIC)
		return cmd_fail(cmd, CMD_BAD_PARAM, "QP 0x%x: 2^%u reads and atomics as requester",
				m.qp->obj.id, log_sra);
	m.qp->max_rd_atomic = (uint8_t)(1u << log_sra);
	m.qp->send_psn = IFC_GET(qpc, m.qpc, next_send_psn);
	m.qp->retry_count = (uint8_t)IFC_GET(qpc, m.qpc, retry_count);
	m.qp->rnr_retry = (uint8_t)IFC_GET(qpc, m.qpc, rnr_retry);
	m.qp->path.ack_timeout = (uint8_t)IFC_GET(ads, m.path, ack_timeout);
	COPY(&m, log_sra_max);
	COPY(&m, next_send_psn);
	COPY(&m, retry_count);
	COPY(&m, rnr_retry);
	COPY(&m, primary_address_path.ack_timeout);
	return enter(&m, QP_RTS);
}

static enum cmd_status to_rts(struct cmd *cmd, enum qp_state from, uint32_t allowed)
{
	struct modify m;
	enum cmd_status status = begin(cmd, &m, from, allowed);

	if (!status)
		status = set_optional(&m);
	return status ? status : enter(&m, QP_RTS);
}

enum cmd_status cmd_rts2rts_qp(struct cmd *cmd)
{
	return to_rts(cmd, QP_RTS, OPT_ACCESS | OPT_QKEY | OPT_PM_STATE | OPT_RNR_TIMER);
}

enum cmd_status cmd_sqerr2rts_qp(struct cmd *cmd)
{
	return to_rts(cmd, QP_SQER, OPT_ACCESS | OPT_QKEY | OPT_RNR_TIMER);
}

enum cmd_status cmd_sqd2rts_qp(struct cmd *cmd)
{
	return to_rts(cmd, QP_SQD, OPT_ACCESS | OPT_QKEY | OPT_RNR_TIMER);
}

/* From any state. */
static enum cmd_status to_state(struct cmd *cmd, enum qp_state state)
{
	struct modify m = { .cmd = cmd };
	enum cmd_status status;

	m.qp = (struct qp *)cmd_obj(cmd, OBJ_QP, IFC_GET(qp_2err_in, cmd->in, qpn), &status);
	return m.qp ? enter(&m, state) : status;
}

enum cmd_status cmd_2err_qp(struct cmd *cmd)
{
	return to_state(cmd, QP_ERR);
}

enum cmd_status cmd_2rst_qp(struct cmd *cmd)
{
	return to_state(cmd, QP_RST);
}
