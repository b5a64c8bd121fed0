/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Completion queues: posting CQEs, arming, overruns, other buffers. */
#ifndef HCA_CQ_H
#define HCA_CQ_H

#include "loop.h"
#include "objects/obj.h"
#include "objects/wqbuf.h"

struct eq;
struct uar;

struct cq {
	struct obj obj;
	struct wqbuf buf;
	struct eq *eq;
	struct uar *uar;
	uint64_t dbr;                     /* doorbell record: [0] consumer index, [1] arm */
	uint8_t log_size, cqe_size_shift; /* 6 or 7 */
	bool ignore_overrun;
	bool error;     /* overrun or unreachable: nothing is posted any more */
	uint32_t pi;    /* CQEs written, free running */
	uint8_t events; /* sent so far, mod 4: what the next arm must carry */
	enum { CQ_UNARMED, CQ_ARMED, CQ_ARMED_SOLICITED } arm;
	uint32_t arm_ci;       /* consumer index of the arm: a CQE beyond it fires at once */
	uint32_t solicited_pi; /* pi after the last solicited (or error) CQE */
	uint32_t notified_pi;  /* pi at the last event */

	/*
	 * Moderation: an event that is due waits until this many CQEs have come since the last one,
	 * or for so long. 0: it does not wait for that; both 0: there is none.
	 */
	uint16_t max_count, period_us;
	bool due; /* an event waits */
	struct loop_timer late;
};

/* What a CQE says; cq_post() lays it out (struct mlx5_cqe64, mlx5_err_cqe). */
struct completion {
	uint8_t opcode;                    /* MLX5_CQE_* */
	uint8_t syndrome, vendor_syndrome; /* error CQEs: MLX5_CQE_SYNDROME_* */
	uint8_t send_opcode;               /* the WQE's opcode, for requester CQEs */
	uint16_t wqe_counter;
	uint32_t qpn, srqn;
	uint32_t user_index; /* of the QP, or the SRQ */
	uint32_t imm_inval_pkey;
	uint32_t byte_count;
	uint16_t slid;
	uint32_t flags_rqpn; /* sl << 24, grh << 28, remote QPN */
	uint8_t ml_path;
	bool solicited;
};

/*
 * Posts a CQE and fires the event if the CQ is armed for it. An overrun, or a buffer that cannot
 * be written, puts the CQ into error with a CQ_ERROR event. False if nothing was posted: the QP
 * has lost a completion and is to fail.
 */
bool cq_post(struct cq *cq, const struct completion *c);

/*
 * Goes on in another buffer of 2^log_size CQEs. What the driver has not consumed stays in the old one,
 * and after it comes a CQE of its own kind, MLX5_CQE_RESIZE_CQ: the driver takes what is before it
 * along, each to the next index, for that one takes an index, too. *buf is the old buffer afterwards;
 * unless CQ_RESIZED nothing has changed.
 */
enum cq_resized {
	CQ_RESIZED,
	CQ_RESIZE_SMALL, /* more waits in the CQ than goes into the new buffer */
	CQ_RESIZE_FULL,  /* no room for that CQE */
	CQ_RESIZE_ERROR, /* the CQ is, or comes, in error */
};
enum cq_resized cq_resize(struct cq *cq, struct wqbuf *buf, uint8_t log_size);

/* Sets max_count and period_us. An event that waits is due by these from now on. */
void cq_moderate(struct cq *cq, uint16_t max_count, uint16_t period_us);

/*
 * An arm doorbell (UAR + 0x20): sn << 28 | solicited << 24 | ci, cqn. False if there is no such CQ
 * or it was not created on this page: to be counted as refused.
 */
bool cq_doorbell(struct hca *hca, uint32_t uar, uint32_t cmd, uint32_t cqn);

/* Destruction, for destroy(). */
void cq_destroy(struct cq *cq);

#endif
