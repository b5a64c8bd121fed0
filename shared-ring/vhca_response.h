/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * vhca_response.h - what a backend answers. A part of the specification (vhca.h).
 */
#ifndef XEN_IB_VHCA_RESPONSE_H
#define XEN_IB_VHCA_RESPONSE_H

#include "vhca_request.h"

/*
 ******************************************************************************
 *                              Responses
 ******************************************************************************
 * 256 bytes, too. Responses come in any order. The part after the header is zero unless
 * status is XEN_VHCA_OK and the operation has an answer.
 */

/*
 * Status of a response. Each refusal has a code of its own; the last column is the errno that a
 * frontend gives to its user.
 */
enum xen_vhca_status {
	XEN_VHCA_OK = 0,
	XEN_VHCA_E_OP = 1,           /* unknown operation                      EOPNOTSUPP */
	XEN_VHCA_E_RESERVED = 2,     /* a reserved field is not zero           EINVAL */
	XEN_VHCA_E_HANDLE = 3,       /* no such object: forged, stale, or of another type EINVAL */
	XEN_VHCA_E_CONTEXT = 4,      /* objects of different contexts          EINVAL */
	XEN_VHCA_E_ARG = 5,          /* a value out of its range               EINVAL */
	XEN_VHCA_E_RANGE = 6,        /* outside of the memory region           EINVAL */
	XEN_VHCA_E_COUNT = 7,        /* more or fewer pages than announced     EINVAL */
	XEN_VHCA_E_LIMIT = 8,        /* over a limit of this vHCA              ENOMEM */
	XEN_VHCA_E_NOMEM = 9,        /* backend or HCA is short of something   ENOMEM */
	XEN_VHCA_E_GRANT = 10,       /* a grant reference could not be mapped  EFAULT */
	XEN_VHCA_E_BUSY = 11,        /* the object is in use by another        EBUSY */
	XEN_VHCA_E_STATE = 12,       /* not in this state (of a QP, a umem)    EINVAL */
	XEN_VHCA_E_UNSUPPORTED = 13, /* known, but not on this HCA or vHCA     EOPNOTSUPP */
	XEN_VHCA_E_HCA = 14,         /* the HCA or its driver refused: see hca_errno EINVAL or hca_errno's */
	XEN_VHCA_E_DEAD = 15,        /* the HCA is in a fatal state            EIO */
	XEN_VHCA_STATUSES = 16
};

/* To CTX_OPEN, PD_ALLOC, UMEM_CREATE: the new object. number: of the PD on the HCA; else 0. */
struct xen_vhca_new_object {
	xen_vhca_handle_t handle;
	uint32_t number;
};

/* To UAR_ALLOC. */
struct xen_vhca_new_uar {
	xen_vhca_handle_t handle;
	uint32_t index;      /* UAR number on the HCA, for people */
	uint64_t frame;      /* PV: machine frame; auto-translated: the gfn asked for */
	uint32_t bf_size;    /* bytes of one BlueFlame buffer; 0: no BlueFlame on this page */
	uint32_t bf_offset;  /* of the first BlueFlame register in the page */
};

/* To MR_REG, MW_ALLOC (lkey 0). */
struct xen_vhca_new_mr {
	xen_vhca_handle_t handle;
	uint32_t lkey, rkey;
	xen_vhca_handle_t umem; /* MR_REG_PERSISTENT: the umem, never the MR's handle; else XEN_VHCA_NO_HANDLE */
};

/* To CQ_CREATE, SRQ_CREATE, QP_CREATE: number is what WQEs, CQEs and doorbells name. */
struct xen_vhca_new_queue {
	xen_vhca_handle_t handle;
	uint32_t number;
};

/* To SRQ_QUERY. */
struct xen_vhca_srq_attr {
	uint32_t max_wr, max_sge, limit, reserved;
};

/* To QP_QUERY. */
struct xen_vhca_qp_info {
	struct xen_vhca_qp_attr attr;
};

/* To PORT_QUERY. Values as in struct ib_port_attr. */
struct xen_vhca_port_attr {
	uint8_t state, max_mtu, active_mtu, phys_state;
	uint16_t lid, sm_lid;
	uint8_t lmc, sm_sl, max_vl_num, subnet_timeout;
	uint8_t init_type_reply, active_width;
	uint16_t active_speed;
	uint32_t gid_tbl_len, pkey_tbl_len;
	uint32_t port_cap_flags, max_msg_sz;
	uint32_t bad_pkey_cntr, qkey_viol_cntr;
};

/* To GID_QUERY, PKEY_QUERY: the entries that were asked for, and zeroes. */
#define XEN_VHCA_GIDS 15
#define XEN_VHCA_PKEYS 124

struct xen_vhca_gids {
	uint8_t gid[XEN_VHCA_GIDS][16];
};

struct xen_vhca_pkeys {
	uint16_t pkey[XEN_VHCA_PKEYS];
};

/*
 * To CLOCK_QUERY: the HCA's free running clock, of which completions have the time (CQ_TIMESTAMPS), at some moment
 * between request and response. A backend that cannot read it answers E_UNSUPPORTED, an older one E_OP.
 */
struct xen_vhca_clock {
	uint64_t ticks;
};

/* To MAD_RECV: how many there are in the data page. Fewer than XEN_VHCA_MADS: there are no more. */
#define XEN_VHCA_MADS 13

struct xen_vhca_mads {
	uint32_t count;
	uint32_t reserved;
};

/* In the data page. Values as in struct ib_wc. */
struct xen_vhca_mad {
	uint32_t src_qpn;
	uint16_t slid, pkey_index;
	uint8_t sl, path_bits;
	uint8_t has_grh;
	uint8_t reserved[5];
	uint8_t grh[40];
	uint8_t mad[XEN_VHCA_MAD_SIZE];
};

struct xen_vhca_rsp {
	uint16_t id;
	uint8_t op;
	uint8_t reserved0;
	uint16_t status;    /* enum xen_vhca_status */
	uint16_t hca_errno; /* E_HCA: Linux's number, for people and for ENOMEM, EBUSY, ... ; else 0 */
	union {
		struct xen_vhca_new_object object;
		struct xen_vhca_new_uar uar;
		struct xen_vhca_new_mr mr;
		struct xen_vhca_new_queue queue;
		struct xen_vhca_srq_attr srq;
		struct xen_vhca_qp_info qp;
		struct xen_vhca_port_attr port;
		struct xen_vhca_gids gids;
		struct xen_vhca_pkeys pkeys;
		struct xen_vhca_clock clock;
		struct xen_vhca_mads mads;
		uint8_t octets[XEN_VHCA_REQ_SIZE - 8];
	} u;
};

/*
 * DEVICE_QUERY answers in its data page. Limits are those of the vHCA: the smaller of what the HCA
 * can and what the configuration allows. Values as in struct ib_device_attr.
 */
struct xen_vhca_device_attr {
	uint64_t node_guid, sys_image_guid; /* the vHCA's, the HCA's; big endian, as the fabric has them */
	uint64_t fw_ver;
	uint64_t max_mr_size, max_mem_bytes; /* of one MR; of all pages offered */
	uint64_t page_size_cap;
	uint64_t device_cap_flags;
	uint32_t vendor_id, vendor_part_id, hw_ver;
	uint32_t family;     /* enum xen_vhca_family: whose queue formats are used */
	uint32_t max_ctx, max_uar, max_pd, max_mr, max_mw, max_cq, max_qp, max_srq, max_ah;
	uint32_t max_qp_wr, max_sge, max_sge_rd, max_cqe, max_srq_wr, max_srq_sge;
	uint32_t max_qp_rd_atom, max_qp_init_rd_atom, max_res_rd_atom;
	uint32_t atomic_cap; /* enum ib_atomic_cap */
	uint32_t max_mcast_grp, max_mcast_qp_attach;
	uint32_t local_ca_ack_delay;
	uint32_t max_sq_desc, max_rq_desc; /* bytes of the largest WQE */
	uint32_t max_send_blocks;          /* 64-byte blocks of the largest send queue */
	uint32_t max_recv_wqes, max_srq_wqes;
	uint32_t cqe_version;
	uint32_t port_type;  /* 0: InfiniBand */
	uint32_t pkeys, gids;
	uint32_t core_clock_khz; /* 0: not known; with feature-cq-flags alone */
	uint16_t max_cq_count, max_cq_period_us; /* of CQ_MODIFY; with feature-cq-moderation alone */
	uint32_t null_key; /* of data segments that are no memory: zeros to who reads, writes are lost. 0: none */
};

enum xen_vhca_family { XEN_VHCA_FAMILY_MLX5 = 1 };

#endif
