/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * vhca_request.h - data pages, and what a frontend asks for. A part of the specification (vhca.h).
 */
#ifndef XEN_IB_VHCA_REQUEST_H
#define XEN_IB_VHCA_REQUEST_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
#endif

/*
 ******************************************************************************
 *                            Data pages
 ******************************************************************************
 * Requests and responses are of fixed size. What does not fit (lists of grant references,
 * device attributes) travels in the data page of the request's slot. The frontend owns the page
 * while no request with that id is outstanding; the backend owns it from then until its response.
 */
#define XEN_VHCA_PAGE_SIZE 4096
#define XEN_VHCA_DATA_REFS (XEN_VHCA_PAGE_SIZE / 4) /* grant references in a data page */
#define XEN_VHCA_MAX_RING_PAGE_ORDER 4

/*
 ******************************************************************************
 *                              Requests
 ******************************************************************************
 * Every request is 256 bytes:
 *
 *          0              1                2                3         octet
 * +---------------+---------------+---------------+---------------+
 * |              id               |       op      |     flags     | 4
 * +---------------+---------------+---------------+---------------+
 * |                            reserved                           | 8
 * +---------------+---------------+---------------+---------------+
 * |                       operation's own part                    | 256
 *
 * id - 0 to RING_SIZE - 1, not in use by another outstanding request; names the data page.
 * op - XEN_VHCA_OP_*
 * flags - XEN_VHCA_REQ_*
 * reserved - 0, here and below; the backend refuses anything else.
 *
 * REQ_POSTED: nobody waits for the response. If it is XEN_VHCA_OK, the backend need not make it
 * visible, nor notify the frontend, before the next response of another kind. The frontend in turn
 * need not make the request visible before the next one. What is posted has been done when a
 * request behind it in the ring begins. Only UAR_FREE, PD_FREE, CQ_DESTROY, SRQ_DESTROY, QP_MODIFY and
 * CQ_CREATE can be posted (else E_RESERVED), and only with feature-posted-requests; CQ_CREATE only if
 * feature-cq-labels is there, too.
 *
 * REQ_UNORDERED: nothing behind the request in the ring needs that it has been done. So the backend may
 * do both at the same time. Any request can have the flag but one that is posted (else E_RESERVED), and
 * only with feature-unordered-requests. A request without either flag is done in its turn, as one that is
 * posted, unless it may take long: MR_REG, MR_DEREG, CTX_CLOSE, GID_QUERY and PKEY_QUERY of several
 * entries, and what brings or gives back pages. Whoever needs that such a one has been done waits for
 * the response.
 */
#define XEN_VHCA_REQ_POSTED (1u << 0)
#define XEN_VHCA_REQ_UNORDERED (1u << 1)

enum xen_vhca_op {
	XEN_VHCA_OP_DEVICE_QUERY = 1,
	XEN_VHCA_OP_PORT_QUERY = 2,
	XEN_VHCA_OP_GID_QUERY = 3,
	XEN_VHCA_OP_PKEY_QUERY = 4,
	XEN_VHCA_OP_CLOCK_QUERY = 5,
	XEN_VHCA_OP_CTX_OPEN = 8,
	XEN_VHCA_OP_CTX_CLOSE = 9,
	XEN_VHCA_OP_UAR_ALLOC = 10,
	XEN_VHCA_OP_UAR_FREE = 11,
	XEN_VHCA_OP_PD_ALLOC = 12,
	XEN_VHCA_OP_PD_FREE = 13,
	XEN_VHCA_OP_UMEM_CREATE = 16,
	XEN_VHCA_OP_UMEM_ADD = 17,
	XEN_VHCA_OP_UMEM_DESTROY = 18,
	XEN_VHCA_OP_MR_REG = 20,
	XEN_VHCA_OP_MR_DEREG = 21,
	XEN_VHCA_OP_MW_ALLOC = 22,
	XEN_VHCA_OP_MW_FREE = 23,
	XEN_VHCA_OP_CQ_CREATE = 24,
	XEN_VHCA_OP_CQ_MODIFY = 25,
	XEN_VHCA_OP_CQ_DESTROY = 26,
	XEN_VHCA_OP_SRQ_CREATE = 28,
	XEN_VHCA_OP_SRQ_MODIFY = 29,
	XEN_VHCA_OP_SRQ_QUERY = 30,
	XEN_VHCA_OP_SRQ_DESTROY = 31,
	XEN_VHCA_OP_QP_CREATE = 32,
	XEN_VHCA_OP_QP_MODIFY = 33,
	XEN_VHCA_OP_QP_QUERY = 34,
	XEN_VHCA_OP_QP_DESTROY = 35,
	XEN_VHCA_OP_MCAST_ATTACH = 36,
	XEN_VHCA_OP_MCAST_DETACH = 37,
	XEN_VHCA_OP_AH_CREATE = 38,
	XEN_VHCA_OP_GSI_OPEN = 39,
	XEN_VHCA_OP_GSI_CLOSE = 40,
	XEN_VHCA_OP_MAD_SEND = 41,
	XEN_VHCA_OP_MAD_RECV = 42,
	XEN_VHCA_OP_ADDR_ADD = 43,
	XEN_VHCA_OP_ADDR_DEL = 44,
	XEN_VHCA_OP_CQ_RESIZE = 45,
	XEN_VHCA_OP_MR_MODIFY = 46,
	XEN_VHCA_OPS = 47 /* one more than the last */
};

/*
 * Handles. 32 bits, issued by the backend, without meaning to the frontend. The backend checks
 * that a handle is of the right type, is in use, is of the present generation and belongs to this
 * vHCA; where a request names several objects, that all belong to one context.
 */
typedef uint32_t xen_vhca_handle_t;
#define XEN_VHCA_NO_HANDLE 0u

/* A place in guest memory: a umem and a byte offset in it. */
struct xen_vhca_umem_addr {
	xen_vhca_handle_t umem;
	uint32_t reserved;
	uint64_t offset;
};

/*
 * CTX_OPEN: a guest process opens the device; or the guest's kernel does (CTX_KERNEL), which may be
 * switched off: E_UNSUPPORTED. Only with feature-kernel.
 *
 * With CTX_XRCD the context is an XRC domain, which several processes may use (feature-xrc; else
 * E_UNSUPPORTED). QPs that are its targets are made in it; SRQs of the domain are made in other contexts,
 * and name it. It counts against max-ctx, as any context. Not with CTX_KERNEL (E_ARG).
 */
#define XEN_VHCA_CTX_KERNEL (1u << 0)
#define XEN_VHCA_CTX_XRCD (1u << 1)

struct xen_vhca_ctx_open {
	uint32_t pid;      /* for people; 0: the kernel's */
	uint32_t flags;    /* XEN_VHCA_CTX_* */
	char name[16];     /* for people; need not end in NUL */
};

/* CTX_CLOSE, PD_FREE, UAR_FREE, UMEM_DESTROY, MR_DEREG, MW_FREE, *_DESTROY, *_QUERY: one object.
 * CTX_CLOSE destroys all that the context still has. The others answer E_BUSY while another
 * object needs this one. MR_DEREG of an MR with MR_REG_INLINE returns its pages, too, unless they
 * were to stay (MR_REG_PERSISTENT). */
struct xen_vhca_object {
	xen_vhca_handle_t handle;
	uint32_t reserved;
};

/*
 * UAR_ALLOC: a doorbell page for this context. A PV guest gets a machine frame and maps it by
 * HYPERVISOR_mmu_update; an auto-translated guest names the guest frame where it wants the page:
 * E_ARG if another one is there.
 * A PV guest's page is not given to anyone else while that domain exists, because its mapping
 * outlives the permission.
 *
 * A frame number, of either kind, is below 2^40: no physical address of the architecture has more than
 * 52 bits. A frontend refuses any other, and a frame that is its own already.
 */
#define XEN_VHCA_FRAMES (1ull << 40)

enum xen_vhca_uar_type { XEN_VHCA_UAR_NC = 0, XEN_VHCA_UAR_BF = 1 /* write combining, BlueFlame */ };

struct xen_vhca_uar_alloc {
	xen_vhca_handle_t ctx;
	uint32_t type;
	uint64_t gfn; /* auto-translated guests; else 0 */
};

/* PD_ALLOC */
struct xen_vhca_pd_alloc {
	xen_vhca_handle_t ctx;
	uint32_t reserved;
};

/*
 * UMEM_CREATE, UMEM_ADD: a umem of pages. The data page of UMEM_CREATE holds the first
 * min(pages, 1024) references; each UMEM_ADD brings count more, for the pages from first on, in any
 * order. The umem can be used once all of its pages have come.
 * With UMEM_MR nothing but MRs can be made on it, no queue: E_ARG. A backend may then have a quicker
 * way to the pages. Only with feature-mr-umem.
 */
#define XEN_VHCA_UMEM_READ_ONLY (1u << 0) /* the HCA must not write: grants may be read-only */
#define XEN_VHCA_UMEM_MR (1u << 1)

struct xen_vhca_umem_create {
	xen_vhca_handle_t ctx;
	uint32_t flags;
	uint32_t pages; /* of the whole umem, 1 or more */
	uint32_t reserved;
};

struct xen_vhca_umem_add {
	xen_vhca_handle_t umem;
	uint32_t first;
	uint32_t count; /* 1 to 1024, in the data page */
	uint32_t reserved;
};

/*
 * MR_REG: registers [offset, offset + length) of a umem; the HCA knows it as [iova, iova + length).
 * iova and offset are equal modulo the page size. access: as enum ib_access_flags / ibv_access_flags.
 * With MR_REG_INLINE there is no umem yet: addr.umem is 0, addr.offset is below the page size, and
 * pages (1 to 1024) references are in the data page. They become a umem that has all its pages, and
 * is read-only (as by UMEM_READ_ONLY) if access lets the HCA write nothing: none of LOCAL_WRITE,
 * REMOTE_WRITE, REMOTE_ATOMIC, MW_BIND. It counts as a umem and by its pages, as any other. The MR
 * owns it: it has no handle, and ends with MR_DEREG.
 * With MR_REG_PERSISTENT, too, the umem is the guest's: the response names it (umem), and from then on it
 * is as one that UMEM_CREATE has made with UMEM_MR, in the context of the PD. The MR needs it:
 * UMEM_DESTROY answers E_BUSY until MR_DEREG, which leaves the umem. Other MRs can be made on it meanwhile
 * and after that, by its place without MR_REG_INLINE. UMEM_DESTROY and CTX_CLOSE end it: until then its
 * grants are mapped. If MR_REG is refused there is no umem either. MR_REG_PERSISTENT without
 * MR_REG_INLINE is E_ARG. Only with feature-persistent-umem.
 */
#define XEN_VHCA_MR_REG_INLINE (1u << 0)
#define XEN_VHCA_MR_REG_PERSISTENT (1u << 1)

enum xen_vhca_access {
	XEN_VHCA_ACCESS_LOCAL_WRITE = 1 << 0,
	XEN_VHCA_ACCESS_REMOTE_WRITE = 1 << 1,
	XEN_VHCA_ACCESS_REMOTE_READ = 1 << 2,
	XEN_VHCA_ACCESS_REMOTE_ATOMIC = 1 << 3,
	XEN_VHCA_ACCESS_MW_BIND = 1 << 4,
	XEN_VHCA_ACCESS_ZERO_BASED = 1 << 5,
	XEN_VHCA_ACCESS_RELAXED_ORDERING = 1 << 20,
};

struct xen_vhca_mr_reg {
	xen_vhca_handle_t pd;
	uint32_t flags;
	struct xen_vhca_umem_addr addr;
	uint64_t length;
	uint64_t iova;
	uint32_t access;
	uint32_t pages; /* MR_REG_INLINE; else 0 */
};

/*
 * MR_MODIFY: other rights for an MR, and another PD if one is named; memory and iova stay. The response is as
 * of MR_REG, with the MR's handle; its keys are those from before, unless the HCA's driver had to make
 * another MR of it. Rights that write need a umem that is not read-only (E_ARG). E_UNSUPPORTED: not this
 * change, on this HCA; MW_BIND and ZERO_BASED never change. The frontend may then make another MR.
 * An older backend answers E_OP.
 */
struct xen_vhca_mr_modify {
	xen_vhca_handle_t mr;
	xen_vhca_handle_t pd; /* or XEN_VHCA_NO_HANDLE: that which it has */
	uint32_t access;
	uint32_t reserved;
};

/*
 * MW_ALLOC. entries: of a window of type 2, into how many pieces of memory it can be bound at once,
 * each with a key of its own, one behind the other. 0: into one, as verbs say. The guest's kernel
 * registers its memory by such windows. Only with feature-mw-entries.
 */
#define XEN_VHCA_MAX_MW_ENTRIES 252

struct xen_vhca_mw_alloc {
	xen_vhca_handle_t pd;
	uint32_t type; /* 1 or 2 */
	uint32_t entries;
};

/*
 * CQ_CREATE: buffer (page aligned, cqes * cqe_size bytes) and doorbell record (8 bytes, 8-aligned)
 * are in umems that are not read-only. flags only with feature-cq-flags:
 * CQ_TIMESTAMPS: completions of QPs on it have the time of the HCA's free running clock, which counts
 * core_clock_khz (of DEVICE_QUERY), also if the HCA keeps the time of day.
 * CQ_IGNORE_OVERRUN: the HCA writes on when the CQ is full. It writes nowhere else.
 *
 * label: 0, or the frontend's own name for the CQ, for a QP_CREATE that follows before the frontend has the
 * CQ's handle. It names the CQ to QP_CREATE of the same context, until that context has made
 * XEN_VHCA_CQ_LABELS others with a label. If CQ_CREATE is refused, its label names nothing new. Only with
 * feature-cq-labels.
 */
#define XEN_VHCA_CQ_LABELS 2
#define XEN_VHCA_CQ_TIMESTAMPS (1u << 0)
#define XEN_VHCA_CQ_IGNORE_OVERRUN (1u << 1)

struct xen_vhca_cq_create {
	xen_vhca_handle_t ctx;
	xen_vhca_handle_t uar;
	struct xen_vhca_umem_addr buf;
	struct xen_vhca_umem_addr dbr;
	uint32_t cqes;      /* a power of two */
	uint32_t cqe_size;  /* 64 or 128 */
	uint32_t event_bit; /* bit in the page of completion events, or XEN_VHCA_NO_EVENT */
	uint32_t flags;     /* XEN_VHCA_CQ_* */
	uint32_t label;
	uint32_t reserved;
};
#define XEN_VHCA_NO_EVENT 0xffffffffu

/*
 * CQ_MODIFY: moderation. An event waits until as many completions have come, or for so long; 0: not for that. For HCAs
 * that have none it is refused by the HCA.
 */
struct xen_vhca_cq_modify {
	xen_vhca_handle_t cq;
	uint16_t count;
	uint16_t period_us;
};

/*
 * CQ_RESIZE: the CQ goes on in another buffer (page aligned, cqes CQEs of the size that it has). If that
 * succeeds the HCA writes nothing to the buffer before, whose umem the CQ does not need any more. The
 * last CQE there says that it is the last. cqes is not what it is already: E_ARG. A backend whose HCA's
 * driver cannot do this answers E_UNSUPPORTED, an older one E_OP.
 */
struct xen_vhca_cq_resize {
	xen_vhca_handle_t cq;
	uint32_t cqes; /* a power of two */
	struct xen_vhca_umem_addr buf;
};

/*
 * SRQ_CREATE: buffer (page aligned): max_wr WQEs of 16 + 16 * max_sge bytes, rounded up to a power of
 * two, at least 32. The HCA keeps one WQE for itself: max_wr - 1 can be posted.
 *
 * An SRQ of an XRC domain (feature-xrc) has a CQ, for what arrives by QPs that are the domain's targets. It
 * goes on to work if the domain's context is closed, but nothing arrives any more.
 */
struct xen_vhca_srq_create {
	xen_vhca_handle_t pd;
	uint32_t user_index; /* 24 bits; without a domain mlx5 does not use it: CQEs have the QP's user_index */
	struct xen_vhca_umem_addr buf;
	struct xen_vhca_umem_addr dbr;
	uint32_t max_wr; /* a power of two, 2 or more */
	uint32_t max_sge;
	uint32_t limit;
	xen_vhca_handle_t xrcd; /* a context with CTX_XRCD; or XEN_VHCA_NO_HANDLE */
	xen_vhca_handle_t cq;   /* with a domain alone */
	uint32_t reserved;
};

/* SRQ_MODIFY: arms the limit. */
struct xen_vhca_srq_modify {
	xen_vhca_handle_t srq;
	uint32_t limit;
};

/* As enum ib_qp_type / ibv_qp_type. */
enum xen_vhca_qp_type {
	XEN_VHCA_QPT_RC = 2,
	XEN_VHCA_QPT_UC = 3,
	XEN_VHCA_QPT_UD = 4,
	XEN_VHCA_QPT_XRC_INI = 9,  /* with feature-xrc */
	XEN_VHCA_QPT_XRC_TGT = 10,
};

#define XEN_VHCA_QP_SIGNAL_ALL (1u << 0)
#define XEN_VHCA_QP_SEND_CQ_LABEL (1u << 1) /* send_cq is a label, not a handle; with feature-cq-labels */
#define XEN_VHCA_QP_RECV_CQ_LABEL (1u << 2)
#define XEN_VHCA_QP_BLOCK_LOOPBACK (1u << 3) /* of type UD: it does not receive what it sends to a group itself */

/*
 * QP_CREATE: the buffer (at a multiple of XEN_VHCA_QP_ALIGN) holds the receive queue at 0 and the send queue
 * after it; UAR, umems, CQs, SRQ and PD are of one context. With neither queue there is no buffer: buf is
 * zero.
 *
 * XRC_INI sends alone: it has neither a CQ of receives nor an SRQ. XRC_TGT only receives, into the SRQs of a
 * domain: pd is a context with CTX_XRCD, and all else but the type is zero.
 */
#define XEN_VHCA_QP_ALIGN 64

struct xen_vhca_qp_create {
	xen_vhca_handle_t pd;
	xen_vhca_handle_t send_cq;
	xen_vhca_handle_t recv_cq;
	xen_vhca_handle_t srq; /* or XEN_VHCA_NO_HANDLE */
	xen_vhca_handle_t uar;
	uint32_t type;         /* enum xen_vhca_qp_type */
	uint32_t flags;        /* XEN_VHCA_QP_* */
	uint32_t user_index;   /* 24 bits; comes back in CQEs */
	struct xen_vhca_umem_addr buf;
	struct xen_vhca_umem_addr dbr;
	uint32_t sq_wqe_count; /* 64-byte blocks, a power of two */
	uint32_t rq_wqe_count; /* a power of two, or 0 with an SRQ */
	uint32_t rq_wqe_shift; /* log2 of the bytes of a receive WQE */
	uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline; /* as asked for */
};

/* An address vector (struct ib_global_route and rdma_ah_attr). A vHCA has one port: port is 1. */
struct xen_vhca_av {
	uint8_t dgid[16];
	uint32_t flow_label;
	uint16_t dlid;
	uint8_t is_global;
	uint8_t sgid_index;
	uint8_t hop_limit;
	uint8_t traffic_class;
	uint8_t sl;
	uint8_t src_path_bits;
	uint8_t static_rate;
	uint8_t port;
	uint16_t reserved;
};

/* The attributes of a QP, for QP_MODIFY and as answer to QP_QUERY. Values as in struct ib_qp_attr. */
struct xen_vhca_qp_attr {
	uint8_t state, cur_state, path_mtu, path_mig_state;
	uint32_t qkey, rq_psn, sq_psn, dest_qpn;
	uint32_t access;
	uint16_t pkey_index, alt_pkey_index;
	uint8_t port, alt_port, timeout, alt_timeout;
	uint8_t retry_cnt, rnr_retry, min_rnr_timer, en_sqd_async_notify;
	uint8_t max_rd_atomic, max_dest_rd_atomic, sq_draining, reserved;
	struct xen_vhca_av av, alt_av;
};

/*
 * QP_MODIFY. mask: as enum ib_qp_attr_mask / ibv_qp_attr_mask, bits 0 to 20. A Q_Key with its highest
 * bit set is controlled: E_UNSUPPORTED.
 */
struct xen_vhca_qp_modify {
	xen_vhca_handle_t qp;
	uint32_t mask;
	struct xen_vhca_qp_attr attr;
};

/* MCAST_ATTACH, MCAST_DETACH */
struct xen_vhca_mcast {
	xen_vhca_handle_t qp;
	uint16_t lid;
	uint16_t reserved;
	uint8_t gid[16];
};

/*
 * AH_CREATE. Address handles need no command: the frontend counts them. One that is over max_ah it asks
 * for all the same, so that this refusal is counted and logged as others are. Always E_LIMIT.
 */
struct xen_vhca_ah_create {
	xen_vhca_handle_t ctx;
	uint32_t reserved;
};

/*
 * GSI_OPEN: from now on the context, which is the kernel's (else E_UNSUPPORTED), and no other of the
 * vHCA exchanges MADs with the fabric's management, until GSI_CLOSE or CTX_CLOSE. E_BUSY: another does. When MADs have come the backend sets
 * event_bit in the page of completion events, as for a CQ, and does not set it again before a MAD_RECV
 * has answered that there are no more. With feature-mads and events only.
 *
 * MAD_SEND: the first 256 octets of the data page are a MAD, which goes to the QP 1 that av leads to.
 * That is so for those that ask for a connection; where the others go is what the backend knows of
 * the SA, or of the connection. If av's port is 0, all of it is. The backend decides what a guest may
 * send: E_UNSUPPORTED for a class or method that guests do not have, E_ARG for a MAD that is malformed
 * or names what is not the guest's, E_LIMIT for too many. Answers come by MAD_RECV, with the
 * transaction id that the guest gave. MADs are datagrams: each may be lost.
 *
 * MAD_RECV: those that have come, in the data page.
 *
 * ADDR_ADD, ADDR_DEL: the guest has this IP address, or has it no more. Connections that others ask for
 * with it are the guest's to answer. E_BUSY: it is another's. They end with the GSI.
 */
struct xen_vhca_gsi_open {
	xen_vhca_handle_t ctx;
	uint32_t event_bit;
};

#define XEN_VHCA_MAD_SIZE 256

struct xen_vhca_mad_send {
	xen_vhca_handle_t ctx;
	uint16_t pkey_index;
	uint16_t reserved;
	struct xen_vhca_av av;
};

struct xen_vhca_addr {
	xen_vhca_handle_t ctx;
	uint8_t family; /* 4 or 6 */
	uint8_t reserved[3];
	uint8_t addr[16]; /* of IPv4 the first 4, and zeros */
};

/*
 * GID_QUERY, PKEY_QUERY: index in the table of the port, and how many more entries behind it are
 * asked for, all within the table and the answer: see xen_vhca_gids and xen_vhca_pkeys. A backend
 * that does not know "more", which was a reserved field, answers E_RESERVED unless it is 0; the
 * frontend then asks for one at a time.
 */
struct xen_vhca_index {
	uint32_t index;
	uint32_t more;
};

#define XEN_VHCA_REQ_SIZE 256

struct xen_vhca_req {
	uint16_t id;
	uint8_t op;
	uint8_t flags; /* XEN_VHCA_REQ_* */
	uint32_t reserved1;
	union {
		struct xen_vhca_object object;
		struct xen_vhca_index index;
		struct xen_vhca_ctx_open ctx_open;
		struct xen_vhca_uar_alloc uar_alloc;
		struct xen_vhca_pd_alloc pd_alloc;
		struct xen_vhca_ah_create ah_create;
		struct xen_vhca_umem_create umem_create;
		struct xen_vhca_umem_add umem_add;
		struct xen_vhca_mr_reg mr_reg;
		struct xen_vhca_mw_alloc mw_alloc;
		struct xen_vhca_cq_create cq_create;
		struct xen_vhca_cq_modify cq_modify;
		struct xen_vhca_cq_resize cq_resize;
		struct xen_vhca_mr_modify mr_modify;
		struct xen_vhca_srq_create srq_create;
		struct xen_vhca_srq_modify srq_modify;
		struct xen_vhca_qp_create qp_create;
		struct xen_vhca_qp_modify qp_modify;
		struct xen_vhca_mcast mcast;
		struct xen_vhca_gsi_open gsi_open;
		struct xen_vhca_mad_send mad_send;
		struct xen_vhca_addr addr;
		uint8_t octets[XEN_VHCA_REQ_SIZE - 8];
	} u;
};

#endif
