// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdlib.h>
#include <string.h>

#include "engine/fabric.h"
#include "switch/switch.h"

#define SWITCH_GUID 0x0002c90300abff00ull /* of the range of the functions */
#define GID_PREFIX_DEFAULT 0xfe80000000000000ull
#define SUBNET_TIMEOUT 18u
#define MTU_4096 5u

struct ib_switch *switch_new(struct fabric *fabric, struct loop *loop)
{
	struct ib_switch *sw = calloc(1, sizeof(*sw));

	if (!sw)
		return NULL;
	sw->fabric = fabric;
	sw->loop = loop;
	sw->guid = SWITCH_GUID;
	sw->gid_prefix = GID_PREFIX_DEFAULT;
	sw->subnet_timeout = SUBNET_TIMEOUT;
	sw->pkeys[0] = PORT_PKEY_DEFAULT;
	memset(sw->linear, SWITCH_NO_ROUTE, sizeof(sw->linear));
	for (unsigned int i = 1; i <= SWITCH_PORTS; i++) {
		sw->ports[i].state = PORT_DOWN;
		sw->ports[i].neighbor_mtu = MTU_4096;
	}
	return sw;
}

void switch_free(struct ib_switch *sw)
{
	if (!sw)
		return;
	loop_timer_cancel(sw->loop, &sw->trap.timer);
	free(sw);
}

void switch_link(struct ib_switch *sw, unsigned int port, bool up)
{
	struct switch_port *p = &sw->ports[port];
	enum port_state was = p->state;

	p->state = up ? PORT_INIT : PORT_DOWN;
	/* IBTA 14.2.5.4: what a Set to this switch has changed is no news to its manager. */
	if ((was == PORT_DOWN && p->state == PORT_DOWN) || sw->setting)
		return;
	sw->port_changed = true;
	switch_trap(sw);
}

bool switch_port_up(const struct ib_switch *sw, unsigned int port)
{
	return port >= 1 && port <= SWITCH_PORTS && sw->ports[port].state >= PORT_INIT;
}

/* IBTA 7.2.7: in INIT only management packets of VL15 pass, in ARMED others are only received. */
static bool may_enter(const struct ib_switch *sw, unsigned int port, bool management)
{
	return sw->ports[port].state >= (management ? PORT_INIT : PORT_ARMED);
}

static bool may_leave(const struct ib_switch *sw, unsigned int port, bool management)
{
	return sw->ports[port].state >= (management ? PORT_INIT : PORT_ACTIVE);
}

unsigned int switch_route(const struct ib_switch *sw, unsigned int from, uint16_t dlid,
			  bool management)
{
	unsigned int to;

	if (from && !may_enter(sw, from, management))
		return SWITCH_NO_ROUTE;
	if (dlid >= SWITCH_LIDS || dlid > sw->linear_top)
		return SWITCH_NO_ROUTE;
	to = sw->linear[dlid];
	if (to > SWITCH_PORTS)
		return SWITCH_NO_ROUTE;
	if (!to)
		return 0;
	return may_leave(sw, to, management) ? to : SWITCH_NO_ROUTE;
}

bool switch_multicasts(const struct ib_switch *sw, unsigned int from, uint16_t mlid,
		       unsigned int to)
{
	unsigned int entry = mlid - LID_MULTICAST;

	return entry < SWITCH_MLIDS && (sw->multicast[entry] & 1u << to) &&
	       may_enter(sw, from, false) && may_leave(sw, to, false);
}
