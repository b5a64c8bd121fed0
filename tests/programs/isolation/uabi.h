/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * uabi: what a process can ask the guest's kernel for, by the kernel's own interface and without a verbs library, so
 * that every number in it can be wrong.
 *
 * All functions return 0 or -errno, and check nothing. A device whose name begins with "mlx5_" is of that personality, and
 * is asked as uabi_mlx5.h has it.
 */
#ifndef UABI_H
#define UABI_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>

#include "hca/uverbs.h"
#include "xenib-abi.h"

#define UABI_PAGE 4096
#define UABI_PORT 1

/* Queues of the set, and the arguments by which the attempts start. */
#define UABI_CQE 63
#define UABI_CQE_SIZE 64
#define UABI_SQ_BLOCKS 64
#define UABI_RQ_WQES 64
#define UABI_RQ_SHIFT 4
#define UABI_SRQ_WR 63

/* One of each object, of one context; the names are the kernel's handles. */
struct uabi_set {
	uint32_t pd, mr, mw, scq, rcq, srq, qp, ah;
	uint32_t uar, uar_index;
	uint64_t uar_offset;
	uint8_t *memory; /* UABI_SET_PAGES pages */
};

/* Pages of the set's memory: a buffer for each queue, doorbell records, and one to register. */
enum {
	UABI_SCQ,
	UABI_RCQ = 2,
	UABI_SRQ = 4,
	UABI_QP = 6,
	UABI_RECORDS = 8,
	UABI_DATA,
	UABI_SPARE,
	UABI_SET_PAGES = 16
};

/* A device file with a context on it: a descriptor, or -errno. */
int uabi_open(const char *ibdev);

/* Whether the one that was opened last is of the personality "mlx5". */
bool uabi_is_mlx5(void);

/* What a driver is sent or answers: structures of its own. */
struct uabi_bytes {
	void *at;
	uint32_t len;
};

int uabi_context_of(int fd, enum rdma_driver_id driver, struct uabi_bytes req,
		    struct uabi_bytes resp);

/* A context of the personality "xenib". */
int uabi_context(int fd, uint32_t len, const struct xenib_alloc_ucontext_req *req,
		 struct xenib_alloc_ucontext_resp *resp);
int uabi_alloc_pd(int fd, uint32_t *pd);
int uabi_reg_mr(int fd, const struct ib_uverbs_reg_mr *req, uint32_t *mr);
int uabi_alloc_mw(int fd, uint32_t pd, uint32_t *mw);
int uabi_create_cq(int fd, const struct ib_uverbs_create_cq *core,
		   const struct xenib_create_cq_req *driver, uint32_t *cq);
int uabi_resize_cq(int fd, uint32_t cq, uint32_t cqe, const struct xenib_resize_cq_req *driver);
int uabi_create_srq(int fd, const struct ib_uverbs_create_srq *core,
		    const struct xenib_create_srq_req *driver, uint32_t *srq);
int uabi_create_qp(int fd, const struct ib_uverbs_create_qp *core,
		   const struct xenib_create_qp_req *driver, uint32_t *qp);
int uabi_create_ah(int fd, uint32_t pd, uint32_t *ah);
int uabi_alloc_uar(int fd, uint64_t type, uint32_t *uar, struct xenib_uar_alloc_resp *resp);
int uabi_free_uar(int fd, uint32_t uar);
int uabi_modify_qp(int fd, uint32_t qp); /* to INIT */
int uabi_query_qp(int fd, uint32_t qp);
int uabi_await_qp(int fd,
		  uint32_t qp); /* of the personality mlx5, which has no such method: query */
int uabi_make_cq(int fd,
		 uint32_t cq); /* of the personality mlx5, which has no such method: resize */
int uabi_query_srq(int fd, uint32_t srq);
int uabi_modify_srq(int fd, uint32_t srq);
int uabi_attach(int fd, uint32_t qp);

/* Destroys an object: a command of enum ib_uverbs_write_cmds whose request is, or begins with, its handle. */
int uabi_destroy(int fd, uint32_t command, uint32_t handle);

/* Good requests for one more object of the set's context. */
void uabi_good_mr(const struct uabi_set *set, struct ib_uverbs_reg_mr *req);
void uabi_good_cq(const struct uabi_set *set, struct ib_uverbs_create_cq *core,
		  struct xenib_create_cq_req *driver);
void uabi_good_srq(const struct uabi_set *set, struct ib_uverbs_create_srq *core,
		   struct xenib_create_srq_req *driver);
void uabi_good_qp(const struct uabi_set *set, struct ib_uverbs_create_qp *core,
		  struct xenib_create_qp_req *driver);

/* Makes one of each. */
int uabi_make(int fd, struct uabi_set *set);

/* Destroys them one by one. */
int uabi_unmake(int fd, struct uabi_set *set);

#endif
