/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * vhca.h - a paravirtual InfiniBand HCA: the protocol between a guest (frontend) and the domain
 * that has the HCA (backend).
 *
 * The frontend forwards what needs privilege: opening the device, creating queues, registering
 * memory. Posting work, ringing doorbells and polling completions do not pass here at all: a
 * guest process does them on its own memory and on UAR pages of the HCA that are mapped into it.
 *
 * This header is the specification. It compiles in the kernel and in user space, and uses nothing
 * but fixed-width types; every structure has explicit padding, and its size and some of
 * its offsets are asserted in vhca_check.c. All integers are little endian, as Xen's rings are on x86.
 */
#ifndef XEN_IB_VHCA_H
#define XEN_IB_VHCA_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
#endif

/*
 ******************************************************************************
 *                           Protocol version
 ******************************************************************************
 */
#define XEN_VHCA_VERSION 1

/*
 ******************************************************************************
 *                  Main features provided by the protocol
 ******************************************************************************
 * - contexts: one for each guest process that opens the device; each has its own
 *   context, protection domains and UAR pages on the HCA
 * - memory: pages of the guest, offered by grant references, in umems that are
 *   registered (MR) or hold queues (CQ, QP, SRQ) and doorbell records
 * - objects: PD, MR, MW, CQ, QP, SRQ; named by handles that the backend issues
 * - queries: device, port, GID, P_Key
 * - management datagrams: those that a guest's kernel may exchange with the fabric
 * - events: completion events as bits in a shared page, asynchronous events in a
 *   ring in another; both with one event channel of their own
 *
 ******************************************************************************
 *                        Direction of trust
 ******************************************************************************
 * The backend treats everything in shared memory as hostile: a request is copied
 * once, checked, and acted upon. The frontend does the same with responses and
 * events. Neither parses what the HCA reads or writes in the queues.
 *
 ******************************************************************************
 *                           Xenstore example
 ******************************************************************************
 * Domain 5 has one virtual HCA, on port 1 of mlx5_0 of domain 0.
 *
 * ------------------------- in the backend's directory -----------------------
 * /local/domain/0/backend/vhca/5/0/frontend-id = "5"
 * /local/domain/0/backend/vhca/5/0/frontend = "/local/domain/5/device/vhca/0"
 * /local/domain/0/backend/vhca/5/0/online = "1"
 * /local/domain/0/backend/vhca/5/0/state = "4"
 * /local/domain/0/backend/vhca/5/0/hca = "mlx5_0"
 * /local/domain/0/backend/vhca/5/0/node-guid = "02163e5a00c1f29b"
 * /local/domain/0/backend/vhca/5/0/versions = "1"
 * /local/domain/0/backend/vhca/5/0/max-ring-page-order = "4"
 * /local/domain/0/backend/vhca/5/0/feature-events = "1"
 * /local/domain/0/backend/vhca/5/0/feature-persistent-umem = "1"
 * /local/domain/0/backend/vhca/5/0/feature-blueflame = "1"
 * /local/domain/0/backend/vhca/5/0/feature-kernel = "1"
 * /local/domain/0/backend/vhca/5/0/feature-mw-entries = "1"
 * /local/domain/0/backend/vhca/5/0/feature-mr-umem = "1"
 * /local/domain/0/backend/vhca/5/0/feature-mads = "1"
 * /local/domain/0/backend/vhca/5/0/feature-posted-requests = "1"
 * /local/domain/0/backend/vhca/5/0/feature-unordered-requests = "1"
 * /local/domain/0/backend/vhca/5/0/feature-cq-flags = "1"
 * /local/domain/0/backend/vhca/5/0/feature-cq-labels = "1"
 * /local/domain/0/backend/vhca/5/0/feature-xrc = "1"
 * /local/domain/0/backend/vhca/5/0/feature-block-loopback = "1"
 * /local/domain/0/backend/vhca/5/0/feature-cq-moderation = "1"
 * /local/domain/0/backend/vhca/5/0/max-event-vectors = "8"
 *
 * ------------------------ in the frontend's directory -----------------------
 * /local/domain/5/device/vhca/0/backend-id = "0"
 * /local/domain/5/device/vhca/0/backend = "/local/domain/0/backend/vhca/5/0"
 * /local/domain/5/device/vhca/0/state = "4"
 * /local/domain/5/device/vhca/0/version = "1"
 * /local/domain/5/device/vhca/0/ring-page-order = "2"
 * /local/domain/5/device/vhca/0/ring-ref0 = "832"
 * /local/domain/5/device/vhca/0/ring-ref1 = "833"
 * /local/domain/5/device/vhca/0/ring-ref2 = "834"
 * /local/domain/5/device/vhca/0/ring-ref3 = "835"
 * /local/domain/5/device/vhca/0/data-dir-ref = "836"
 * /local/domain/5/device/vhca/0/event-channel = "15"
 * /local/domain/5/device/vhca/0/cq-event-ref = "869"
 * /local/domain/5/device/vhca/0/async-event-ref = "870"
 * /local/domain/5/device/vhca/0/event-event-channel = "16"
 * /local/domain/5/device/vhca/0/event-vectors = "2"
 * /local/domain/5/device/vhca/0/event-event-channel-1 = "17"
 * /local/domain/5/device/vhca/0/doorbell-gfn = "1048576"
 * /local/domain/5/device/vhca/0/doorbell-gfns = "512"
 *
 ******************************************************************************
 *                          Backend XenBus nodes
 ******************************************************************************
 * frontend, frontend-id, online, state
 *      As for every Xen device.
 * hca
 *      Name of the HCA that is shared, for people; the frontend does not need it.
 * node-guid
 *      The vHCA's node GUID, 16 hexadecimal digits: for the backend and for people. The frontend
 *      has it from DEVICE_QUERY.
 * versions
 *      Decimal versions that the backend speaks, separated by commas.
 * max-ring-page-order
 *      The ring may have up to 2^n pages. 0 to 4.
 * feature-events
 *      "1": completion and asynchronous events are supported. Without it a
 *      frontend offers polling alone.
 * feature-persistent-umem
 *      "1": MR_REG_PERSISTENT is supported. Without it a frontend does not use the flag; a
 *      backend that does not know it answers E_RESERVED.
 * feature-blueflame
 *      "0": the HCA has no write combining here, so there are no doorbell pages of the
 *      type UAR_BF. A frontend that asks for one nevertheless gets E_UNSUPPORTED, and so
 *      may one whose backend does not say.
 * feature-kernel
 *      "1": the guest's kernel may use the device itself: CTX_OPEN with CTX_KERNEL is supported.
 * feature-mw-entries
 *      "1": entries of MW_ALLOC is supported. Without it a frontend leaves it 0; a backend that
 *      does not know it answers E_RESERVED.
 * feature-mr-umem
 *      "1": UMEM_MR is supported. Without it a frontend does not use the flag; a backend that does
 *      not know it answers E_RESERVED.
 * feature-mads
 *      "1": GSI_OPEN and the commands that follow it are supported.
 * feature-posted-requests
 *      "1": REQ_POSTED is supported. Without it a frontend does not use the flag; a backend that
 *      does not know it answers E_RESERVED.
 * feature-unordered-requests
 *      "1": REQ_UNORDERED is supported. Without it a frontend does not use the flag; a backend that
 *      does not know it answers E_RESERVED.
 * feature-cq-flags
 *      "1": flags of CQ_CREATE are supported, and the answer to DEVICE_QUERY has core_clock_khz. Without
 *      it a frontend uses neither; a backend that does not know the flags answers E_RESERVED.
 * feature-cq-labels
 *      "1": label of CQ_CREATE, QP_SEND_CQ_LABEL and QP_RECV_CQ_LABEL are supported, and CQ_CREATE can be
 *      posted. Without it a frontend uses none of these; a backend that does not know them answers E_RESERVED.
 * feature-xrc
 *      "1": CTX_XRCD, SRQs of a domain and QPs of the types XRC_INI and XRC_TGT are supported. Without it a
 *      frontend uses none of these; a backend that does not know them answers E_RESERVED or E_ARG.
 * feature-block-loopback
 *      "1": QP_BLOCK_LOOPBACK is supported. Without it a frontend does not use the flag; a backend that does
 *      not know it answers E_RESERVED.
 * feature-cq-moderation
 *      "1": the answer to DEVICE_QUERY has max_cq_count and max_cq_period_us. Without it a frontend takes
 *      them for 0, and CQ_MODIFY may be supported all the same.
 * personality
 *      What the vHCA is to be for user space of the guest: "xenib", for the provider of
 *      this project, or "mlx5", for the stock libmlx5. The protocol is the same. A
 *      frontend that does not know the node, or what it says, takes "xenib", which is
 *      also what it means not to be there.
 * max-event-vectors
 *      How many event channels there may be for completion events, 1 to 8. Without it: 1.
 * error
 *      Why the backend closed the device or refused the frontend's parameters: one
 *      line for people.
 *
 *                          Frontend XenBus nodes
 *
 * backend, backend-id, state
 *      As for every Xen device.
 * version
 *      The one version chosen out of the backend's.
 * ring-page-order, ring-ref<n>
 *      The command ring: 2^order pages, a grant reference each.
 * data-dir-ref
 *      Grant reference of the data directory: a page of 32-bit grant references, one
 *      for each request slot of the ring (RING_SIZE of them), in the order of slots.
 *      Each names a data page. A request uses the data page of its own slot, that is
 *      of its id; see "Data pages".
 * event-channel
 *      For the command ring, both directions.
 * cq-event-ref, async-event-ref, event-event-channel
 *      With feature-events only, and then all of them or none: the page of completion
 *      event bits, the page of the asynchronous event ring, and the event channel of
 *      both (backend to frontend). Without them there are no events.
 * event-vectors, event-event-channel-<n>
 *      With events only. Completion events have so many vectors, 1 to max-event-vectors, each
 *      with an event channel of its own (see "Events"): that of vector 0 is
 *      event-event-channel, those of the others are here, n being their number. Without
 *      event-vectors there is one.
 * doorbell-gfn, doorbell-gfns
 *      Of an auto-translated guest: the first of the frames that it has reserved for
 *      doorbell pages, and how many there are. Written before its first UAR_ALLOC,
 *      whose gfn is one of them. It need not be told to a backend in dom0; for one
 *      elsewhere, dom0 maps nothing but there.
 *
 */

/* In the backend's directory. Numbers are decimal. */
#define XEN_VHCA_FIELD_HCA "hca"                                 /* name */
#define XEN_VHCA_FIELD_PORT "port"                               /* 1 to 254 */
#define XEN_VHCA_FIELD_NODE_GUID "node-guid"                      /* 16 hexadecimal digits */
#define XEN_VHCA_FIELD_VERSIONS "versions"                       /* numbers, commas */
#define XEN_VHCA_FIELD_MAX_RING_PAGE_ORDER "max-ring-page-order" /* 0 to 4 */
#define XEN_VHCA_FIELD_FEATURE_EVENTS "feature-events"           /* 0 or 1, as each feature */
#define XEN_VHCA_FIELD_FEATURE_PERSISTENT "feature-persistent-umem"
#define XEN_VHCA_FIELD_FEATURE_BLUEFLAME "feature-blueflame"
#define XEN_VHCA_FIELD_FEATURE_KERNEL "feature-kernel"
#define XEN_VHCA_FIELD_FEATURE_MW_ENTRIES "feature-mw-entries"
#define XEN_VHCA_FIELD_FEATURE_MR_UMEM "feature-mr-umem"
#define XEN_VHCA_FIELD_FEATURE_MADS "feature-mads"
#define XEN_VHCA_FIELD_FEATURE_POSTED "feature-posted-requests"
#define XEN_VHCA_FIELD_FEATURE_UNORDERED "feature-unordered-requests"
#define XEN_VHCA_FIELD_FEATURE_CQ_FLAGS "feature-cq-flags"
#define XEN_VHCA_FIELD_FEATURE_CQ_LABELS "feature-cq-labels"
#define XEN_VHCA_FIELD_FEATURE_XRC "feature-xrc"
#define XEN_VHCA_FIELD_FEATURE_BLOCK_LOOPBACK "feature-block-loopback"
#define XEN_VHCA_FIELD_FEATURE_CQ_MODERATION "feature-cq-moderation"
#define XEN_VHCA_FIELD_PERSONALITY "personality"                 /* "xenib" or "mlx5" */
#define XEN_VHCA_FIELD_MAX_EVENT_VECTORS "max-event-vectors"     /* 1 to 8 */
#define XEN_VHCA_FIELD_ERROR "error"                             /* a line for people */

/* In the frontend's directory. References and channels are 32-bit numbers. */
#define XEN_VHCA_FIELD_VERSION "version"
#define XEN_VHCA_FIELD_RING_PAGE_ORDER "ring-page-order" /* 0 to 4 */
#define XEN_VHCA_FIELD_RING_REF "ring-ref"               /* with the page's number behind it */
#define XEN_VHCA_FIELD_DATA_DIR_REF "data-dir-ref"
#define XEN_VHCA_FIELD_EVENT_CHANNEL "event-channel"
#define XEN_VHCA_FIELD_CQ_EVENT_REF "cq-event-ref"
#define XEN_VHCA_FIELD_ASYNC_EVENT_REF "async-event-ref"
#define XEN_VHCA_FIELD_EVENT_EVENT_CHANNEL "event-event-channel"
#define XEN_VHCA_FIELD_EVENT_VECTORS "event-vectors"     /* 1 to max-event-vectors */
#define XEN_VHCA_FIELD_EVENT_CHANNEL_OF "event-event-channel-" /* with the vector's number behind it */
#define XEN_VHCA_FIELD_DOORBELL_GFN "doorbell-gfn"       /* 64 bits */
#define XEN_VHCA_FIELD_DOORBELL_GFNS "doorbell-gfns"     /* 32 bits */

/*
 ******************************************************************************
 *                              State diagram
 ******************************************************************************
 *
 * Normal flow:
 *
 *  frontend                                  backend
 *
 *  Initialising                              Initialising
 *      o                                         o opens the HCA, writes its nodes
 *      |                                     InitWait
 *      o reads them, allocates and               |
 *        grants ring, data pages,                |
 *        binds event channels,                   |
 *        writes its nodes                        |
 *  Initialised                                   |
 *      |                                         o reads nodes once, checks them, maps the
 *      |                                           ring, the directory and the data pages,
 *      |                                           binds the event channel
 *      |                                     Connected
 *      o queries the device,
 *        registers with the RDMA core
 *  Connected
 *
 * Closing, from either side: Closing, then Closed once nothing is shared any more. Each side
 * follows the other. The backend releases every object and unmaps every grant before it
 * says Closed; the frontend ends its grants after that.
 *
 * Recovery flow (the backend's process died, or it closes the device on purpose; "online" is
 * still "1"):
 *
 *  Connected                                 Closing or Closed
 *      o fails waiting requests,
 *        reports a fatal event to each
 *        process, unregisters
 *  Closed                                        o everything released
 *      |                                     Closed
 *      |                                         o starts again
 *  Initialising                              InitWait
 *      (normal flow)
 *
 * A frontend that comes and finds the backend in Connected (the one before it ended without a
 * word) says Closing, and Closed after the backend: that connection ends, and a new offer follows.
 *
 * A frontend that comes and finds the backend in Closed with an "error" says Closed, so that nobody in
 * its guest waits for the device. It connects when the backend offers the device (InitWait).
 *
 * A frontend that reads "online" as "0" with the backend's Closing does not go back to
 * Initialising: the device has been removed.
 *
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
 * object needs this one. MR_DEREG of an MR with MR_REG_INLINE returns its pages as well, unless they
 * were to be kept (MR_REG_PERSISTENT). */
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
 * 52 bits. A frontend refuses any other, as well as a frame that is its own already.
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
#define XEN_VHCA_UMEM_READ_ONLY (1u << 0) /* the HCA must not write: grants are read-only */
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
 * With MR_REG_PERSISTENT as well the umem is the guest's: the response names it (umem), and from then on it
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

/*
 ******************************************************************************
 *                              Responses
 ******************************************************************************
 * 256 bytes as well. Responses come in any order. The part after the header is zero unless
 * status is XEN_VHCA_OK and the operation has an answer.
 */

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

/*
 ******************************************************************************
 *                               Events
 ******************************************************************************
 * Completion events: a page of bits, one for each CQ, numbered by the frontend (event_bit of
 * CQ_CREATE). Bit n is bit n % 8 of octet n / 8. The backend sets the bit and then notifies; the
 * frontend clears bits and then looks after those CQs. Both use atomic operations that order all
 * other accesses. Bits coalesce, and cannot be lost. The backend need not notify for a bit that was
 * set before, because the one who set it does. Once CQ_DESTROY has succeeded its bit is not set any
 * more: clear it, and it can be used for another CQ. A bit that is no CQ's means nothing.
 *
 * With several event vectors, each 32 bits belong to one of them in turn: bit n to the vector
 * n / 32 % event-vectors. The backend notifies the event channel of that vector, and the frontend
 * looks there at the bits of that one alone. So each vector can be served by a CPU of its own.
 * Asynchronous events are notified by the channel of vector 0.
 */
#define XEN_VHCA_EVENT_BITS (XEN_VHCA_PAGE_SIZE * 8)
#define XEN_VHCA_MAX_EVENT_VECTORS 8

/*
 * Asynchronous events: a ring in a page of its own, written by the backend, read by the frontend.
 * Both pages are zero when the frontend hands them over. The event of index i is in
 * ring[i % XEN_VHCA_ASYNC_EVENTS]. The backend writes an event, then prod, then notifies; the
 * frontend reads an event, then writes cons.
 *
 * When the ring is full, events wait in the backend until it looks again: one of each type for each
 * object (and for port and device), so that no guest can make it keep more. Another of the same
 * type for the same object is dropped and counted in lost: the frontend still hears of the first.
 *
 * Types that the frontend does not know, and objects that it does not have (any more), mean
 * nothing.
 */
enum xen_vhca_async_type { /* as enum ib_event_type where one exists */
	XEN_VHCA_ASYNC_CQ_ERR = 0, XEN_VHCA_ASYNC_QP_FATAL = 1, XEN_VHCA_ASYNC_QP_REQ_ERR = 2,
	XEN_VHCA_ASYNC_QP_ACCESS_ERR = 3, XEN_VHCA_ASYNC_COMM_EST = 4, XEN_VHCA_ASYNC_SQ_DRAINED = 5,
	XEN_VHCA_ASYNC_PATH_MIG = 6, XEN_VHCA_ASYNC_PATH_MIG_ERR = 7, XEN_VHCA_ASYNC_DEVICE_FATAL = 8,
	XEN_VHCA_ASYNC_PORT_ACTIVE = 9, XEN_VHCA_ASYNC_PORT_ERR = 10, XEN_VHCA_ASYNC_LID_CHANGE = 11,
	XEN_VHCA_ASYNC_PKEY_CHANGE = 12, XEN_VHCA_ASYNC_SM_CHANGE = 13, XEN_VHCA_ASYNC_SRQ_ERR = 14,
	XEN_VHCA_ASYNC_SRQ_LIMIT_REACHED = 15, XEN_VHCA_ASYNC_QP_LAST_WQE_REACHED = 16,
	XEN_VHCA_ASYNC_CLIENT_REREGISTER = 17, XEN_VHCA_ASYNC_GID_CHANGE = 18,
	XEN_VHCA_ASYNC_TYPES = 19 /* one more than the last */
};

struct xen_vhca_async_event {
	uint32_t type;
	xen_vhca_handle_t handle; /* of the CQ, QP or SRQ; 0 for the port and the device */
	uint8_t reserved[8];
};

#define XEN_VHCA_ASYNC_EVENTS 128

struct xen_vhca_async_page {
	uint32_t cons; /* free running, written by the frontend */
	uint32_t prod; /* free running, written by the backend */
	uint32_t lost; /* free running, written by the backend */
	uint32_t reserved0[13];
	struct xen_vhca_async_event ring[XEN_VHCA_ASYNC_EVENTS];
	uint8_t reserved1[XEN_VHCA_PAGE_SIZE - 64 - 16 * XEN_VHCA_ASYNC_EVENTS];
};

#endif
