/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * violate: what a device must refuse, with which error, and what must go on working beside it.
 *
 * Every case has two devices, a pair under test, and a neighbour: an innocent pair in the same two PDs, which works
 * before, and must still work after.
 */
#ifndef VIOLATE_H
#define VIOLATE_H

#include "verbs_pair.h"

struct vio {
	struct vp_dev dev_a, dev_b; /* of the requester, of the responder */
	struct vp_pair neighbour;
	struct vp_pair pair; /* a: requester, b: responder */
};

/* Opens the devices and makes the neighbour; the case makes @v->pair, with vio_pair() or by steps. */
void vio_open(struct vio *v);
void vio_pair(struct vio *v, const struct vp_conf *conf);

/* vio_open() and vio_pair(). */
void vio_begin_as(struct vio *v, struct vp_conf conf);

/* The same, with the plain configuration of a transport. */
void vio_begin(struct vio *v, enum ibv_qp_type type);

/* The neighbour works, no event was left unexplained, and everything can be destroyed. */
void vio_end(struct vio *v);

/* The QP is in ERR, and what is posted now, either side, comes back flushed. */
void vio_expect_dead(struct vp_end *end, const char *whose);

/* The same for the send queue of a QP that may only have its send queue in error (UC and UD: SQE). */
void vio_expect_send_dead(struct vp_end *end, const char *whose);

/* A fresh pair in the same PDs works, where the old one failed. */
void vio_expect_pd_usable(struct vio *v);

extern const struct check_table violate_remote, violate_local, violate_retry, violate_state,
	violate_create, violate_queue, violate_datagram, violate_mw, violate_umr;

#endif
