/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * vhca_nodes.h - what frontend and backend of a vHCA tell each other by xenstore: an example, the
 * nodes, and the states of a connection. A part of the specification (vhca.h).
 */
#ifndef XEN_IB_VHCA_NODES_H
#define XEN_IB_VHCA_NODES_H

/*
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
 * /local/domain/0/backend/vhca/5/0/writable-grants = "0"
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
 * writable-grants
 *      "1": the backend's kernel gives an HCA no memory that it has mapped to be read only. So grants must
 *      permit writing also where the HCA will only read, which it is told as ever (UMEM_READ_ONLY, access
 *      of MR_REG): a read-only grant gets E_GRANT.
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
#define XEN_VHCA_FIELD_WRITABLE_GRANTS "writable-grants"         /* 0 or 1 */
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
 */

#endif
