/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * hca.h - what the daemon needs of an HCA; one implementation for each family (family.h, mlx5.c), and one
 * for the tests (unit/fakes/hca_fake.c).
 *
 * All functions return 0 or the negative errno of the HCA's driver, and may be called by several
 * threads at once. Ids are the driver's names for objects, valid within one context. Places are in
 * umems of the guest's memory (vhca/umem.h); the driver pins what it is given and never looks into it.
 */
#ifndef XEN_IB_HCA_HCA_H
#define XEN_IB_HCA_HCA_H

#include <stdbool.h>
#include <stdint.h>

#include "shared-ring/vhca_event_pages.h"
#include "shared-ring/vhca_response.h"

struct hca;
struct hca_ctx;

struct hca_obj {
	uint32_t id;
	uint32_t number; /* the HCA's: of a queue, a PD; else 0 */
};

struct hca_uar {
	uint32_t index; /* on the HCA; CQs and QPs name their UAR by it */
	uint64_t frame; /* machine frame of the page */
};

struct hca_mr {
	uint32_t id, lkey, rkey;
};

/* An address of this process. Or one in a dma-buf, which the driver takes a reference of. */
struct hca_place {
	int dmabuf; /* its descriptor, or -1 */
	uint64_t addr, length;
};

struct hca_mr_attr {
	uint32_t pd;
	uint32_t access; /* enum xen_vhca_access */
	struct hca_place at;
	uint64_t iova;
};

/* user, here and below: comes back in events. */
struct hca_cq_attr {
	uint64_t user;
	struct hca_place buf, dbr;
	uint32_t cqes, cqe_size;
	uint32_t flags; /* XEN_VHCA_CQ_* */
	uint32_t uar_index;
	uint32_t vector; /* those of different ones have different event queues, if it has several */
	bool events;     /* completion events; of a context that has events */
	int channel;     /* where they go: of channel_open(), or -1: the context's own */
};

struct hca_srq_attr {
	uint64_t user;
	uint32_t pd;
	uint32_t wqes, max_sge, limit;
	struct hca_place buf, dbr;
	bool xrc;                      /* then these, too: */
	uint32_t xrcd, cq, user_index; /* xrcd: of xrcd_open() */
};

struct hca_qp_attr {
	uint64_t user;
	uint32_t pd, send_cq, recv_cq, srq; /* ids, of those that its type has; */
	uint32_t xrcd;                      /* an XRC target has this one alone */
	bool has_srq, signal_all, block_loopback;
	uint32_t type; /* enum xen_vhca_qp_type */
	uint32_t user_index, uar_index;
	struct hca_place buf, dbr; /* buf may have no length */
	uint32_t sq_blocks, rq_wqes, rq_shift;
	uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline;
};

/* An asynchronous event. */
struct hca_event {
	uint32_t type; /* enum xen_vhca_async_type */
	uint64_t user; /* of the CQ, QP or SRQ; else it means nothing */
};

struct hca_ops {
	/* Limits are the HCA's own; the caller narrows them to the vHCA's. */
	int (*query_device)(struct hca *hca, struct xen_vhca_device_attr *attr);
	int (*query_port)(struct hca *hca, struct xen_vhca_port_attr *attr);
	int (*query_gid)(struct hca *hca, uint32_t index, uint8_t gid[16]);
	int (*query_pkey)(struct hca *hca, uint32_t index, uint16_t *pkey);
	/* Of which completions have the time. -EOPNOTSUPP: the driver does not let processes read it. */
	int (*query_clock)(struct hca *hca, uint64_t *ticks);

	/*
	 * What happens to the port that was opened, or to the whole device. A descriptor to poll
	 * for input, and what there is to read: 1, 0, or -errno if nothing will come any more.
	 */
	int (*port_fd)(struct hca *hca);
	int (*next_port_event)(struct hca *hca, uint32_t *type);

	/*
	 * ctx_close destroys all objects of the context; nothing of them is pinned afterwards.
	 * events: whether there is somebody to read them; otherwise none are kept.
	 */
	int (*ctx_open)(struct hca *hca, bool events, struct hca_ctx **ctx);
	void (*ctx_close)(struct hca_ctx *ctx);

	/*
	 * Of a context that has events, as above. There is never an event of an object whose
	 * destruction has returned, unless it was read before.
	 */
	int (*completion_fd)(struct hca_ctx *ctx);
	int (*next_completion)(struct hca_ctx *ctx, uint64_t *user);
	/*
	 * A descriptor for completion events of one CQ alone, or -errno. It is the caller's, who
	 * closes it. Reading it takes one: 1, 0 if there is none, -errno if none will come any more.
	 */
	int (*channel_open)(struct hca_ctx *ctx);
	int (*channel_next)(struct hca *hca, int channel);
	int (*event_fd)(struct hca_ctx *ctx);
	int (*next_event)(struct hca_ctx *ctx, struct hca_event *event);

	/*
	 * Of UARs of this type (enum xen_vhca_uar_type): bytes of one BlueFlame buffer, place of the
	 * first. 0 bytes: no BlueFlame; of UAR_BF, that hca_uar_alloc() has no such UARs.
	 */
	void (*uar_layout)(struct hca *hca, uint32_t type, uint32_t *bf_size, uint32_t *bf_offset);

	int (*pd_alloc)(struct hca_ctx *ctx, struct hca_obj *pd);
	int (*pd_free)(struct hca_ctx *ctx, uint32_t pd);
	int (*mr_reg)(struct hca_ctx *ctx, const struct hca_mr_attr *attr, struct hca_mr *mr);
	/* at: the dma-buf that it was made of, or none; iova is not looked at. is: its keys after that */
	int (*mr_modify)(struct hca_ctx *ctx, uint32_t mr, const struct hca_mr_attr *attr,
			 struct hca_mr *is);
	int (*mr_dereg)(struct hca_ctx *ctx, uint32_t mr);
	/* entries: as in struct xen_vhca_mw_alloc */
	int (*mw_alloc)(struct hca_ctx *ctx, uint32_t pd, uint32_t type, uint32_t entries,
			struct hca_mr *mw);
	int (*mw_free)(struct hca_ctx *ctx, uint32_t mw);
	int (*cq_create)(struct hca_ctx *ctx, const struct hca_cq_attr *attr, struct hca_obj *cq);
	int (*cq_modify)(struct hca_ctx *ctx, uint32_t cq, uint16_t count, uint16_t period_us);
	/* cqes: other than it has; cqe_size: as it has; buf: in no dma-buf */
	int (*cq_resize)(struct hca_ctx *ctx, uint32_t cq, uint32_t cqes, uint32_t cqe_size,
			 const struct hca_place *buf);
	int (*cq_destroy)(struct hca_ctx *ctx, uint32_t cq);
	/*
	 * The XRC domain of an inode, in this context. Who opens it first makes it; it is there until the last
	 * context has closed it. domain: a descriptor, which need not stay open.
	 */
	int (*xrcd_open)(struct hca_ctx *ctx, int domain, uint32_t *xrcd);
	int (*xrcd_close)(struct hca_ctx *ctx, uint32_t xrcd);
	int (*srq_create)(struct hca_ctx *ctx, const struct hca_srq_attr *attr,
			  struct hca_obj *srq);
	int (*srq_modify)(struct hca_ctx *ctx, uint32_t srq, uint32_t limit);
	int (*srq_query)(struct hca_ctx *ctx, uint32_t srq, struct xen_vhca_srq_attr *attr);
	int (*srq_destroy)(struct hca_ctx *ctx, uint32_t srq);
	int (*qp_create)(struct hca_ctx *ctx, const struct hca_qp_attr *attr, struct hca_obj *qp);
	int (*qp_modify)(struct hca_ctx *ctx, uint32_t qp, uint32_t mask,
			 const struct xen_vhca_qp_attr *attr);
	int (*qp_query)(struct hca_ctx *ctx, uint32_t qp, struct xen_vhca_qp_attr *attr);
	int (*qp_destroy)(struct hca_ctx *ctx, uint32_t qp);
	int (*mcast)(struct hca_ctx *ctx, uint32_t qp, bool attach, const uint8_t gid[16],
		     uint16_t lid);

	void (*close)(struct hca *hca);
};

struct hca {
	const struct hca_ops *ops;
	bool dmabufs;       /* it registers memory that is in dma-bufs */
	bool queue_dmabufs; /* it makes queues there, too */
	bool xrc;           /* it has XRC */
};

/*
 * hca_open - opens an HCA by the name of its RDMA device ("mlx5_0"), port from 1 on.
 * @spread: an HCA has several event queues, each with an interrupt; those who open it with
 *          different numbers here have their completion events in different ones, as far as they go
 * NULL with a line in the log if there is no such device, or of no family that is known.
 */
struct hca *hca_open(const char *name, unsigned int port, uint32_t spread);

/*
 * hca_uar_pool_open - a UAR pool: a descriptor, or -errno. UARs belong to no context and live as long as
 * it does. It must outlive every mapping that a guest may have of one of its UARs.
 */
int hca_uar_pool_open(const char *name);

/*
 * hca_uar_alloc - allocates a UAR (enum xen_vhca_uar_type) on a UAR pool. *index: its page; *handle names
 * it to hca_uar_free(). 0 or -errno.
 */
int hca_uar_alloc(int pool, uint32_t type, uint32_t *index, uint32_t *handle);
int hca_uar_free(int pool, uint32_t handle);

/*
 * hca_uar_pool_alive - false if the HCA has been taken away from its driver since the UAR pool was opened:
 * its UARs exist no longer, and a new UAR pool is needed.
 */
bool hca_uar_pool_alive(int pool);

#endif
