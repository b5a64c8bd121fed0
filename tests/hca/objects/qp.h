/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Queue pairs: attributes as set by the commands, and the engine's state.
 *
 * firmware/cmd_qp.c checks and fills in the attributes and moves the state; the engine (qp.c and what
 * engine/engine.h lists) is told through the calls at the end.
 */
#ifndef HCA_QP_H
#define HCA_QP_H

#include "loop.h"
#include "objects/obj.h"
#include "objects/wqbuf.h"

struct cq;
struct packet;
struct srq;
struct uar;

enum qp_state { QP_RST, QP_INIT, QP_RTR, QP_RTS, QP_SQER, QP_SQD, QP_ERR };

enum qp_transport {
	QP_RC,
	QP_UC,
	QP_UD,
	QP_XRC_INI,
	QP_XRC_TGT,
	QP_SMI, /* QP0 */
	QP_GSI, /* QP1 */
	QP_UMR, /* MLX5_QP_ST_REG_UMR: the kernel's, changes memory keys of any PD, sends nothing */
};

/* Where packets go (struct mlx5_ifc_ads_bits). */
struct qp_path {
	uint16_t dlid;
	uint8_t sl, stat_rate, path_bits;
	bool grh;
	uint8_t dgid[16], sgid_index, hop_limit, traffic_class;
	uint32_t flow_label;
	uint8_t ack_timeout; /* 4.096 us << n; 0: for ever */
	uint8_t pkey_index, port;
};

struct qp {
	struct obj obj;
	enum qp_transport transport;
	enum qp_state state;

	/* Fixed at creation. */
	uint32_t pd, user_index;
	struct uar *uar; /* NULL: none (XRC target) */
	struct cq *send_cq, *recv_cq;
	struct srq *srq;  /* NULL: own receive queue, if any */
	uint32_t xrcd;    /* XRC target */
	struct wqbuf buf; /* receive queue at 0, send queue at sq_offset */
	uint32_t sq_offset;
	uint64_t dbr; /* doorbell record: [0] receive, [1] send */
	uint8_t log_rq_size, log_rq_stride,
		log_sq_size; /* stride in bytes: 1 << (log_rq_stride + 4) */
	bool has_rq, has_sq;
	bool reserved_lkey; /* may use MKEY_RESERVED_LKEY (kernel QPs) */
	bool blocks_own;    /* UD: does not receive what it sends to a group (block_lb_mc) */
	bool fast_register; /* may change keys that are not indirect by UMR (kernel QPs) */
	uint32_t deth_sqpn; /* UD: source QPN to claim; 0: own */
	uint8_t qpc[232]; /* struct mlx5_ifc_qpc_bits: what QUERY_QP answers with; firmware/cmd_qp.c alone */

	/* Set by the modify commands. */
	struct qp_path path, alt_path;
	uint32_t remote_qpn, send_psn, recv_psn; /* as given to modify */
	uint32_t qkey;
	uint16_t mtu;                                  /* bytes */
	uint8_t retry_count, rnr_retry, min_rnr_timer; /* rnr_retry 7: for ever */
	uint8_t max_rd_atomic, max_dest_rd_atomic;     /* already 1 << log */
	bool remote_read, remote_write, remote_atomic;
	uint8_t migration; /* pm_state */

	struct qp_engine *engine; /* private to the data path */
};

/* Destruction, for destroy(). */
void qp_destroy(struct qp *qp);

/* Creation: the attributes above are set, state is RST. 0 or -ENOMEM. */
int qp_engine_init(struct qp *qp);
/* Destruction: nothing of the QP is in flight or in any queue afterwards, no event comes. */
void qp_engine_fini(struct qp *qp);
/*
 * The command has been checked and qp->state is new already: to RST (forget all, no CQEs), to
 * INIT/RTR/RTS (counters from send_psn, recv_psn), to SQD (drain, then SQ_DRAINED), to ERR
 * (flush all with CQEs, now and for WQEs posted later).
 */
void qp_engine_state(struct qp *qp, enum qp_state old);
/* The send doorbell rang, or a receive may have been posted. */
void qp_engine_kick(struct qp *qp);

/* A packet for this QP has arrived; the engine takes it over. */
void qp_engine_packet(struct qp *qp, struct packet *p);

/* Numbers for QUERY_QP. */
struct qp_counters {
	uint32_t next_send_psn, last_acked_psn, next_recv_psn;
	uint16_t hw_sq, hw_rq;
};
void qp_engine_counters(const struct qp *qp, struct qp_counters *c);

/*
 * The data path moves a QP to ERR itself (or a UD or UC one to SQER): state and qpc's state, and
 * the queues are flushed. Events are the caller's. In qp.c.
 */
void qp_enter_error(struct qp *qp, enum qp_state state);

const char *qp_state_name(enum qp_state state);
const char *qp_transport_name(enum qp_transport transport);

#endif
