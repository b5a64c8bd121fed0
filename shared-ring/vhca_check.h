/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * vhca_check.h - is a message of the protocol well formed?
 *
 * Pure functions of their arguments: no state, no allocation, no I/O. They are compiled into the
 * kernel and into user space, so that both sides judge by the same rules. They check everything
 * that can be known from the message and the device's limits alone; whether a handle names an
 * object, and whether a place is inside of its umem, only the backend can tell.
 *
 * The caller hands in its own copy of a message, never shared memory.
 */
#ifndef XEN_IB_VHCA_CHECK_H
#define XEN_IB_VHCA_CHECK_H

#include "vhca_response.h"

/* 64-byte blocks of a send queue */
#define VHCA_SEND_BLOCK 64u
/* Numbers of queues and user indexes have 24 bits. */
#define VHCA_MAX_24 0xffffffu
/* The attributes of a QP that QP_MODIFY knows: IB_QP_STATE (0) to IB_QP_DEST_QPN (20). */
#define VHCA_QP_MASK 0x1fffffu

/* Bits of enum ib_qp_attr_mask whose values somebody looks at. */
enum {
	VHCA_QP_STATE = 1 << 0,
	VHCA_QP_CUR_STATE = 1 << 1,
	VHCA_QP_ACCESS_FLAGS = 1 << 3,
	VHCA_QP_PKEY_INDEX = 1 << 4,
	VHCA_QP_PORT = 1 << 5,
	VHCA_QP_QKEY = 1 << 6,
	VHCA_QP_AV = 1 << 7,
	VHCA_QP_PATH_MTU = 1 << 8,
	VHCA_QP_TIMEOUT = 1 << 9,
	VHCA_QP_RETRY_CNT = 1 << 10,
	VHCA_QP_RNR_RETRY = 1 << 11,
	VHCA_QP_RQ_PSN = 1 << 12,
	VHCA_QP_MAX_RD_ATOMIC = 1 << 13,
	VHCA_QP_ALT_PATH = 1 << 14,
	VHCA_QP_MIN_RNR_TIMER = 1 << 15,
	VHCA_QP_SQ_PSN = 1 << 16,
	VHCA_QP_MAX_DEST_RD_ATOMIC = 1 << 17,
	VHCA_QP_PATH_MIG_STATE = 1 << 18,
	VHCA_QP_DEST_QPN = 1 << 20,
};

/* An access right that lets the HCA write needs grants that may be written. */
#define VHCA_ACCESS_WRITES \
	(XEN_VHCA_ACCESS_LOCAL_WRITE | XEN_VHCA_ACCESS_REMOTE_WRITE | \
	 XEN_VHCA_ACCESS_REMOTE_ATOMIC | XEN_VHCA_ACCESS_MW_BIND)
/* A Q_Key with this bit may be given by the HCA's owner alone (InfiniBand, "controlled Q_Key"). */
#define VHCA_CONTROLLED_QKEY 0x80000000u

/*
 * vhca_check_request - checks a request by the rules of vhca.h.
 * @req: a private copy
 * @limits: what DEVICE_QUERY answers
 *
 * Returns XEN_VHCA_OK, or the status to refuse it with. The id is not looked at: that is the ring's
 * business (vhca_ring.h).
 */
enum xen_vhca_status vhca_check_request(const struct xen_vhca_req *req,
					const struct xen_vhca_device_attr *limits);

/*
 * vhca_request_pages - grant references that a checked request has in its data page, 0 to
 * XEN_VHCA_DATA_REFS.
 */
uint32_t vhca_request_pages(const struct xen_vhca_req *req);

/* vhca_request_words - 32-bit words of its data page that belong to a checked request, likewise. */
uint32_t vhca_request_words(const struct xen_vhca_req *req);

/*
 * vhca_check_response - checks a response to a request.
 * @req: the request that has the response's id
 * @rsp: a private copy
 *
 * Returns 0, or -EPROTO if a backend that keeps to vhca.h cannot have sent it. The contents of the
 * data page are not looked at; see vhca_check_device_attr().
 */
int vhca_check_response(const struct xen_vhca_req *req, const struct xen_vhca_rsp *rsp);

/* vhca_check_device_attr - checks a private copy of the answer to DEVICE_QUERY: 0 or -EPROTO. */
int vhca_check_device_attr(const struct xen_vhca_device_attr *attr);

/*
 * vhca_status_errno - what a status means to a user of the frontend.
 * @hca_errno: of the response, used with XEN_VHCA_E_HCA
 *
 * Returns 0 or a negative errno. A status that does not exist is -EPROTO.
 */
int vhca_status_errno(unsigned int status, unsigned int hca_errno);

/* The name of a status or an operation, for logs: "E_HANDLE", "QP_CREATE"; "?" if there is none. */
const char *vhca_status_name(unsigned int status);
const char *vhca_op_name(unsigned int op);

/* vhca_op_ends - whether an operation ends an object: closes, frees, deregisters or destroys it. */
int vhca_op_ends(unsigned int op);

/* vhca_srq_stride - bytes of a WQE of an SRQ, a power of two; max_sge is at most 2^20. */
uint32_t vhca_srq_stride(uint32_t max_sge);

/*
 * vhca_umem_fits - whether length bytes at offset are inside of a umem.
 * @pages: of the umem
 */
static inline int vhca_umem_fits(uint64_t offset, uint64_t length, uint32_t pages)
{
	uint64_t size = (uint64_t)pages * XEN_VHCA_PAGE_SIZE;

	return length <= size && offset <= size - length;
}

#endif
