/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * vhca.h - a paravirtual InfiniBand HCA: the protocol between a guest (frontend) and the domain
 * that has the HCA (backend).
 *
 * The frontend forwards what needs privilege: opening the device, creating queues, registering
 * memory. Posting work, ringing doorbells and polling completions do not pass here at all: a
 * guest process does them on its own memory and on UAR pages of the HCA that are mapped into it.
 *
 * This header and the four that it includes are the specification. They compile in the kernel and
 * in user space, and use nothing but fixed-width types; every structure has explicit padding, and
 * its size and some of its offsets are asserted in vhca_layout.h. All integers are little endian,
 * as Xen's rings are on x86.
 */
#ifndef XEN_IB_VHCA_H
#define XEN_IB_VHCA_H

#include "vhca_event_pages.h"
#include "vhca_nodes.h"
#include "vhca_request.h"
#include "vhca_response.h"

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
 */

#endif
