/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The fabric inside of the process: which packet reaches whom, and the faults of a link. */
#ifndef HCA_FABRIC_H
#define HCA_FABRIC_H

#include "engine/packet.h"

struct hca;
struct loop;
struct fabric;

#define FABRIC_PORTS 8
#define FABRIC_PACKETS 8192     /* in the pool */
#define FABRIC_GROUP_QPS 128    /* attached to one MGID, of all functions together */
#define FABRIC_ATTACHMENTS 2048 /* of one function */

struct fabric *fabric_new(struct loop *loop);
void fabric_free(struct fabric *f);

/*
 * The same packets are dropped and the same port goes first as in a new fabric: for fuzzers, when
 * all ports were purged. False if a packet is missing from the pool or a QP is still attached.
 */
bool fabric_restart(struct fabric *f);

/* Called by hca_new() and hca_free(). -ENOSPC past FABRIC_PORTS. */
int fabric_join(struct fabric *f, struct hca *hca);
void fabric_leave(struct fabric *f, struct hca *hca);
struct hca *fabric_port(struct fabric *f, unsigned int index);

/* Packets are from a bounded pool: NULL when it is empty (the sender then waits for its next turn). */
struct packet *packet_get(struct fabric *f);
void packet_put(struct fabric *f, struct packet *p);

/*
 * Sends p from hca's port and takes it over. By DLID, or to every QP attached to the MGID
 * (LID_MULTICAST and up, with a GRH: a copy each, with the QP's own number as dest_qpn). The
 * permissive LID (0xffff) reaches the other port where there are just two, as over a cable, or the
 * managed switch, by whose tables go all packets then.
 * dest_qpn 0 and 1 reach special_qp[] of the port.
 *
 * A packet for nobody, for QP0 but not from QP0, through a port that is not in the state for it (INIT:
 * only QP0), or chosen by a fault, is dropped and counted. Delivery (qp_engine_packet()) is never within this
 * call but at a later turn of the loop, in order unless a delay says otherwise.
 *
 * Counts packets_sent, packets_received and packets_dropped, and the port's counters of bytes
 * (LRH to ICRC), packets and discards.
 */
void fabric_send(struct hca *hca, struct packet *p);

/*
 * With managed set, a switch that a subnet manager has to set up joins the ports (switch/switch.h),
 * as new from the factory; else, which is the default, each port has its LID from the model, and
 * every group is reached. Either way all links train anew. 0 or -ENOMEM.
 */
int fabric_manage(struct fabric *f, bool managed);
/* The link of a port trains anew, or is lost: the other end is to know. */
void fabric_link(struct hca *hca, bool up);
/* For the switch: what the other end of a link does about it; the packet goes out to a port, and is taken over. */
void fabric_retrain(struct fabric *f, unsigned int index, bool disabled);
void fabric_send_by_switch(struct fabric *f, unsigned int to, struct packet *p);

/* At reset: forgets every packet from or to the port, and what is attached to multicast groups. */
void fabric_purge(struct hca *hca);

/* Multicast: qpn joins mgid on this function. -EEXIST, -ENOENT, -ENOSPC (the limits above), -ENOMEM. */
int fabric_attach(struct hca *hca, const uint8_t mgid[16], uint32_t qpn);
int fabric_detach(struct hca *hca, const uint8_t mgid[16], uint32_t qpn);
/* At destruction of a QP. */
void fabric_detach_all(struct hca *hca, uint32_t qpn);

#endif
