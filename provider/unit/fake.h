/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * fake.h - a device without kernel and HCA: fake_verbs.c takes the place of libibverbs and of the
 * kernel behind it, fake_hca.c writes CQEs as the HCA does. A doorbell page is a page of a file in
 * memory.
 */
#ifndef XENIB_UNIT_FAKE_H
#define XENIB_UNIT_FAKE_H

#include "ah.h"
#include "context.h"
#include "cq.h"
#include "pd.h"
#include "qp.h"
#include "srq.h"
#include "uar.h"
#include "verbs.h"

#define FAKE_TICKS 0x123456789abcdefull /* of the HCA's clock */
#define FAKE_NULL_KEY 0x300u

enum { FAKE_QPN = 0x123400, FAKE_CQN = 0x450, FAKE_SRQN = 0x77 };

/* Of a small QP. */
extern const struct ibv_qp_cap fake_cap;

struct fake_hca_cq;

/* What the fake kernel says and has been told. */
struct fake {
	int fail_in;   /* the command after so many others fails; 0: none */
	int fail_with; /* errno */
	uint32_t family;
	uint32_t cqe_version;
	uint32_t max_sq_desc, max_rq_desc, max_send_blocks, max_recv_wqes, max_srq_wqes;
	uint32_t bf_size; /* of BlueFlame pages */
	uint32_t bf_offset;
	uint32_t max_uars;
	uint32_t null_key;
	uint32_t features;
	bool defers_cqs; /* those that are made */
	struct fake_hca_cq
		*resizes; /* what goes on in another buffer when a CQ is resized; NULL: nothing */

	uint32_t live;     /* objects that exist */
	uint32_t uars;     /* doorbell pages that exist */
	uint32_t ranges;   /* of memory that a child does not inherit */
	uint32_t awaits;   /* how often it was asked to wait for RTS */
	uint32_t made;     /* objects ever made */
	uint32_t cqs_made; /* how often it was asked to make a deferred CQ */
	struct {
		uint64_t buf, db;
		uint8_t buf_shift, db_shift;
		uint32_t cqe_size, uar, cqe, sq_blocks, rq_wqes, rq_shift, uidx, max_wr, max_sge;
		uint32_t create_flags;
	} last;         /* the latest creation of a queue */
	char told[128]; /* the latest information in the log */
};

extern struct fake fake;

#define FAKE_UARS 64

/* fake_command(): zero, or the error that the test has ordered for this command. */
int fake_command(void);

/* The same, of one that makes an object. */
int fake_make(uint32_t *handle);

/** fake_begin_queue() - fake.last is of a queue from now on, of which this is where it is. */
void fake_begin_queue(uint64_t buf, uint64_t db, uint8_t buf_shift, uint8_t db_shift);

/** fake_open_defaults() - a device as is usual, for a test to change. */
void fake_open_defaults(void);

/** fake_open() - opens a device, one as is usual unless fake holds one. NULL, errno: refused. */
struct ibv_context *fake_open(void);

/** fake_import() - as another process does with the device's file. NULL, errno: refused. */
struct ibv_context *fake_import(struct ibv_context *of);

/** fake_close_imported() - closes such a one, before the first is closed. */
void fake_close_imported(struct ibv_context *context);

/** fake_close() - closes it, and checks that nothing is left. */
void fake_close(struct ibv_context *context);

/** fake_uar_page() - the page of a UAR index, as the HCA sees it. */
uint8_t *fake_uar_page(uint32_t index);

struct ibv_qp *fake_qp(struct ibv_pd *pd, struct ibv_cq *cq, struct ibv_srq *srq,
		       enum ibv_qp_type type, const struct ibv_qp_cap *cap);
/** fake_qp_ex() - a QP for the ibv_wr_* interface, with all operations. */
struct ibv_qp *fake_qp_ex(struct ibv_pd *pd, struct ibv_cq *cq, enum ibv_qp_type type,
			  const struct ibv_qp_cap *cap);
void fake_to_rts(struct ibv_qp *qp);

/* The HCA's side of a CQ. */
struct fake_hca_cq {
	uint8_t *cqes;
	uint32_t count;
	uint32_t next; /* the CQE to be written next, free running */
};

void fake_hca_attach(struct fake_hca_cq *hca, struct ibv_cq *cq);

/* A CQE, by what it says. */
struct fake_cqe {
	uint8_t opcode; /* the CQE's, 0 to 15 */
	uint32_t uidx, qpn;
	uint16_t wqe;
	uint8_t wqe_opcode;
	uint32_t bytes, imm;
	uint16_t slid;
	uint8_t sl, path, grh;
	uint32_t src_qp;
	uint8_t syndrome, vendor;
};

/** fake_hca_resize() - ends the buffer, and goes on in another one. */
void fake_hca_resize(struct fake_hca_cq *hca, uint64_t cqes, uint32_t count);

/** fake_hca_complete() - writes one CQE. */
void fake_hca_complete(struct fake_hca_cq *hca, const struct fake_cqe *cqe);

#endif
