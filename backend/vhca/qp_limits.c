// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * qp_limits.c - see qp_limits.h.
 */
#include "config/rate.h"
#include "shared-ring/vhca_check.h"
#include "vhca/qp_limits.h"

#define SL_MOST 15

static void narrow(uint32_t *value, uint64_t limit)
{
	if (*value > limit)
		*value = limit;
}

/* Numbers below 2^32. */
static uint64_t round_down(uint64_t n)
{
	return n ? 1ull << (63 - __builtin_clzll(n)) : 0;
}

static uint64_t round_up(uint64_t n)
{
	return n <= 1 ? 1 : 1ull << (64 - __builtin_clzll(n - 1));
}

/* The HCA has powers of two, and takes the next higher one. */
static uint64_t rd_atomic(const struct qp_limits *limits)
{
	return round_down(limits->rd_atomic);
}

void qp_limits_device(const struct qp_limits *limits, struct xen_vhca_device_attr *attr)
{
	narrow(&attr->max_qp_rd_atom, rd_atomic(limits));
	narrow(&attr->max_qp_init_rd_atom, rd_atomic(limits));
	narrow(&attr->max_res_rd_atom, rd_atomic(limits) * attr->max_qp);
	narrow(&attr->max_qp_wr, limits->wr);
	narrow(&attr->max_send_blocks, round_up(limits->wr));
	narrow(&attr->max_recv_wqes, round_up(limits->wr));
}

bool qp_limits_allow(const struct qp_limits *limits, uint32_t type)
{
	return limits->ud || type != XEN_VHCA_QPT_UD;
}

/* The lengths that the HCA is told count: what a guest calls the number of its WRs, it does not have to keep to. */
bool qp_limits_queues(const struct qp_limits *limits, const struct xen_vhca_qp_create *qp)
{
	const uint64_t most = round_up(limits->wr);

	return qp->max_send_wr <= limits->wr && qp->sq_wqe_count <= most &&
	       qp->max_recv_wr <= limits->wr && qp->rq_wqe_count <= most;
}

static bool is_slow_enough(const struct qp_limits *limits, uint8_t rate)
{
	const uint32_t mbps = rate_mbps(rate);

	return !limits->rate || (mbps && mbps <= limits->rate);
}

void qp_limits_av(const struct qp_limits *limits, struct xen_vhca_av *av)
{
	if (limits->sl <= SL_MOST)
		av->sl = limits->sl;
	if (!is_slow_enough(limits, av->static_rate))
		av->static_rate = rate_encode(limits->rate);
}

/* 0 is for ever. */
static void shape_timeout(const struct qp_limits *limits, uint8_t *timeout)
{
	if (*timeout && *timeout < limits->timeout)
		*timeout = limits->timeout;
}

bool qp_limits_shape(const struct qp_limits *limits, uint32_t mask, struct xen_vhca_qp_attr *attr)
{
	if (mask & VHCA_QP_AV)
		qp_limits_av(limits, &attr->av);
	if (mask & VHCA_QP_ALT_PATH) {
		qp_limits_av(limits, &attr->alt_av);
		shape_timeout(limits, &attr->alt_timeout);
	}
	if (mask & VHCA_QP_TIMEOUT)
		shape_timeout(limits, &attr->timeout);
	/* 0 is the longest. */
	if (mask & VHCA_QP_MIN_RNR_TIMER && attr->min_rnr_timer &&
	    attr->min_rnr_timer < limits->rnr_timer)
		attr->min_rnr_timer = limits->rnr_timer;
	if (mask & VHCA_QP_MAX_RD_ATOMIC && attr->max_rd_atomic > rd_atomic(limits))
		attr->max_rd_atomic = rd_atomic(limits);
	return !(mask & VHCA_QP_MAX_DEST_RD_ATOMIC) ||
	       attr->max_dest_rd_atomic <= rd_atomic(limits);
}

bool qp_limits_hold(const struct qp_limits *limits, uint32_t mask,
		    const struct xen_vhca_qp_attr *attr)
{
	return (!(mask & VHCA_QP_AV) || is_slow_enough(limits, attr->av.static_rate)) &&
	       (!(mask & VHCA_QP_ALT_PATH) || is_slow_enough(limits, attr->alt_av.static_rate));
}
