/* SPDX-License-Identifier: GPL-2.0 */
/*
 * xenib.h - the RDMA device and its objects, as the verbs files share them.
 */
#ifndef XENIB_H
#define XENIB_H

#include <linux/bitmap.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

#include "events.h"
#include "gfn.h"
#include "grant.h"
#include "reg_cache.h"
#include "umem.h"
#include "queue/format.h"
#include "ring.h"
#include "xenib-abi.h"

#define XENIB_PORT 1

/* The core's tables of the port are as long at most: it reads all of them. */
#define XENIB_MAX_TABLE 1024

/* What is known of a table of the port. Forgotten when the port says that something has changed. */
struct xenib_table {
	struct mutex lock; /* of all here */
	u8 *entries;
	DECLARE_BITMAP(known, XENIB_MAX_TABLE);
	int changes;         /* of the port, before they were read */
	bool one_by_one;     /* the backend is older than requests for several */
	unsigned long until; /* jiffies; for tables whose changes are not told */
};

/* Processes of a PV guest that have mapped doorbell pages. */
struct xenib_uar_mms {
	struct list_head list;
	struct mutex lock; /* of all here; inside of a process's mmap_lock */
	bool revoked;      /* the device goes: there are to be no more mappings */
};

struct xenib_dev;
struct xenib_kcontext;
struct xenib_kcq;
struct xenib_kqp;
struct xenib_ksrq;
struct xenib_gsi_qp;
struct xenib_pool_keys;

/*
 * What user space takes the device for: which provider binds to it, and what that provider and this
 * driver say to each other. All else is the same in each: a request of any provider becomes one of
 * xenib-abi.h, which is checked where it is used.
 */
struct xenib_personality {
	const char *name;                   /* in xenstore */
	const char *prefix;                 /* of a device's name, before the number */
	const struct ib_device_ops *ops;    /* the provider: driver id, version */
	const struct uapi_definition *defs; /* the driver's own ioctl objects */
	bool shows_vendor;                  /* the HCA's, to programs */
	u32 queue_align; /* of a queue outside of arenas: bytes, at most a page */

	/* Before the device is registered, and after. May be NULL. */
	int (*start)(struct xenib_dev *dev);
	void (*stop)(struct xenib_dev *dev);

	/* A process opens the device: the request is checked first, the response written last. */
	int (*context_req)(struct xenib_dev *dev, struct ib_udata *udata);
	int (*context_resp)(struct xenib_dev *dev, struct ib_udata *udata);

	/* Reads a request. Values are not checked, apart from what xenib-abi.h has no word for. */
	int (*cq_req)(struct xenib_dev *dev, struct ib_udata *udata,
		      struct xenib_create_cq_req *req);
	int (*resize_cq_req)(struct xenib_dev *dev, struct ib_udata *udata, u32 cqe_size,
			     struct xenib_resize_cq_req *req);
	int (*srq_req)(struct xenib_dev *dev, struct ib_udata *udata,
		       struct xenib_create_srq_req *req);
	int (*qp_req)(struct xenib_dev *dev, struct ib_udata *udata,
		      struct xenib_create_qp_req *req);
};

struct xenib_dev {
	struct ib_device ibdev;
	const struct xenib_personality *personality;
	struct xenib_mlx5 *mlx5; /* of the personality "mlx5" */
	struct xenbus_device *xbdev;
	struct xenib_ring *ring;          /* outlives the registered device */
	struct xenib_events *events;      /* as well; NULL: there are none */
	struct xen_vhca_device_attr attr; /* within bounds */
	u32 gid_tbl_len;                  /* as the core has allocated its tables */
	u32 pkey_tbl_len;
	struct xenib_table gids;
	struct xenib_table pkeys;
	atomic_t port_changes; /* so far */
	atomic_t ahs;
	atomic_t cqs;                  /* that processes and the kernel have, */
	atomic_t deferred_cqs;         /* and those of them that are not made (cq_make.c) */
	bool no_bf;                    /* the backend has no BlueFlame pages: not asked again */
	bool mr_umems;                 /* it wants to know which umems are for MRs alone */
	bool cq_flags;                 /* it knows them */
	bool cq_labels;                /* and these */
	bool writable_grants;          /* of memory that the HCA is to read alone, too */
	bool block_loopback;           /* and QPs that do not receive what they send */
	bool xrc;                      /* it has XRC, and there are SRQs */
	struct xenib_gfns *gfns;       /* places for doorbell pages */
	struct xenib_grantee *grantee; /* the backend, if it says that it has given pages back */
	struct xenib_uar_mms uar_mms;
	struct xenib_reg_cache reg_cache;
	struct device *dmabuf_dev;     /* that dma-bufs are mapped for */
	struct xenib_kcontext *kernel; /* NULL: the kernel does not use the device itself */
};

/* Whoever has the device open: what the backend knows as a context. */
struct xenib_context {
	struct xenib_dev *dev;
	xen_vhca_handle_t handle;
	struct xarray uars; /* index -> struct xenib_uar */
	struct xenib_arenas arenas;
	atomic_t mws;
	struct mutex making;       /* CQs whose making was deferred */
	struct list_head deferred; /* these, and */
	u32 cq_label;              /* the last label, with making */
};

/* A process */
struct xenib_ucontext {
	struct ib_ucontext ibuc;
	struct xenib_context ctx;
};

/*
 * An XRC domain is a context of its own to the backend, as it outlives the process that has made
 * it. Targets are in it; SRQs are in the contexts of their processes, and name it.
 */
struct xenib_xrcd {
	struct ib_xrcd ibxrcd;
	struct xenib_context ctx;
};

/* A doorbell page. Freed when its handle and all mappings of it are gone. */
struct xenib_uar {
	struct rdma_user_mmap_entry entry; /* of a process's */
	struct xenib_context *ctx;
	xen_vhca_handle_t handle;
	u32 index;
	enum xenib_uar_type type;
	u64 frame; /* machine frame (PV) or guest frame */
	u32 bf_size;
	u32 bf_offset;
	unsigned int queues; /* CQs and QPs on it; under the lock of ctx->uars */
	bool dropped;        /* goes with the last of them; as queues */
};

struct xenib_pd {
	struct ib_pd ibpd;
	xen_vhca_handle_t handle;
	u32 pdn;                      /* the HCA's number */
	struct xenib_pool_keys *keys; /* NULL: a process's, or not used yet */
};

struct xenib_mr {
	struct ib_mr ibmr;
	struct xenib_context *ctx;
	struct xenib_reg *reg; /* NULL: the kernel's, which has none */
	xen_vhca_handle_t handle;
	u64 start; /* in the process's memory */
	u64 iova;
	int access;
};

struct xenib_mw {
	struct ib_mw ibmw;
	struct xenib_context *ctx;
	xen_vhca_handle_t handle;
};

/* Where a CQ, QP or SRQ lies. */
struct xenib_queue_mem {
	struct xenib_context *ctx;
	struct xenib_uar *uar; /* where it is rung; NULL: an SRQ, which is not */
	struct xenib_arena_addr buf;
	struct xenib_arena_addr dbr;
};

struct xenib_cq {
	struct ib_cq ibcq;
	struct xenib_queue_mem mem;
	struct xenib_cmd *create;  /* by which it is to be made (cq_make.c); NULL: it is */
	struct list_head deferral; /* in its context's deferred */
	xen_vhca_handle_t handle;
	u32 cqn;
	u32 cqe_size;
	struct mutex resizing; /* mem.buf, and the CQ's size, of a process's */
	u32 event_bit;         /* or XEN_VHCA_NO_EVENT */
	const __be32 *arm;     /* in the doorbell record: how the process asks for events */
	__be32 told_arm;       /* as it was at the last event that was told */
	bool told;
	struct xenib_event_obj event_obj;
	struct xenib_kcq *k; /* NULL: a process's */
};

struct xenib_srq {
	struct ib_srq ibsrq;
	struct xenib_queue_mem mem;
	xen_vhca_handle_t handle;
	u32 srqn;
	struct xenib_event_obj event_obj;
	struct xenib_ksrq *k; /* NULL: a process's */
};

/* The state of a process's QP, if it is known here, and if that is of use (qp_modify.c). */
enum xenib_qp_known { XENIB_QP_UNKNOWN, XENIB_QP_IN_RESET, XENIB_QP_IN_RTR };

struct xenib_qp {
	struct ib_qp ibqp;
	struct xenib_queue_mem mem;
	xen_vhca_handle_t handle;
	struct ib_qp_cap cap;
	enum ib_sig_type sig_type;
	struct xenib_event_obj event_obj;
	atomic_t known;           /* enum xenib_qp_known */
	struct xenib_cmd *rts;    /* NULL: its process does not know that RTS can be posted */
	struct xenib_kqp *k;      /* NULL: a process's, or */
	struct xenib_gsi_qp *gsi; /* the kernel's QP 1, which the backend does not know */
};

struct xenib_ah {
	struct ib_ah ibah;
	struct xenib_av av; /* the kernel's */
};

#define XENIB_CONVERT(type, member) \
	static inline struct xenib_##type *to_x##type(struct ib_##member *ib) \
	{ \
		return container_of(ib, struct xenib_##type, ib##type); \
	}

XENIB_CONVERT(dev, device)
XENIB_CONVERT(pd, pd)
XENIB_CONVERT(mr, mr)
XENIB_CONVERT(mw, mw)
XENIB_CONVERT(cq, cq)
XENIB_CONVERT(srq, srq)
XENIB_CONVERT(qp, qp)
XENIB_CONVERT(ah, ah)
XENIB_CONVERT(xrcd, xrcd)
#undef XENIB_CONVERT

static inline struct xenib_ucontext *to_xucontext(struct ib_ucontext *ibuc)
{
	return container_of(ibuc, struct xenib_ucontext, ibuc);
}

static inline struct xenib_context *xenib_udata_ctx(struct ib_udata *udata)
{
	return &rdma_udata_to_drv_context(udata, struct xenib_ucontext, ibuc)->ctx;
}

/* device.c: the device's life */

/*
 * Queries the backend, and registers the device with the RDMA core. gfns is filled with frames
 * here, and emptied by the caller once the backend has unmapped everything; like channel, events
 * and grantee it must live until xenib_dev_remove(). Returns an ERR_PTR.
 */
struct xenib_dev *xenib_dev_add(struct xenbus_device *xbdev, struct xenib_ring *ring,
				struct xenib_events *events, struct xenib_gfns *gfns,
				struct xenib_grantee *grantee);

/* Unregisters: destroys whatever processes still have, and tells them with a fatal event. */
void xenib_dev_remove(struct xenib_dev *dev);

/*
 * Why a verb is refused: a line that dynamic debug switches on, for who has only the errno. Returns
 * the errno.
 */
#define xenib_refuse(dev, err, format, ...) \
	({ \
		ibdev_dbg(&(dev)->ibdev, "refused: " format "\n", ##__VA_ARGS__); \
		(err); \
	})

/* personality/xenib.c */
extern const struct xenib_personality xenib_personality_xenib;

/* By what the backend says of this vHCA. */
const struct xenib_personality *xenib_personality_find(struct xenbus_device *xbdev);

/* udata.c */

/* Whether a value is over its bound. If it is, dynamic debug has a line. what: its name. */
bool xenib_exceeds(struct xenib_dev *dev, const char *what, u64 value, u64 max);

/*
 * Copies a request of the provider: shorter than size is -EINVAL, longer with further bytes that
 * are not zero is -EOPNOTSUPP. With size 0: nothing may be asked for.
 */
int xenib_copy_req(struct ib_udata *udata, void *req, size_t size);

/* Copies an answer to the provider, as far as it has room for it. */
int xenib_copy_resp(struct ib_udata *udata, void *resp, size_t size);

/*
 * ucontext.c. xenib_context_open() makes a context of ctx, also for others than processes (flags:
 * XEN_VHCA_CTX_*); name has TASK_COMM_LEN characters. xenib_context_close() when it has no
 * objects any more.
 */
int xenib_context_open(struct xenib_dev *dev, struct xenib_context *ctx, u32 pid, const char *name,
		       u32 flags);
void xenib_context_close(struct xenib_context *ctx);
int xenib_alloc_ucontext(struct ib_ucontext *ibuc, struct ib_udata *udata);
void xenib_dealloc_ucontext(struct ib_ucontext *ibuc);
void xenib_disassociate_ucontext(struct ib_ucontext *ibuc);
int xenib_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);
int xenib_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);

/* uar.c */
extern const struct uapi_definition xenib_uar_defs[];
int xenib_mmap(struct ib_ucontext *ibuc, struct vm_area_struct *vma);

/*
 * uar_revoke.c: xenib_space_note() before a process of a PV guest maps a doorbell page, with its
 * mmap_lock held; -EIO once the device goes. xenib_spaces_forget() with the context;
 * xenib_uar_mms_revoke() before the device is unregistered.
 */
void xenib_uar_mms_init(struct xenib_uar_mms *uar_mms);
int xenib_space_note(struct xenib_context *ctx, const struct vm_area_struct *vma);
void xenib_spaces_forget(struct xenib_context *ctx);
void xenib_uar_mms_revoke(struct xenib_uar_mms *uar_mms);
void xenib_mmap_free(struct rdma_user_mmap_entry *entry);

/* The context's doorbell page of that index, for a queue; NULL if there is none. */
struct xenib_uar *xenib_uar_get(struct xenib_context *ctx, u32 index);
void xenib_uar_put(struct xenib_uar *uar);

/* As xenib_uar_get(), of a page that the caller knows already. */
void xenib_uar_hold(struct xenib_uar *uar);

/*
 * A page for a process, which can map it from page first_pgoff of the command file on. No queue can
 * be on it before xenib_uar_publish(), which follows the answer to the process: a page that it
 * cannot be told of is taken down at once, and must not be in use then. Returns an ERR_PTR.
 */
struct xenib_uar *xenib_uar_create(struct ib_ucontext *ibuc, enum xenib_uar_type type,
				   u32 first_pgoff);
void xenib_uar_publish(struct xenib_uar *uar);

/*
 * The process has no such page any more. It goes once neither a queue nor a mapping is on it.
 * xenib_uar_drop_idle(): -EBUSY, and nothing, as long as a queue is.
 */
void xenib_uar_drop(struct xenib_uar *uar);
int xenib_uar_drop_idle(struct xenib_uar *uar);

/*
 * A page of the backend for uar, whose ctx and type are set; and its end. It is not mapped by any
 * of this.
 */
int xenib_uar_offer(struct xenib_uar *uar);
void xenib_uar_return(struct xenib_uar *uar);

/* queue_mem.c */

/* Where a process wants a queue: as in the requests of xenib-abi.h. */
struct xenib_queue_place {
	bool has_uar; /* false: an SRQ */
	u8 buf_shift;
	u8 db_shift;
	u32 uar;
	u64 buf_addr;
	u64 length; /* 0: a doorbell record alone */
	u64 db_addr;
};

/**
 * xenib_queue_mem_get() - a queue in memory of the calling process: all of it, or nothing.
 * @mem: undone by xenib_queue_mem_put()
 */
int xenib_queue_mem_get(struct xenib_context *ctx, struct xenib_queue_mem *mem,
			const struct xenib_queue_place *at);

/**
 * xenib_queue_mem_get_kernel() - the same in memory of the kernel's own.
 * @uar: the kernel's, or NULL: an SRQ
 * @length: of the queue in bytes; 0: a doorbell record alone
 */
int xenib_queue_mem_get_kernel(struct xenib_context *ctx, struct xenib_queue_mem *mem,
			       struct xenib_uar *uar, size_t length);

/** xenib_queue_mem_put() - only once the backend has no such object any more. */
void xenib_queue_mem_put(struct xenib_queue_mem *mem);

/* pd.c, mr.c, mw.c, cq.c, srq.c, ah.c */
extern const struct uapi_definition xenib_pd_defs[];
int xenib_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int xenib_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
struct ib_mr *xenib_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 iova, int access,
				struct ib_udata *udata);
struct ib_mr *xenib_reg_dmabuf_mr(struct ib_pd *ibpd, u64 offset, u64 length, u64 iova, int fd,
				  int access, struct ib_udata *udata);
struct ib_mr *xenib_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start, u64 length, u64 iova,
				  int access, struct ib_pd *ibpd, struct ib_udata *udata);
int xenib_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);
int xenib_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata);
int xenib_dealloc_mw(struct ib_mw *ibmw);
int xenib_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct uverbs_attr_bundle *attrs);
int xenib_modify_cq(struct ib_cq *ibcq, u16 count, u16 period);
int xenib_resize_cq(struct ib_cq *ibcq, unsigned int cqe, struct ib_udata *udata);
int xenib_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int xenib_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init, struct ib_udata *udata);
int xenib_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		     struct ib_udata *udata);
int xenib_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
int xenib_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata);
int xenib_create_user_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
			 struct ib_udata *udata);
int xenib_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init, struct ib_udata *udata);
int xenib_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int xenib_destroy_ah(struct ib_ah *ibah, u32 flags);

/* qp.c */
int xenib_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata);
int xenib_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata);
int xenib_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init);
int xenib_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);
int xenib_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int xenib_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);

/* qp_modify.c */
extern const struct uapi_definition xenib_qp_defs[];

/** xenib_qp_modify() - asks the backend, and waits. */
int xenib_qp_modify(struct xenib_qp *qp, const struct ib_qp_attr *attr, int mask);

/** xenib_qp_modify_user() - of a process's QP: posts what needs no waiting. */
int xenib_qp_modify_user(struct xenib_qp *qp, const struct ib_qp_attr *attr, int mask);

/**
 * xenib_qp_rts_init() - RTS can be posted from now on, as the process waits for it
 * (XENIB_METHOD_QP_AWAIT) before it sends.
 */
int xenib_qp_rts_init(struct xenib_qp *qp);

/** xenib_qp_await() - waits for RTS, if it was posted. How it has ended. */
int xenib_qp_await(struct xenib_qp *qp);

/** xenib_qp_rts_exit() - the backend has no such QP. Nothing without xenib_qp_rts_init(). */
void xenib_qp_rts_exit(struct xenib_qp *qp);

/* Copies what mask names. */
void xenib_qp_attr_to_wire(const struct ib_qp_attr *attr, int mask, struct xen_vhca_qp_attr *wire);
void xenib_qp_attr_from_wire(struct ib_device *ibdev, const struct xen_vhca_qp_attr *wire,
			     struct ib_qp_attr *attr);

/* cq_make.c */
extern const struct uapi_definition xenib_cq_defs[];

/** xenib_cqs_init() - for the CQs of a context. */
void xenib_cqs_init(struct xenib_context *ctx);

/**
 * xenib_cq_charge() - counts one more CQ of a context. Undone by xenib_cq_uncharge().
 *
 * Return: 0, or -ENOMEM: there would be more than there may be. If the backend knows all that there
 * are, it is left to refuse.
 */
int xenib_cq_charge(struct xenib_context *ctx);
void xenib_cq_uncharge(struct xenib_context *ctx);

/**
 * xenib_cq_defer() - a process's CQ is to be made when it is needed, if the backend is sure to
 * make it then.
 * @req: CQ_CREATE
 *
 * Return: whether it is; else the caller makes it now.
 */
bool xenib_cq_defer(struct xenib_cq *cq, const struct xen_vhca_req *req);

/** xenib_cq_drop() - makes it no more. False: it was made. Nobody else uses it. */
bool xenib_cq_drop(struct xenib_cq *cq);

/** xenib_cq_make() - it is made from now on, or an error is returned. Waits. */
int xenib_cq_make(struct xenib_cq *cq);

/**
 * xenib_cq_made() - it has just been made.
 * @rsp: to CQ_CREATE
 */
void xenib_cq_made(struct xenib_cq *cq, const struct xen_vhca_rsp *rsp);

/**
 * xenib_cq_begin() - the last step of creating a CQ: from now on it has events, or others may make
 * it.
 * An event before that would be for a CQ that the RDMA core may still have to throw away.
 */
void xenib_cq_begin(struct xenib_cq *cq);

/**
 * xenib_exec_with_cqs() - xenib_cmd_exec() of QP_CREATE, and with it what makes its CQs, if that
 * was deferred.
 * @cmd: complete but for the names of the CQs
 * @recv: NULL: it has none
 */
int xenib_exec_with_cqs(struct xenib_cmd *cmd, struct xenib_cq *send, struct xenib_cq *recv);

/* query.c */
int xenib_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
		       struct ib_udata *udata);
int xenib_query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *attr);
int xenib_tables_init(struct xenib_dev *dev);
void xenib_tables_exit(struct xenib_dev *dev);
void xenib_tables_changed(struct xenib_dev *dev);
int xenib_query_gid(struct ib_device *ibdev, u32 port, int index, union ib_gid *gid);
int xenib_query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey);
int xenib_get_port_immutable(struct ib_device *ibdev, u32 port,
			     struct ib_port_immutable *immutable);
int xenib_modify_port(struct ib_device *ibdev, u32 port, int mask, struct ib_port_modify *modify);
void xenib_get_fw_str(struct ib_device *ibdev, char *str);
extern const struct attribute_group xenib_attr_group;
extern const struct uapi_definition xenib_device_defs[];

/* stats.c: what /sys/class/infiniband/<device>/hw_counters says */
struct rdma_hw_stats *xenib_alloc_hw_device_stats(struct ib_device *ibdev);
int xenib_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port, int index);

/* stats.c: what `rdma resource show -dd` says beyond the core's fields */
int xenib_fill_res_mr(struct sk_buff *msg, struct ib_mr *ibmr);
int xenib_fill_res_cq(struct sk_buff *msg, struct ib_cq *ibcq);
int xenib_fill_res_qp(struct sk_buff *msg, struct ib_qp *ibqp);
int xenib_fill_res_srq(struct sk_buff *msg, struct ib_srq *ibsrq);

#endif
