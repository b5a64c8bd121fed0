/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Two connected queue pairs in one process.
 *
 * An end has its own PD, completion queues, QP, and one registered buffer; a pair is two ends on two devices (or twice
 * on one) which exchange their numbers directly. What a test does not care about works or ends the case: every function
 * that can fail calls require(), unless it says that it returns an error.
 *
 * Plain libibverbs: these programs run on any device, a paravirtual one included.
 */
#ifndef VERBS_PAIR_H
#define VERBS_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "check.h"

#define VP_GRH 40 /* bytes before the payload in a UD receive buffer */
#define VP_QKEY 0x11223344u
#define VP_MAX_SGE 32 /* that a struct vp_wr has room for */

#define VP_REMOTE_ALL (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)
#define VP_ACCESS_ALL (IBV_ACCESS_LOCAL_WRITE | VP_REMOTE_ALL)

struct vp_dev {
	struct ibv_context *ctx;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	union ibv_gid gid;
	int gid_index;
	uint8_t port_num;
};

/* How to make the ends of a pair. Start from vp_conf() and change what the test is about. */
struct vp_conf {
	enum ibv_qp_type type;
	struct ibv_qp_cap cap;
	int cqe;
	int qp_access; /* what the QPs allow their peers */
	int mr_access; /* of the buffers */
	size_t len;    /* of the buffers */
	uint8_t timeout, retry_cnt, rnr_retry, min_rnr_timer;
	uint8_t max_rd_atomic, max_dest_rd_atomic;
	bool wr_api;  /* post by ibv_wr_*() */
	bool cq_ex;   /* poll by ibv_start_poll() and its kin */
	bool channel; /* completions raise events */
	bool use_srq;
};

struct vp_cq {
	struct ibv_cq *cq;
	struct ibv_cq_ex *ex; /* NULL: poll with ibv_poll_cq() */
};

struct vp_end {
	struct vp_dev *dev;
	const struct vp_conf *conf;
	struct ibv_pd *pd;
	bool own_pd;
	struct ibv_comp_channel *channel;
	struct vp_cq scq, rcq;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_qp_ex *qpx;
	struct ibv_mr *mr;
	uint8_t *buf;
	size_t len;
	uint32_t psn;
	struct ibv_ah *ah; /* UD: the way to the peer */
	struct vp_end *peer;
};

struct vp_pair {
	struct vp_dev *dev_a, *dev_b;
	struct vp_conf conf;
	struct vp_end a, b;
};

/* What many cases are about: a pair on the two devices. */
struct vp_both {
	struct vp_dev dev_a, dev_b;
	struct vp_pair pair;
};

/* A work request with room for its scatter list. */
struct vp_wr {
	struct ibv_send_wr wr;
	struct ibv_sge sge[VP_MAX_SGE];
};

/* -- devices -- */

/*
 * Has libibverbs load its providers, for a main() that is to run cases: each is a process of its own, and would load them
 * all again.
 */
void vp_load_providers(void);

/* Opens the first (0) or second (1) device of the command line. */
void vp_open(struct vp_dev *dev, int which);
/* The same, of a device that is open, and becomes its own. */
void vp_open_context(struct vp_dev *dev, struct ibv_context *ctx);
void vp_close(struct vp_dev *dev);
void vp_open_both(struct vp_dev *dev_a, struct vp_dev *dev_b);
void vp_close_both(struct vp_dev *dev_a, struct vp_dev *dev_b);

/* -- making and unmaking -- */

struct vp_conf vp_conf(enum ibv_qp_type type);

/* Everything up to a QP in RESET. @pd: use this one, NULL: make one. */
void vp_end_make(struct vp_end *end, struct vp_dev *dev, struct ibv_pd *pd,
		 const struct vp_conf *conf);
void vp_end_free(struct vp_end *end);

/* Only what goes before the QP: PD, channel, CQs, SRQ, buffer. */
void vp_end_make_no_qp(struct vp_end *end, struct vp_dev *dev, struct ibv_pd *pd,
		       const struct vp_conf *conf);

/* A QP as @conf and @end have it. Returns NULL and errno if that is refused. */
struct ibv_qp *vp_qp_create(struct vp_end *end, const struct vp_conf *conf);
void vp_qp_destroy(struct vp_end *end);

/* A CQ as @end has them; @channel may be NULL. */
void vp_cq_make(struct vp_cq *cq, struct vp_dev *dev, int cqe, struct ibv_comp_channel *channel,
		bool ex);
void vp_cq_free(struct vp_cq *cq);

/* Makes both ends and connects them. @dev_a and @dev_b may be the same. */
void vp_pair_make(struct vp_pair *pair, struct vp_dev *dev_a, struct vp_dev *dev_b,
		  const struct vp_conf *conf);

/* The same, on PDs that exist. */
void vp_pair_make_on(struct vp_pair *pair, struct vp_dev *dev_a, struct ibv_pd *pd_a,
		     struct vp_dev *dev_b, struct ibv_pd *pd_b, const struct vp_conf *conf);
void vp_pair_free(struct vp_pair *pair);

/* The devices and the pair. */
void vp_both_make(struct vp_both *both, struct vp_conf conf);
void vp_both_free(struct vp_both *both);

/* -- states -- */

/* The attributes and mask of one step of @end towards @peer, for a test to spoil. @state: INIT, RTR or RTS. */
int vp_step(const struct vp_end *end, const struct vp_end *peer, enum ibv_qp_state state,
	    struct ibv_qp_attr *attr);
void vp_move(struct vp_end *end, const struct vp_end *peer, enum ibv_qp_state state);
void vp_move_to_error(struct vp_end *end);
void vp_move_to_reset(struct vp_end *end);

/* RESET to RTS on both sides, and the address handles of UD. */
void vp_connect(struct vp_end *a, struct vp_end *b);
enum ibv_qp_state vp_state(struct vp_end *end);

/* Checks that the QP reaches the state within the deadline (hardware changes it on its own account). */
void vp_expect_state(struct vp_end *end, enum ibv_qp_state state, const char *whose);

/* An address vector from @end to @peer. */
struct ibv_ah_attr vp_ah_attr(const struct vp_end *end, const struct vp_dev *peer);

/* -- buffers -- */

void vp_fill(void *at, size_t len, uint64_t seed);

/* Returns the offset of the first byte that differs from the pattern, or -1. */
ptrdiff_t vp_differs(const void *at, size_t len, uint64_t seed);

/* A pattern that was not there before. */
uint64_t vp_fresh(void);

/* -- posting -- */

/*
 * A signalled request of @end to its peer, with one element [off, off + len) of its own buffer, and the same offset
 * of the peer's buffer as the remote address. Returns @w->wr for convenience; change it before it is posted.
 */
struct ibv_send_wr *vp_wr(struct vp_wr *w, struct vp_end *end, enum ibv_wr_opcode opcode,
			  size_t off, size_t len);

/* Posts a chain by the API of the configuration. Returns 0 or an errno value. */
int vp_try_send(struct vp_end *end, struct ibv_send_wr *wr);
int vp_try_recv(struct vp_end *end, uint64_t wr_id, struct ibv_sge *sge, int num_sge);
void vp_send(struct vp_end *end, struct ibv_send_wr *wr);

/* Posts [off, off + len) of the buffer; to the SRQ if there is one. */
void vp_recv(struct vp_end *end, uint64_t wr_id, size_t off, size_t len);

/* -- completions -- */

/* Polls once. Returns 1 and the completion, or 0. */
int vp_poll(struct vp_cq *cq, struct ibv_wc *wc);

/* Polls for a while. Returns false if nothing came. */
bool vp_poll_for(struct vp_cq *cq, struct ibv_wc *wc, unsigned int ms);

/* The next completion must come within the deadline, and have this id and status. */
struct ibv_wc vp_expect_at(const char *file, int line, struct vp_cq *cq, uint64_t wr_id,
			   enum ibv_wc_status status, const char *what);
#define vp_expect(cq, wr_id, status, what) vp_expect_at(__FILE__, __LINE__, cq, wr_id, status, what)

/* Nothing may be in the queue, now and in the next few milliseconds. */
void vp_expect_none(struct vp_cq *cq, const char *what);

/* Sets the status that a request ended with; what it was does not matter. */
bool vp_status_for(struct vp_cq *cq, enum ibv_wc_status *status, unsigned int ms);

/* -- completion events -- */

/* Waits for an event of the channel, acknowledges it, and returns its CQ, or NULL after @ms. */
struct ibv_cq *vp_event(struct ibv_comp_channel *channel, unsigned int ms);

/* -- asynchronous events -- */

/* Takes the next event that is not about the port; false if none came within @ms. It is acknowledged already. */
bool vp_async(struct vp_dev *dev, struct ibv_async_event *event, unsigned int ms);

/* The next event must be this one about this QP; "communication established" may come before it. */
void vp_expect_qp_event(struct vp_end *end, enum ibv_event_type type, const char *what);

/* No event about an object may be waiting, but for "communication established". */
void vp_expect_no_async(struct vp_dev *dev, const char *what);

/* -- memory windows -- */

/* Ends the case as skipped if the device has no windows of type 2. */
void vp_need_mw(const struct vp_dev *dev);

/* Binds [off, off + len) of the end's buffer, by a request of its QP. Returns the request's status. */
enum ibv_wc_status vp_mw_try_bind(struct vp_end *end, struct ibv_mw *mw, struct ibv_mr *mr,
				  size_t off, size_t len, unsigned int access);

/* The same, of the end's own MR, and must succeed; the window has its new key afterwards. */
void vp_mw_bind(struct vp_end *end, struct ibv_mw *mw, size_t off, size_t len, unsigned int access);

/* -- a whole exchange -- */

/* Fresh data a to b and b to a by what the transport has (RC: send, write and read), every byte compared. */
void vp_exchange(struct vp_pair *pair, const char *what);

#endif
