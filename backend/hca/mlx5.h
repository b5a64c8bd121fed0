/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * mlx5.h - what the files of the family mlx5 share: nobody else includes it.
 */
#ifndef XEN_IB_HCA_MLX5_H
#define XEN_IB_HCA_MLX5_H

#include <stdbool.h>
#include <stdint.h>

#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include "hca/hca.h"
#include "hca/uverbs.h"

struct mlx5 {
	struct hca hca;
	char name[UVERBS_NAME_MAX];
	unsigned int port;
	int queries;              /* a context of the daemon's own, for queries, */
	int events;               /* and what its port and device have to say */
	uint32_t vector, vectors; /* which of the HCA's event queues serves vector 0, of how many */
	struct mlx5_ib_alloc_ucontext_resp info;
	void *clock_page; /* it is at info.hca_core_clock_offset there; NULL: it cannot be read */
};

struct mlx5_ctx {
	struct mlx5 *mlx5;
	int fd;
	int completions, events; /* or -1 */
};

static inline struct mlx5 *to_mlx5(struct hca *hca)
{
	return (struct mlx5 *)hca;
}

static inline struct mlx5_ctx *to_ctx(struct hca_ctx *ctx)
{
	return (struct mlx5_ctx *)ctx;
}

static inline int fd_of(struct hca_ctx *ctx)
{
	return to_ctx(ctx)->fd;
}

#define MSG(core_, driver_) \
	(&(struct uverbs_msg){ .core = &(core_), \
			       .core_len = sizeof(core_), \
			       .driver = &(driver_), \
			       .driver_len = sizeof(driver_) })
#define MSG_CORE(core_) (&(struct uverbs_msg){ .core = &(core_), .core_len = sizeof(core_) })

/* mlx5_queue.c: as the members of struct hca_ops without the prefix. */
int mlx5_cq_create(struct hca_ctx *ctx, const struct hca_cq_attr *attr, struct hca_obj *cq);
int mlx5_cq_modify(struct hca_ctx *ctx, uint32_t cq, uint16_t count, uint16_t period_us);
int mlx5_cq_resize(struct hca_ctx *ctx, uint32_t cq, uint32_t cqes, uint32_t cqe_size,
		   const struct hca_place *buf);
int mlx5_cq_destroy(struct hca_ctx *ctx, uint32_t cq);
int mlx5_xrcd_open(struct hca_ctx *ctx, int domain, uint32_t *xrcd);
int mlx5_xrcd_close(struct hca_ctx *ctx, uint32_t xrcd);
int mlx5_srq_create(struct hca_ctx *ctx, const struct hca_srq_attr *attr, struct hca_obj *srq);
int mlx5_srq_modify(struct hca_ctx *ctx, uint32_t srq, uint32_t limit);
int mlx5_srq_query(struct hca_ctx *ctx, uint32_t srq, struct xen_vhca_srq_attr *attr);
int mlx5_srq_destroy(struct hca_ctx *ctx, uint32_t srq);
int mlx5_qp_create(struct hca_ctx *ctx, const struct hca_qp_attr *attr, struct hca_obj *qp);
int mlx5_qp_modify(struct hca_ctx *ctx, uint32_t qp, uint32_t mask,
		   const struct xen_vhca_qp_attr *attr);
int mlx5_qp_query(struct hca_ctx *ctx, uint32_t qp, struct xen_vhca_qp_attr *attr);
int mlx5_qp_destroy(struct hca_ctx *ctx, uint32_t qp);
int mlx5_mcast(struct hca_ctx *ctx, uint32_t qp, bool attach, const uint8_t gid[16], uint16_t lid);

/* mlx5_clock.c: map and unmap are for the one who opens the HCA. A clock that cannot be mapped is not there. */
void mlx5_clock_map(struct mlx5 *m);
void mlx5_clock_unmap(struct mlx5 *m);
int mlx5_query_clock(struct hca *hca, uint64_t *ticks);

/*
 * mlx5_queue_dmabuf.c: creation with a buffer, or a doorbell record, in a dma-buf, and of a CQ with flags. core
 * is what the kernel's command for others has, driver what the driver has.
 */

/* mlx5_has_queue_dmabufs - the kernel makes CQs, SRQs and QPs in dma-bufs. fd: a context. */
bool mlx5_has_queue_dmabufs(int fd);
int mlx5_cq_create_ioctl(int fd, const struct hca_cq_attr *attr,
			 const struct ib_uverbs_create_cq *core,
			 const struct mlx5_ib_create_cq *driver, struct hca_obj *cq);
int mlx5_srq_create_dmabuf(int fd, const struct hca_srq_attr *attr,
			   const struct ib_uverbs_create_xsrq *core,
			   const struct mlx5_ib_create_srq *driver, struct hca_obj *srq);
int mlx5_qp_create_ioctl(int fd, const struct hca_qp_attr *attr,
			 const struct ib_uverbs_create_qp *core,
			 const struct mlx5_ib_create_qp *driver, struct hca_obj *qp);

#endif
