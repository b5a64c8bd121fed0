/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ktest.h - what the cases have in common: two QPs of one device that are connected to each other.
 */
#ifndef KTEST_H
#define KTEST_H

#include <linux/completion.h>
#include <rdma/ib_verbs.h>

#define DEPTH 32U /* WRs of a queue */

/* Whatever has to come, has come by then. */
#define PATIENCE (60 * HZ)

struct end {
	struct ib_cq *cq;
	struct ib_qp *qp;
	struct ib_ah *ah; /* UD: of the other end */
	u32 remote_qpn;   /* as well */
	bool last_wqe;    /* the event has come */
};

struct pair {
	struct ib_device *dev;
	struct ib_pd *pd;
	struct ib_srq *srq; /* of b, or NULL */
	struct end a, b;
};

/* A WR that waits for its completion. */
struct work {
	struct ib_cqe cqe;
	struct completion done;
	enum ib_wc_status status;
	enum ib_wc_opcode opcode;
	u32 flags; /* enum ib_wc_flags */
	u32 rkey;  /* that the message has invalidated */
	u32 bytes;
};

/* context: how the CQs are polled. Undone by pair_end(), which drains the QPs. */
int pair_make(struct pair *pair, struct ib_device *dev, enum ib_qp_type type,
	      enum ib_poll_context context);
void pair_end(struct pair *pair);

/* The same, and b receives by an SRQ. */
int pair_make_srq(struct pair *pair, struct ib_device *dev, enum ib_poll_context context);

/* Posts one WR, whose completion is noted in work; where an address is given, with one element. */
int post_send(struct end *end, struct work *work, u64 addr, u32 length, u32 lkey);
int post_wr(struct end *end, struct work *work, struct ib_send_wr *wr);
int post_recv(struct end *end, struct work *work, u64 addr, u32 length, u32 lkey);
int post_recv_wr(struct end *end, struct work *work, struct ib_recv_wr *wr);

/* Its completion comes, with that status. */
int await(struct end *end, struct work *work, enum ib_wc_status status);

/* The same, and of a WR that was carried out, with that opcode. */
int await_op(struct end *end, struct work *work, enum ib_wc_status status,
	     enum ib_wc_opcode opcode);

/*
 * traffic.c: one message from a to b, whose buffers are mapped already; grh: octets that come
 * before it
 */
int send_mapped(struct pair *pair, u64 from, u64 to, u32 length, u32 room, u32 grh);

/* It says the first octet that is another. */
int compare(const u8 *want, const u8 *got, size_t length, const char *what);

/* The cases. */
int case_rc_send(struct ib_device *dev);
int case_rc_event(struct ib_device *dev);
int case_rc_list(struct ib_device *dev);
int case_reg_list(struct ib_device *dev);
int case_reg_pieces(struct ib_device *dev);
int case_reg_fragments(struct ib_device *dev);
int case_reg_local(struct ib_device *dev);
int case_reg_remote_inv(struct ib_device *dev);
int case_reg_stress(struct ib_device *dev);
int case_reg_access(struct ib_device *dev);
int case_reg_stale(struct ib_device *dev);
int case_reg_pd(struct ib_device *dev);
int case_lie_entries(struct ib_device *dev);
int case_ud_send(struct ib_device *dev);
int case_drain(struct ib_device *dev);
int case_outside(struct ib_device *dev);
int case_many(struct ib_device *dev);
int case_srq(struct ib_device *dev);
int case_coherent(struct ib_device *dev);
int case_lie_length(struct ib_device *dev);
int case_grow(struct ib_device *dev);
int case_late_rc(struct ib_device *dev);
int case_late_read(struct ib_device *dev);
int case_late_region(struct ib_device *dev);
int case_late_sent_on(struct ib_device *dev);
int case_late_srq(struct ib_device *dev);
int case_late_ud(struct ib_device *dev);

/* A key that is another's, and an address that it is good for: parameters of the module. */
extern unsigned int foreign_key;
extern unsigned long long foreign_at;

/* death.c: traffic that goes on until the device goes, and then checks that nothing is left. */
int death_start(struct ib_device *dev);
void death_end(struct ib_device *dev);

#endif
