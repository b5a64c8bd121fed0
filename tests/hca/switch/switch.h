/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The managed switch: what a subnet manager finds between the ports of the functions, and
 * configures. Port n is joined to function n - 1; port 0, a base one, is the switch's own.
 *
 *   switch.c     links, port states, and where packets go by its tables
 *   smi.c        packets to the switch itself: directed routes, and those to its LID
 *   sma.c        its subnet management agent
 *   ports.c      PortInfo
 *   trap.c       what it tells the subnet manager without being asked
 *
 * It does nothing until a manager has set it up, as a real one: its tables are empty and
 * its ports are in INIT, where management packets pass and no others (IBTA vol. 1, 7.2.7, 18.2).
 */
#ifndef HCA_SWITCH_H
#define HCA_SWITCH_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/fabric.h"
#include "firmware/port.h"
#include "loop.h"

#define SWITCH_PORTS FABRIC_PORTS
#define SWITCH_LIDS LID_MULTICAST /* entries of the linear table */
#define SWITCH_MLIDS 1024u        /* entries of the multicast table */
#define SWITCH_NO_ROUTE 0xffu

struct switch_port {
	enum port_state state;
	bool disabled; /* by a subnet manager */
	uint8_t neighbor_mtu, vl_high_limit, stall_hoq_life, error_thresholds;
};

struct ib_switch {
	struct fabric *fabric;
	struct loop *loop;
	uint64_t guid;

	/* Of port 0. */
	struct m_key m_key;
	uint64_t gid_prefix;
	uint16_t lid, sm_lid;
	uint8_t sm_sl, subnet_timeout;
	uint16_t pkeys[PORT_PKEYS];

	struct switch_port ports[SWITCH_PORTS + 1]; /* [0] is not used */

	uint16_t linear_top;
	uint8_t life_time;
	bool port_changed; /* SwitchInfo:PortStateChange */
	bool setting;      /* a manager changes the state of a port: not for PortStateChange */
	uint8_t linear[SWITCH_LIDS];      /* a port; SWITCH_NO_ROUTE, or what is no port: none */
	uint16_t multicast[SWITCH_MLIDS]; /* a bit for each port */

	struct {
		struct loop_timer timer; /* set: the manager has not repressed the trap yet */
		uint64_t tid;
	} trap;
};

/* All links are down. NULL if memory is short. */
struct ib_switch *switch_new(struct fabric *fabric, struct loop *loop);
void switch_free(struct ib_switch *sw);

/* The link of a port trains anew, or is lost. */
void switch_link(struct ib_switch *sw, unsigned int port, bool up);

/*
 * Where a packet that arrives at port goes by its unicast DLID: a port, 0 for the switch itself,
 * SWITCH_NO_ROUTE for nowhere. management: it is one for QP0, which passes where others do not.
 */
unsigned int switch_route(const struct ib_switch *sw, unsigned int from, uint16_t dlid,
			  bool management);
/* Whether a packet to a multicast LID that arrives at port from leaves by port to, another one. */
bool switch_multicasts(const struct ib_switch *sw, unsigned int from, uint16_t mlid,
		       unsigned int to);

/* A packet for the switch itself; it is taken over. from: the port it has arrived at. */
void switch_packet(struct ib_switch *sw, unsigned int from, struct packet *p);

/* --- Between the parts --- */

/* Whether a management packet gets out by port. */
bool switch_port_up(const struct ib_switch *sw, unsigned int port);

/*
 * The agent: mad is a request that has come in at port from, and the response then. False if there
 * is none to send. (sma.c)
 */
bool switch_agent(struct ib_switch *sw, unsigned int from, uint8_t mad[256]);

/* Get or Set of PortInfo, as mad_port_info(); returns the status. (ports.c) */
uint16_t switch_port_info(struct ib_switch *sw, unsigned int from, bool set, uint32_t modifier,
			  bool show_mkey, uint8_t *d);

/*
 * The start of a MAD of version 1 with nothing in it, from and to nobody yet; the caller owns it.
 * NULL: no packet is free. (smi.c)
 */
struct packet *switch_mad(struct fabric *fabric, uint8_t class, uint8_t method, uint16_t attr);

/* By LID, from the switch itself; taken over. (smi.c) */
void switch_send(struct ib_switch *sw, uint16_t dlid, struct packet *p);

/* Tells the subnet manager that the state of a link has changed, until it has understood. */
void switch_trap(struct ib_switch *sw);
/* A TrapRepress has come in. */
void switch_trap_repressed(struct ib_switch *sw, const uint8_t mad[256]);

#endif
