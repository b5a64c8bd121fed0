/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * xenib-abi.h - what the guest's kernel driver (xen-ibfront) and its libibverbs provider (xenib)
 * say to each other, beyond what every verbs driver and provider say.
 *
 * Every structure has explicit padding and a size that is a multiple of 8. The driver refuses
 * (EINVAL) reserved fields and flags that are not zero, and (EOPNOTSUPP) longer structures whose
 * further bytes are not zero. Addresses are of the calling process.
 *
 * The queues are those of the HCA's family; for mlx5:
 *
 * - CQ: attr.cqe + 1 entries rounded up to a power of two, of cqe_size bytes; page aligned.
 * - QP: receive queue of rq_wqe_count << rq_wqe_shift bytes, then a send queue of
 *   sq_wqe_count * 64 bytes; page aligned. With an SRQ, or no receive WRs, there is no receive
 *   queue; without both there is no buffer, and buf_addr means nothing.
 * - SRQ: attr.max_wr + 1 WQEs rounded up to a power of two; each of 16 + 16 * attr.max_sge bytes,
 *   rounded up to a power of two, at least 32; page aligned. The driver answers with
 *   attr.max_wr = WQEs - 1.
 * - doorbell record: 8 bytes, 8-aligned. A process that asks for an event of a CQ writes to the
 *   record's word XENIB_DBR_ARM before it rings the doorbell. What it writes differs from what was
 *   there when it had its last event, because the word counts those. The driver tells it of one
 *   event for each such word, and no more, whatever the HCA's owner says.
 *
 * Queues and records may share an arena: memory of 1 << shift bytes, at a multiple of that, which
 * the driver pins and offers once for each process, however many objects have something in it. A
 * request says by buf_shift and db_shift which arena around the address is meant, from 12 to
 * XENIB_ARENA_MAX_SHIFT. With 0 a queue has its pages for itself, and a record's arena is its page.
 * A driver without XENIB_FEATURE_ARENAS knows nothing but 0.
 *
 * The HCA's owner can read and write all of an arena, and all pages of a queue: they must hold
 * nothing else. They must stay mapped while an object has something in them.
 */
#ifndef XENIB_ABI_H
#define XENIB_ABI_H

#include <linux/types.h>
#include <rdma/ib_user_ioctl_cmds.h>

#define XENIB_UVERBS_ABI_VERSION 1
#define XENIB_ARENA_MAX_SHIFT 24
#define XENIB_DBR_ARM 1 /* of the record's two 32-bit words */

enum xenib_features {
	XENIB_FEATURE_ARENAS = 1 << 0,
	XENIB_FEATURE_POSTED_RTS = 1 << 1,  /* XENIB_CREATE_QP_POSTED_RTS */
	XENIB_FEATURE_DEFERRED_CQ = 1 << 2, /* XENIB_CREATE_CQ_DEFERRED */
};

enum xenib_family {
	XENIB_FAMILY_MLX5 = 1,
};

/* The context. The request is empty but for padding. */
struct xenib_alloc_ucontext_req {
	__u32 comp_mask; /* 0 */
	__u32 reserved;
};

struct xenib_alloc_ucontext_resp {
	__u32 comp_mask; /* 0 */
	__u32 family;    /* enum xenib_family */
	__u32 cqe_version;
	__u32 max_sq_desc;     /* bytes of the largest send WQE */
	__u32 max_rq_desc;     /* bytes of the largest receive WQE */
	__u32 max_send_blocks; /* 64-byte blocks of the largest send queue */
	__u32 max_recv_wqes;   /* WQEs of the largest receive queue */
	__u32 max_srq_wqes;    /* WQEs of the largest SRQ */
	__u32 max_uars;        /* doorbell pages that the vHCA allows, of all processes */
	__u32 features;        /* enum xenib_features */
	__u32 null_key;        /* the lkey of all null MRs; 0: the device has none */
	__u32 reserved;
};

struct xenib_alloc_pd_resp {
	__u32 pdn; /* the HCA's number of the PD */
	__u32 reserved;
};

/*
 * What a process needs that was given the command file of another, to open the device and use a PD
 * by it: the answers from when they were made. XENIB_METHOD_PD_QUERY, of UVERBS_OBJECT_PD, fails if
 * there is no such PD; the attribute of a context is one of UVERBS_METHOD_QUERY_CONTEXT.
 */
enum xenib_query_context_attrs {
	/* struct xenib_alloc_ucontext_resp */
	XENIB_ATTR_QUERY_CONTEXT_RESP = (1U << UVERBS_ID_NS_SHIFT),
};

/* Of UVERBS_OBJECT_DEVICE: the HCA's clock, which dom0 is asked for. EOPNOTSUPP: it cannot tell. */
enum xenib_device_methods {
	XENIB_METHOD_CLOCK_QUERY = (1U << UVERBS_ID_NS_SHIFT),
};

enum xenib_clock_query_attrs {
	XENIB_ATTR_CLOCK_QUERY_TICKS = (1U << UVERBS_ID_NS_SHIFT), /* __u64 */
};

enum xenib_pd_methods {
	XENIB_METHOD_PD_QUERY = (1U << UVERBS_ID_NS_SHIFT),
};

enum xenib_pd_query_attrs {
	XENIB_ATTR_PD_QUERY_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	XENIB_ATTR_PD_QUERY_RESP, /* struct xenib_alloc_pd_resp */
};

/*
 * uar: index of one of the context's doorbell pages, from XENIB_METHOD_UAR_ALLOC.
 *
 * With XENIB_CREATE_CQ_DEFERRED the driver may make the CQ later, and then says so by the same flag
 * in its answer, which has no cqn: the CQ is made with the first QP on it, whose creation fails if
 * it cannot be. Before the provider rings for the CQ it calls XENIB_METHOD_CQ_MAKE, which makes it
 * if that is not done, and tells the number. Only with XENIB_FEATURE_DEFERRED_CQ.
 */
enum xenib_create_cq_flags {
	XENIB_CREATE_CQ_DEFERRED = 1 << 0,
};

enum xenib_cq_methods {
	XENIB_METHOD_CQ_MAKE = (1U << UVERBS_ID_NS_SHIFT), /* of UVERBS_OBJECT_CQ */
};

enum xenib_cq_make_attrs {
	XENIB_ATTR_CQ_MAKE_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	XENIB_ATTR_CQ_MAKE_RESP, /* struct xenib_create_cq_resp */
};

struct xenib_create_cq_req {
	__aligned_u64 buf_addr;
	__aligned_u64 db_addr;
	__u32 cqe_size; /* 64 or 128 */
	__u32 uar;
	__u16 comp_mask; /* enum xenib_create_cq_flags */
	__u8 buf_shift;
	__u8 db_shift;
	__u32 reserved;
};

struct xenib_create_cq_resp {
	__u32 cqn;
	__u32 comp_mask; /* enum xenib_create_cq_flags */
};

/*
 * Another buffer, of cqe + 1 CQEs, rounded up to a power of two, of the size that the CQ has. The
 * HCA ends the old one with a CQE that says so, and writes nothing there any more once the answer
 * has come.
 */
struct xenib_resize_cq_req {
	__aligned_u64 buf_addr;
	__u16 comp_mask; /* 0 */
	__u8 buf_shift;
	__u8 reserved0;
	__u32 reserved1;
};

/* uidx: comes back in CQEs (24 bits); the provider numbers its QPs and SRQs itself. */
struct xenib_create_srq_req {
	__aligned_u64 buf_addr;
	__aligned_u64 db_addr;
	__u32 uidx;
	__u16 comp_mask; /* 0 */
	__u8 buf_shift;
	__u8 db_shift;
};

struct xenib_create_srq_resp {
	__u32 srqn;
	__u32 reserved;
};

/*
 * The QP's number is in the common answer.
 *
 * With XENIB_CREATE_QP_POSTED_RTS, modifying the QP to RTS may return before it is in that state.
 * Before the provider rings for the first send after that, it calls XENIB_METHOD_QP_AWAIT, which
 * waits, and fails if the QP is not in RTS. Only with XENIB_FEATURE_POSTED_RTS.
 */
enum xenib_create_qp_flags {
	XENIB_CREATE_QP_POSTED_RTS = 1 << 0,
};

enum xenib_qp_methods {
	XENIB_METHOD_QP_AWAIT = (1U << UVERBS_ID_NS_SHIFT), /* of UVERBS_OBJECT_QP */
};

enum xenib_qp_await_attrs {
	XENIB_ATTR_QP_AWAIT_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
};

struct xenib_create_qp_req {
	__aligned_u64 buf_addr;
	__aligned_u64 db_addr;
	__u32 sq_wqe_count; /* 64-byte blocks, a power of two; or 0 */
	__u32 rq_wqe_count; /* WQEs, a power of two; or 0 */
	__u32 rq_wqe_shift; /* log2 of the bytes of a receive WQE; 0 without a receive queue */
	__u32 uidx;
	__u32 uar;
	__u16 comp_mask; /* enum xenib_create_qp_flags */
	__u8 buf_shift;
	__u8 db_shift;
};

/*
 * Doorbell pages (UARs). The driver's own ioctl object: allocated by XENIB_METHOD_UAR_ALLOC, mapped
 * by mmap() of the command file at mmap_offset (4096 bytes, MAP_SHARED, PROT_WRITE), freed by
 * XENIB_METHOD_UAR_FREE or with the context. While CQs or QPs are on it, it cannot be freed
 * (EBUSY); freed while it is mapped, it goes with the last mapping, so unmap it first. A child of
 * fork() does not inherit the mapping. When the device disappears, a page of ordinary memory takes
 * the place of the mapping, so that late doorbells do no harm.
 */
enum xenib_objects {
	XENIB_OBJECT_UAR = (1U << UVERBS_ID_NS_SHIFT),
};

enum xenib_uar_methods {
	XENIB_METHOD_UAR_ALLOC = (1U << UVERBS_ID_NS_SHIFT),
	XENIB_METHOD_UAR_FREE,
};

enum xenib_uar_alloc_attrs {
	XENIB_ATTR_UAR_ALLOC_HANDLE = (1U << UVERBS_ID_NS_SHIFT), /* new object */
	XENIB_ATTR_UAR_ALLOC_TYPE,                                /* enum xenib_uar_type */
	XENIB_ATTR_UAR_ALLOC_RESP,                                /* struct xenib_uar_alloc_resp */
};

enum xenib_uar_free_attrs {
	XENIB_ATTR_UAR_FREE_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
};

enum xenib_uar_type {
	XENIB_UAR_NC = 0, /* uncached: plain 8-byte doorbells */
	XENIB_UAR_BF = 1, /* write combining: BlueFlame as well */
};

/*
 * bf_size: bytes of one BlueFlame buffer; two of them stand at bf_offset. With 0 there is no
 * BlueFlame, and bf_offset is the place of the send doorbell.
 */
struct xenib_uar_alloc_resp {
	__aligned_u64 mmap_offset;
	__u32 index; /* for uar in xenib_create_*_req */
	__u32 bf_size;
	__u32 bf_offset;
	__u32 reserved;
};

#endif
