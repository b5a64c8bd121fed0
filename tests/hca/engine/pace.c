// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Static rates (IBTA 9.11): a QP sends no faster than the rate of its path. What it sends is paid for in time, of which it
 * saves up a little, as timers are not exact.
 */
#include "engine/engine.h"

#define SAVED_NS 2000000u
#define HEADERS 30u /* bytes of a packet beside its payload: LRH, BTH, CRCs */

/* As the driver has them (ib_to_mlx5_rate_map() of mlx5_ib); 0: as fast as the port. */
static uint32_t mbps(uint8_t rate)
{
	static const uint32_t rates[16] = {
		[2] = 25000, [3] = 100000, [5] = 50000,  [7] = 2500,   [8] = 10000,  [9] = 30000,
		[10] = 5000, [11] = 20000, [12] = 40000, [13] = 60000, [14] = 80000, [15] = 120000,
	};

	return rates[rate & 15];
}

bool pace_may_send(struct qp_engine *e)
{
	return !e->qp->path.stat_rate || e->paid <= loop_now(e->qp->obj.hca->loop);
}

void pace_sends(struct qp_engine *e, uint32_t length)
{
	const uint32_t rate = mbps(e->qp->path.stat_rate);
	uint64_t now;

	if (!rate)
		return;
	now = loop_now(e->qp->obj.hca->loop);
	if (now > SAVED_NS && e->paid < now - SAVED_NS)
		e->paid = now - SAVED_NS;
	e->paid += (length + HEADERS) * 8000ull / rate;
}
