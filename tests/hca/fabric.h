/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The switch inside of the process: LIDs, multicast, and the faults of a link. */
#ifndef HCA_FABRIC_H
#define HCA_FABRIC_H

#include "packet.h"

struct hca;
struct loop;
struct fabric;

#define FABRIC_PORTS 8

struct fabric *fabric_new(struct loop *loop);
void fabric_free(struct fabric *f);

/* Called by hca_new() and hca_free(). -ENOSPC past FABRIC_PORTS. */
int fabric_join(struct fabric *f, struct hca *hca);
void fabric_leave(struct fabric *f, struct hca *hca);
struct hca *fabric_port(struct fabric *f, unsigned int index);

/* Packets are from a bounded pool: NULL when it is empty (the sender then waits for its next turn). */
struct packet *packet_get(struct fabric *f);
void packet_put(struct fabric *f, struct packet *p);

/*
 * Sends p from hca's port and takes it over. By DLID, or to every QP attached to the MGID
 * (dlid >= 0xc000: a copy each). A packet for nobody, through a link that is down, or chosen
 * by a fault, is dropped and counted. Delivery is never within this call but at a later turn
 * of the loop, in order unless a delay says otherwise.
 */
void fabric_send(struct hca *hca, struct packet *p);

/* Forgets every packet from or to a port that was reset. */
void fabric_purge(struct hca *hca);

/* Multicast: qpn joins mgid on this function. -EEXIST, -ENOENT, -ENOSPC. */
int fabric_attach(struct hca *hca, const uint8_t mgid[16], uint32_t qpn);
int fabric_detach(struct hca *hca, const uint8_t mgid[16], uint32_t qpn);
/* At destruction of a QP. */
void fabric_detach_all(struct hca *hca, uint32_t qpn);

#endif
