/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Inside of the data path: what the files behind objects/qp.h share.
 *
 *   objects/qp.c  life, states, the turns of a QP, errors
 *   send.c        the send queue: WQEs started, packets made, completions in order
 *   flush.c       queues of a QP in error
 *   rc_request.c  reliable requester: acknowledgements, responses, retries, timers
 *   rc_respond.c  reliable responder: the order of requests, duplicates, NAKs
 *   rc_execute.c  reliable responder: what a request does
 *   uc.c, ud.c    unreliable receivers
 *   pace.c        static rates
 *   recv.c        receive WQEs, of a QP or an SRQ, and the completions of what arrives
 *
 * All is bounded: a turn of a QP handles so many packets and then lets others have theirs.
 */
#ifndef HCA_ENGINE_H
#define HCA_ENGINE_H

#include "container.h"
#include "engine/packet.h"
#include "engine/wqe.h"
#include "hca.h"
#include "objects/mkey.h"
#include "objects/qp.h"

#define TURN_PACKETS 64u    /* that a QP sends in a turn */
#define TURN_FLUSH 256u     /* WQEs that a QP flushes in a turn */
#define TURN_NS 200000u     /* a turn that takes longer ends after the packet at hand */
#define SEND_WINDOW 128u    /* packets that may be unacknowledged */
#define SENT_MAX 128u       /* WQEs in flight; a power of two */
#define ACK_EVERY 32u       /* packets of a message after which an acknowledgement is asked for */
#define RESPONSES (1u << 4) /* 1 << CAP_MAX_RD_ATOMIC */
#define ACK_TIMEOUT_MIN 1000000ull /* ns: this switch is no wire, below that all is noise */
#define PAUSE_NS 100000u           /* before packets are asked for again when there were none */
#define POLL_MIN_NS 500000u        /* of the doorbell record of a QP in error */
#define POLL_MAX_NS 16000000u

/* MLX5_EVENT_TYPE_* of linux/mlx5/device.h */
enum {
	EVENT_COMM_EST = 0x02,
	EVENT_SQ_DRAINED = 0x03,
	EVENT_WQ_CATAS_ERROR = 0x05,
	EVENT_WQ_INVAL_REQ_ERROR = 0x10,
	EVENT_WQ_ACCESS_ERROR = 0x11,
	EVENT_SRQ_LAST_WQE = 0x13,
};

/* A WQE that was started and has not completed. */
struct sent {
	uint32_t psn, packets; /* packets 0: nothing goes out */
	uint32_t received;     /* READ: response packets placed */
	uint32_t length;
	uint16_t index, blocks;
	uint8_t opcode;
	uint8_t ce;    /* enum wqe_ce */
	bool response; /* READ, atomic: it is over when the answer is here */
	bool done;
	uint8_t syndrome; /* done with an error */
};

/* A READ or atomic that the responder has accepted: kept to be answered, and answered again. */
struct response {
	bool pending, atomic;
	uint32_t psn, packets;
	uint32_t next; /* packet to be sent */
	uint64_t va, old;
	uint32_t rkey, length, pd;
};

/* What the responder still has to say, after all responses. */
struct reply {
	bool ack, nak;
	uint8_t syndrome; /* of the NAK */
	bool fatal;       /* the QP is in ERR once the NAK is out */
	uint8_t event;    /* and this is reported; 0: nothing */
};

enum message { MESSAGE_NONE, MESSAGE_SEND, MESSAGE_WRITE };

struct qp_engine {
	struct qp *qp;
	struct loop_work work;
	struct loop_timer retry; /* ACK timeout, or the end of an RNR wait */
	struct loop_timer pause; /* out of packets; in ERR: poll for WQEs */

	/* Send queue. Indexes count blocks, modulo 2^16 as in the doorbell record. */
	uint16_t sq_ci;   /* oldest WQE that has not completed */
	uint16_t sq_next; /* next to be started */
	bool halted;      /* the last WQE of the ring has failed: no more are started */
	bool error_told;  /* a completion with error was posted (WQE_CE_FIRST_ERROR) */
	bool draining;    /* SQD: SQ_DRAINED is due */
	struct sent *sent;
	uint32_t head, tail, tx; /* of sent[], free running: oldest, end, in transmission */
	uint32_t tx_packet;      /* of sent[tx]: next packet */
	uint32_t reads;          /* responses awaited */
	uint32_t read_psns;      /* PSNs among the unacknowledged that are for responses */
	uint32_t psn;            /* of the next new packet */
	uint32_t una;            /* oldest PSN not acknowledged */

	/* Retries. */
	uint8_t retries, rnr_retries; /* left */
	bool rnr_wait;
	bool rewound;      /* since una last moved: loss noticed twice is one loss */
	uint64_t deadline; /* of the acknowledgement; 0: none awaited */

	/* Responder. */
	uint32_t epsn, msn;
	bool out_of_order;    /* NAK sent: until the PSN expected arrives all others are dropped */
	bool alive;           /* something has arrived since RTR */
	enum message message; /* in the middle of */
	uint32_t offset;      /* bytes of it placed */
	uint64_t write_va;
	uint32_t write_rkey, write_length;
	struct reply reply;
	struct response responses[RESPONSES];
	uint32_t response_count; /* accepted, free running */

	/* Receive queue. */
	uint16_t rq_ci;
	bool rx_taken;     /* a receive WQE is being filled */
	uint16_t rx_index; /* which: RQ's counter, or SRQ's WQE */
	uint32_t rx_srqn;  /* XRC */

	uint32_t poll_ns;
	uint64_t paid; /* up to when, for what was sent: pace.c */
};

static inline uint32_t psn_add(uint32_t psn, uint32_t n)
{
	return (psn + n) & PSN_MASK;
}

/* a - b, as half of the numbers are before and half after (IBTA 9.7.2). */
static inline int32_t psn_diff(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << 8) >> 8;
}

static inline struct sent *sent_at(const struct qp_engine *e, uint32_t i)
{
	return &e->sent[i & (SENT_MAX - 1)];
}

static inline uint32_t packets_for(uint32_t length, uint32_t mtu)
{
	return length ? (length + mtu - 1) / mtu : 1;
}

static inline bool qp_is_datagram(const struct qp *qp)
{
	return qp->transport == QP_UD || qp->transport == QP_GSI || qp->transport == QP_SMI;
}

static inline bool qp_is_reliable(const struct qp *qp)
{
	return qp->transport == QP_RC || qp->transport == QP_XRC_INI || qp->transport == QP_XRC_TGT;
}

/* Bytes that a packet carries. A datagram may fill whatever the port can take. */
static inline uint32_t qp_mtu(const struct qp *qp)
{
	return qp->mtu && !qp_is_datagram(qp) ? qp->mtu : PORT_MTU;
}

/* pace.c: whether the static rate lets another packet out; one with so much payload goes out. */
bool pace_may_send(struct qp_engine *e);
void pace_sends(struct qp_engine *e, uint32_t length);

/* objects/qp.c */
void engine_wake(struct qp_engine *e);
/* Like engine_wake(), after a pause: there is no packet to be had. */
void engine_pause(struct qp_engine *e);
/* The QP cannot go on: WQ_CATAS_ERROR, ERR. Once. */
void engine_catastrophe(struct qp_engine *e, const char *why);
/* A packet of the QP's path, with addresses, P_Key and destination. NULL: none left, or not yet. */
struct packet *engine_packet(struct qp_engine *e);
/* Memory is accessed for the QP. */
struct mkey_user engine_user(const struct qp *qp);
/* Whether the P_Key of a packet lets it in (IBTA 9.6.1.1.3: one of the two must be a full member). */
bool engine_pkey_ok(const struct qp *qp, const struct packet *p);
/* Copies between a list of segments and a packet, from an offset in the message. */
enum mkey_status engine_gather(const struct mkey_user *user, const struct wqe *w, uint32_t offset,
			       uint8_t *dst, uint32_t len);
enum mkey_status engine_scatter(const struct mkey_user *user, const struct wqe_seg *segs,
				uint32_t nsegs, uint32_t offset, const uint8_t *src, uint32_t len);

/* send.c */
/* Starts WQEs and sends packets; *budget counts down. False: something is left that can be done now. */
bool send_run(struct qp_engine *e, uint32_t *budget);
/* Posts the completions that are due, in order. */
void send_complete(struct qp_engine *e);
/* The WQE of an entry, parsed again: NULL if it is not any more what it was. */
const struct wqe *send_wqe(struct qp_engine *e, const struct sent *s);
/* Posts the completion of a WQE: with success (syndrome 0) if asked for, with an error. */
void send_post(struct qp_engine *e, const struct sent *s, uint8_t syndrome);

/* flush.c */
/* As send_run(), for a QP in ERR or SQER. */
bool flush_run(struct qp_engine *e);

/* rc_request.c */
void rc_response(struct qp_engine *e, const struct packet *p);
void rc_request_timer(struct qp_engine *e);
/* A packet went out, or una moved: when the acknowledgement is due. */
void rc_request_arm(struct qp_engine *e, bool restart);

/* rc_respond.c */
void rc_request(struct qp_engine *e, const struct packet *p);
/* Sends responses, then the acknowledgement. False: not all. */
bool rc_respond_run(struct qp_engine *e, uint32_t *budget);

/* rc_execute.c */
enum verdict_kind { VERDICT_OK, VERDICT_RNR, VERDICT_NAK };
struct verdict {
	enum verdict_kind kind;
	uint8_t nak;   /* NAK_* */
	uint8_t event; /* for the responder's own driver */
};
/* Carries out a request that is in order. */
struct verdict rc_execute(struct qp_engine *e, const struct packet *p);
/* PSNs that a request takes. */
uint32_t rc_request_psns(const struct qp_engine *e, const struct packet *p);
/* The PD of remote accesses: the QP's, or that of the XRC SRQ. False: no such SRQ. */
bool rc_remote_user(const struct qp *qp, const struct packet *p, struct mkey_user *user);

/* uc.c, ud.c */
void uc_packet(struct qp_engine *e, const struct packet *p);
void ud_packet(struct qp_engine *e, const struct packet *p);
/* Addresses a datagram as the WQE says. */
void ud_address(const struct qp *qp, const struct wqe *w, struct packet *p);

/* recv.c */
enum recv_status { RECV_OK, RECV_EMPTY, RECV_BROKEN, RECV_TOO_SMALL, RECV_PROTECTION };
/* Takes a receive WQE (xrc_srqn: XRC target); RECV_OK also if one is taken already. */
enum recv_status recv_take(struct qp_engine *e, uint32_t xrc_srqn);
/* Places bytes at an offset of the message in the WQE taken. */
enum recv_status recv_place(struct qp_engine *e, uint32_t offset, const void *src, uint32_t len);
/* Completes the WQE taken: opcode MLX5_CQE_RESP_*, length of the message. */
void recv_complete(struct qp_engine *e, const struct packet *p, uint8_t opcode, uint32_t length);
/* Completes the WQE taken, if one is, with an error. */
void recv_fail(struct qp_engine *e, uint8_t syndrome);
/* Flushes up to budget WQEs of the QP's own queue; returns how many. */
uint32_t recv_flush(struct qp_engine *e, uint32_t budget);

#endif
