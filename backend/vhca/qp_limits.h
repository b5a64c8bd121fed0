/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * qp_limits.h - what is imposed on the QPs of a vHCA. Pure functions: commands/qp.c calls them between
 * the checks of a request and the HCA, so no way of a guest's to a QP leads past them.
 *
 * What a peer cannot miss is changed to what is allowed: service level, static rate, timers, and reads
 * that this end has outstanding. What a program has to know is refused if it is too much: reads that
 * the other end may have outstanding, as that one would be told another number; and queues. A program
 * sees both in what DEVICE_QUERY answers.
 *
 * A UD QP has no path of its own: service level and rate are in each work request, which the guest
 * writes. So it can have UD QPs with all classes and rates, or none.
 */
#ifndef XEN_IB_VHCA_QP_LIMITS_H
#define XEN_IB_VHCA_QP_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "shared-ring/vhca_response.h"

/* Values as in config/limits.h. */
struct qp_limits {
	uint64_t sl, rate, rd_atomic, wr, timeout, rnr_timer, ud;
};

/* qp_limits_device - narrows what DEVICE_QUERY answers. */
void qp_limits_device(const struct qp_limits *limits, struct xen_vhca_device_attr *attr);

/* qp_limits_allow - whether there may be QPs of this type (enum xen_vhca_qp_type). */
bool qp_limits_allow(const struct qp_limits *limits, uint32_t type);

/* qp_limits_queues - whether a QP's queues may be that long. */
bool qp_limits_queues(const struct qp_limits *limits, const struct xen_vhca_qp_create *qp);

/* qp_limits_shape - changes those attributes that mask names to what is allowed. False: that is not enough. */
bool qp_limits_shape(const struct qp_limits *limits, uint32_t mask, struct xen_vhca_qp_attr *attr);

/*
 * qp_limits_hold - whether the paths that mask names have the rate that is imposed, or a lower one.
 * @attr: what the HCA says. Its driver takes another rate for one that the HCA does not have.
 */
bool qp_limits_hold(const struct qp_limits *limits, uint32_t mask,
		    const struct xen_vhca_qp_attr *attr);

/* qp_limits_av - where a datagram of the guest's is sent that does not go by a QP of its own. */
void qp_limits_av(const struct qp_limits *limits, struct xen_vhca_av *av);

#endif
