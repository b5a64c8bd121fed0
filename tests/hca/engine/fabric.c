// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The switch: looks up where a packet goes when it is sent, keeps it in a queue of the sending
 * port, and hands the queues out in turns. Faults of links are applied where a packet enters.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "container.h"
#include "engine/agent.h"
#include "engine/fabric.h"
#include "engine/groups.h"
#include "firmware/port.h"
#include "hca.h"
#include "loop.h"
#include "objects/qp.h"
#include "switch/switch.h"

#define PACKETS_PER_TURN 256     /* of all ports: how long a turn of the loop may get */
#define PACKETS_PER_PORT 16      /* before the next port has its go */
#define SWITCH_PORT FABRIC_PORTS /* in place of a function: the switch itself */
#define NO_PORT (FABRIC_PORTS + 1)

struct packet_list {
	struct packet *head, **tail;
};

struct fabric_port {
	struct hca *hca;
	struct packet_list ready;
	struct packet *delayed;       /* by due time */
	struct packet **delayed_last; /* where the latest one hangs: most go behind it */
};

struct fabric {
	struct loop *loop;
	struct fabric_port ports[FABRIC_PORTS + 1]; /* the last one has what the switch sends */
	struct ib_switch *sw; /* a managed one; NULL: ports have their LIDs from the model */
	unsigned int turn;    /* the port that goes first */
	struct loop_work deliver;
	struct loop_timer delay;
	uint64_t random;

	struct packet *pool; /* FABRIC_PACKETS of them; untouched memory costs nothing */
	struct packet *free;
	unsigned int untouched, used;

	struct groups groups;
};

static void list_init(struct packet_list *list)
{
	list->head = NULL;
	list->tail = &list->head;
}

static void list_add(struct packet_list *list, struct packet *p)
{
	p->next = NULL;
	*list->tail = p;
	list->tail = &p->next;
}

static struct packet *list_take(struct packet_list *list)
{
	struct packet *p = list->head;

	if (!p)
		return NULL;
	list->head = p->next;
	if (!list->head)
		list->tail = &list->head;
	return p;
}

struct packet *packet_get(struct fabric *f)
{
	struct packet *p = f->free;

	if (p)
		f->free = p->next;
	else if (f->untouched)
		p = &f->pool[--f->untouched];
	else
		return NULL;
	memset(p, 0, offsetof(struct packet, data));
	f->used++;
	return p;
}

void packet_put(struct fabric *f, struct packet *p)
{
	p->next = f->free;
	f->free = p;
	f->used--;
}

/* Octets on the wire, as the port counters count them: LRH to ICRC. */
static uint32_t packet_octets(const struct packet *p)
{
	uint32_t octets = 8 + 12 + 4; /* LRH, BTH, ICRC */

	if (p->grh)
		octets += 40;
	if ((p->opcode & BTH_TRANSPORT) == BTH_UD)
		octets += 8; /* DETH */
	if ((p->opcode & BTH_TRANSPORT) == BTH_XRC)
		octets += 4; /* XRCETH */
	switch (p->opcode & ~BTH_TRANSPORT) {
	case BTH_WRITE_FIRST:
	case BTH_WRITE_ONLY:
	case BTH_READ_REQUEST:
		octets += 16; /* RETH */
		break;
	case BTH_WRITE_ONLY_IMM:
		octets += 20; /* RETH, ImmDt */
		break;
	case BTH_COMPARE_SWAP:
	case BTH_FETCH_ADD:
		octets += 28; /* AtomicETH */
		break;
	case BTH_ATOMIC_ACK:
		octets += 12; /* AETH, AtomicAckETH */
		break;
	case BTH_READ_RESP_FIRST:
	case BTH_READ_RESP_LAST:
	case BTH_READ_RESP_ONLY:
	case BTH_ACKNOWLEDGE:
	case BTH_SEND_LAST_IMM:
	case BTH_SEND_ONLY_IMM:
	case BTH_WRITE_LAST_IMM:
	case BTH_SEND_LAST_INV:
	case BTH_SEND_ONLY_INV:
		octets += 4; /* AETH, ImmDt or IETH */
		break;
	default:
		break;
	}
	return octets + ((p->len + 3) & ~3u);
}

static bool to_group(const struct packet *p)
{
	return p->dlid >= LID_MULTICAST && p->dlid != LID_PERMISSIVE;
}

static void count_sent(struct hca *hca, const struct packet *p)
{
	uint32_t octets = packet_octets(p);

	hca->stats.packets_sent++;
	hca->port.xmit_packets++;
	hca->port.xmit_bytes += octets;
	if (!to_group(p))
		return;
	hca->port.xmit_mc_packets++;
	hca->port.xmit_mc_bytes += octets;
}

static void count_received(struct hca *hca, const struct packet *p)
{
	uint32_t octets = packet_octets(p);

	hca->stats.packets_received++;
	hca->port.rcv_packets++;
	hca->port.rcv_bytes += octets;
	if (!to_group(p))
		return;
	hca->port.rcv_mc_packets++;
	hca->port.rcv_mc_bytes += octets;
}

static void drop(struct fabric *f, struct hca *hca, struct packet *p)
{
	hca->stats.packets_dropped++;
	hca->port.xmit_discards++;
	packet_put(f, p);
}

/*
 * What goes by VL15 (IBTA 7.6.3): only from QP0 to QP0. A sender's other QPs reach no QP0: so
 * nobody but the host's own kernel talks to agents of subnet management.
 */
static bool management(const struct packet *p)
{
	return !p->dest_qpn && !p->src_qpn && (p->opcode & BTH_TRANSPORT) == BTH_UD;
}

/* IBTA 7.2.7: in INIT only management packets of VL15 pass, in ARMED others are only received. */
static bool port_may_send(const struct hca *hca, const struct packet *p)
{
	if (hca->faults.link_down || hca->port.state < PORT_INIT)
		return false;
	return hca->port.state == PORT_ACTIVE || management(p);
}

static bool port_may_receive(const struct hca *hca, const struct packet *p)
{
	if (hca->faults.link_down || hca->port.state < PORT_INIT)
		return false;
	return hca->port.state >= PORT_ARMED || management(p);
}

static bool own_lid(const struct hca *hca, uint16_t lid)
{
	return hca->port.lid && !((hca->port.lid ^ lid) >> hca->port.lmc);
}

static unsigned int port_of_lid(const struct fabric *f, uint16_t lid)
{
	for (unsigned int i = 0; i < FABRIC_PORTS; i++) {
		const struct hca *hca = f->ports[i].hca;

		if (hca && own_lid(hca, lid))
			return i;
	}
	return NO_PORT;
}

/* The permissive LID means "whoever is at the other end". */
static unsigned int port_opposite(const struct fabric *f, unsigned int from)
{
	unsigned int other = NO_PORT;

	for (unsigned int i = 0; i < FABRIC_PORTS; i++) {
		if (!f->ports[i].hca || i == from)
			continue;
		if (other != NO_PORT)
			return NO_PORT;
		other = i;
	}
	return other;
}

static unsigned int port_by_switch(const struct fabric *f, const struct hca *hca,
				   const struct packet *p)
{
	unsigned int to;

	if (own_lid(hca, p->dlid))
		return hca->index;
	if (p->dlid == LID_PERMISSIVE)
		return SWITCH_PORT;
	to = switch_route(f->sw, hca->index + 1, p->dlid, management(p));
	if (to == SWITCH_NO_ROUTE)
		return NO_PORT;
	return to ? to - 1 : SWITCH_PORT;
}

/* Where a packet to one port goes. */
static unsigned int port_to(const struct fabric *f, const struct hca *hca, const struct packet *p)
{
	if (f->sw)
		return port_by_switch(f, hca, p);
	return p->dlid == LID_PERMISSIVE ? port_opposite(f, hca->index) : port_of_lid(f, p->dlid);
}

static uint64_t next_random(struct fabric *f)
{
	f->random ^= f->random << 13;
	f->random ^= f->random >> 7;
	f->random ^= f->random << 17;
	return f->random;
}

static bool fault_drops(struct fabric *f, struct hca *hca)
{
	if (hca->faults.drop_next) {
		hca->faults.drop_next--;
		return true;
	}
	return hca->faults.drop_permille && next_random(f) % 1000 < hca->faults.drop_permille;
}

static void delay_arm(struct fabric *f)
{
	uint64_t now = loop_now(f->loop), first = UINT64_MAX;

	for (unsigned int i = 0; i < FABRIC_PORTS; i++) {
		const struct packet *p = f->ports[i].delayed;

		if (p && p->due < first)
			first = p->due;
	}
	if (first == UINT64_MAX)
		loop_timer_cancel(f->loop, &f->delay);
	else
		loop_timer_set(f->loop, &f->delay, first > now ? first - now : 0);
}

/* By due time; a shorter delay than before lets a packet overtake. */
static void delay_packet(struct fabric *f, struct fabric_port *port, struct packet *p,
			 uint64_t delay_ns)
{
	struct packet **at = &port->delayed;

	p->due = loop_now(f->loop) + delay_ns;
	if (*port->delayed_last && (*port->delayed_last)->due <= p->due)
		at = &(*port->delayed_last)->next;
	while (*at && (*at)->due <= p->due)
		at = &(*at)->next;
	p->next = *at;
	*at = p;
	if (!p->next)
		port->delayed_last = at;
	else if (port->delayed_last == at)
		port->delayed_last = &p->next;
	delay_arm(f);
}

static void delay_over(struct loop_timer *timer)
{
	struct fabric *f = container_of(timer, struct fabric, delay);
	uint64_t now = loop_now(f->loop);

	for (unsigned int i = 0; i < FABRIC_PORTS; i++) {
		struct fabric_port *port = &f->ports[i];

		while (port->delayed && port->delayed->due <= now) {
			struct packet *p = port->delayed;

			if (port->delayed_last == &p->next)
				port->delayed_last = &port->delayed;
			port->delayed = p->next;
			list_add(&port->ready, p);
		}
	}
	loop_work_queue(f->loop, &f->deliver);
	delay_arm(f);
}

static void enqueue(struct fabric *f, struct fabric_port *from, struct packet *p)
{
	struct hca *hca = from->hca;

	if (fault_drops(f, hca)) {
		drop(f, hca, p);
		return;
	}
	if (hca->faults.delay_ns) {
		delay_packet(f, from, p, hca->faults.delay_ns);
		return;
	}
	list_add(&from->ready, p);
	loop_work_queue(f->loop, &f->deliver);
}

/* A port reaches its own QPs without the switch, others as the switch lets it. */
static bool group_reaches(const struct fabric *f, const struct hca *from, uint16_t mlid,
			  unsigned int to)
{
	return !f->sw || to == from->index ||
	       switch_multicasts(f->sw, from->index + 1, mlid, to + 1);
}

static void send_multicast(struct fabric *f, struct fabric_port *from, struct packet *p)
{
	const struct attachment *a = p->grh ? groups_first(&f->groups, p->dgid) : NULL;
	unsigned int copies = 0;

	for (; a; a = a->next) {
		struct packet *copy;

		if (memcmp(a->mgid, p->dgid, 16) || !group_reaches(f, from->hca, p->dlid, a->port))
			continue;
		copy = packet_get(f);
		if (!copy) {
			from->hca->stats.packets_dropped++;
			break;
		}
		memcpy(copy, p, offsetof(struct packet, data) + p->len);
		copy->port = a->port;
		copy->dest_qpn = a->qpn;
		enqueue(f, from, copy);
		copies++;
	}
	if (copies)
		packet_put(f, p);
	else
		drop(f, from->hca, p);
}

void fabric_send(struct hca *hca, struct packet *p)
{
	struct fabric *f = hca->fabric;
	struct fabric_port *from = &f->ports[hca->index];

	if (p->len > PACKET_PAYLOAD || !port_may_send(hca, p) || (!p->dest_qpn && !management(p))) {
		drop(f, hca, p);
		return;
	}
	count_sent(hca, p);

	if (to_group(p)) {
		send_multicast(f, from, p);
		return;
	}
	p->port = (uint8_t)port_to(f, hca, p);
	if (p->port == NO_PORT) {
		drop(f, hca, p);
		return;
	}
	enqueue(f, from, p);
}

void fabric_send_by_switch(struct fabric *f, unsigned int to, struct packet *p)
{
	p->port = (uint8_t)to;
	list_add(&f->ports[SWITCH_PORT].ready, p);
	loop_work_queue(f->loop, &f->deliver);
}

static struct qp *find_qp(struct hca *hca, uint32_t qpn)
{
	struct obj *obj;

	if (qpn < 2)
		return hca->special_qp[qpn];
	obj = obj_find(hca->objs[OBJ_QP], qpn);
	return obj ? container_of(obj, struct qp, obj) : NULL;
}

/* IBTA 8.2.3: what is addressed to another GID is not for this port, whatever its LID. */
static bool gid_ok(const struct hca *hca, const struct packet *p)
{
	return !p->grh || to_group(p) || port_has_gid(hca, p->dgid);
}

/* A switch whose tables are wrong may bring what is for another port. */
static bool lid_ok(const struct hca *hca, const struct packet *p)
{
	return to_group(p) || p->dlid == LID_PERMISSIVE || own_lid(hca, p->dlid);
}

static void deliver_to_switch(struct fabric *f, unsigned int from, struct packet *p)
{
	if (f->sw)
		switch_packet(f->sw, from + 1, p);
	else
		packet_put(f, p);
}

static void deliver(struct fabric *f, unsigned int from, struct packet *p)
{
	struct hca *hca = f->ports[p->port].hca;
	struct qp *qp;

	if (p->port == SWITCH_PORT) {
		deliver_to_switch(f, from, p);
		return;
	}
	if (!hca) {
		packet_put(f, p);
		return;
	}
	if (!port_may_receive(hca, p) || !gid_ok(hca, p) || !lid_ok(hca, p)) {
		hca->stats.packets_dropped++;
		packet_put(f, p);
		return;
	}
	count_received(hca, p);
	if (agent_answers(hca, p)) {
		packet_put(f, p);
		return;
	}
	qp = find_qp(hca, p->dest_qpn);
	if (!qp) {
		hca->stats.packets_dropped++;
		packet_put(f, p);
		return;
	}
	qp_engine_packet(qp, p);
}

static unsigned int deliver_from(struct fabric *f, struct fabric_port *port, unsigned int budget)
{
	unsigned int n;

	for (n = 0; n < budget; n++) {
		struct packet *p = list_take(&port->ready);

		if (!p)
			break;
		deliver(f, (unsigned int)(port - f->ports), p);
	}
	return n;
}

static void deliver_turn(struct loop_work *work)
{
	struct fabric *f = container_of(work, struct fabric, deliver);
	unsigned int done = 0, idle = 0;

	while (done < PACKETS_PER_TURN && idle <= FABRIC_PORTS) {
		struct fabric_port *port = &f->ports[f->turn];
		unsigned int n = deliver_from(f, port, PACKETS_PER_PORT);

		idle = n ? 0 : idle + 1;
		done += n;
		f->turn = (f->turn + 1) % (FABRIC_PORTS + 1);
	}
	if (idle <= FABRIC_PORTS)
		loop_work_queue(f->loop, &f->deliver);
}

static void start(struct fabric *f)
{
	f->free = NULL;
	f->untouched = FABRIC_PACKETS;
	f->random = 0x9e3779b97f4a7c15ull; /* the same drops in each run: tests can be repeated */
	f->turn = 0;
}

struct fabric *fabric_new(struct loop *loop)
{
	struct fabric *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->pool = calloc(FABRIC_PACKETS, sizeof(*f->pool));
	if (!f->pool) {
		free(f);
		return NULL;
	}
	start(f);
	f->loop = loop;
	f->deliver.handler = deliver_turn;
	f->delay.handler = delay_over;
	for (unsigned int i = 0; i <= FABRIC_PORTS; i++) {
		list_init(&f->ports[i].ready);
		f->ports[i].delayed_last = &f->ports[i].delayed;
	}
	return f;
}

void fabric_free(struct fabric *f)
{
	if (!f)
		return;
	for (unsigned int i = 0; i < FABRIC_PORTS; i++) {
		if (f->ports[i].hca)
			fabric_leave(f, f->ports[i].hca);
	}
	loop_work_cancel(&f->deliver);
	loop_timer_cancel(f->loop, &f->delay);
	switch_free(f->sw);
	free(f->pool);
	free(f);
}

bool fabric_restart(struct fabric *f)
{
	if (f->used)
		return false;
	if (!groups_empty(&f->groups))
		return false;
	loop_work_cancel(&f->deliver);
	start(f);
	return true;
}

int fabric_join(struct fabric *f, struct hca *hca)
{
	if (hca->index >= FABRIC_PORTS)
		return -ENOSPC;
	if (f->ports[hca->index].hca)
		return -EEXIST;
	f->ports[hca->index].hca = hca;
	return 0;
}

void fabric_leave(struct fabric *f, struct hca *hca)
{
	if (hca->index >= FABRIC_PORTS || f->ports[hca->index].hca != hca)
		return;
	fabric_purge(hca);
	f->ports[hca->index].hca = NULL;
}

struct hca *fabric_port(struct fabric *f, unsigned int index)
{
	return index < FABRIC_PORTS ? f->ports[index].hca : NULL;
}

int fabric_manage(struct fabric *f, bool managed)
{
	struct ib_switch *sw = NULL;

	if (managed) {
		sw = switch_new(f, f->loop);
		if (!sw)
			return -ENOMEM;
	}
	switch_free(f->sw);
	f->sw = sw;
	for (unsigned int i = 0; i < FABRIC_PORTS; i++)
		if (f->ports[i].hca)
			port_managed(f->ports[i].hca, managed);
	return 0;
}

void fabric_link(struct hca *hca, bool up)
{
	if (hca->fabric->sw)
		switch_link(hca->fabric->sw, hca->index + 1, up);
}

void fabric_retrain(struct fabric *f, unsigned int index, bool disabled)
{
	struct hca *hca = f->ports[index].hca;

	if (!hca)
		return;
	hca->peer_disabled = disabled;
	port_retrain(hca);
}

/* Takes out of a chain what goes to port, or all if all is set; returns where the chain ends. */
static struct packet **chain_purge(struct fabric *f, struct packet **at, unsigned int to, bool all)
{
	while (*at) {
		struct packet *p = *at;

		if (all || p->port == to) {
			*at = p->next;
			packet_put(f, p);
		} else {
			at = &p->next;
		}
	}
	return at;
}

static void delayed_find_last(struct fabric_port *port)
{
	struct packet **at = &port->delayed;

	while (*at && (*at)->next)
		at = &(*at)->next;
	port->delayed_last = at;
}

void fabric_purge(struct hca *hca)
{
	struct fabric *f = hca->fabric;
	struct fabric_port *port = &f->ports[hca->index];

	for (unsigned int i = 0; i <= FABRIC_PORTS; i++) {
		struct fabric_port *q = &f->ports[i];

		q->ready.tail = chain_purge(f, &q->ready.head, hca->index, q == port);
		chain_purge(f, &q->delayed, hca->index, q == port);
		delayed_find_last(q);
	}
	delay_arm(f);

	groups_purge(&f->groups, hca->index);
}

int fabric_attach(struct hca *hca, const uint8_t mgid[16], uint32_t qpn)
{
	return groups_attach(&hca->fabric->groups, hca->index, mgid, qpn);
}

int fabric_detach(struct hca *hca, const uint8_t mgid[16], uint32_t qpn)
{
	return groups_detach(&hca->fabric->groups, hca->index, mgid, qpn);
}

void fabric_detach_all(struct hca *hca, uint32_t qpn)
{
	groups_detach_all(&hca->fabric->groups, hca->index, qpn);
}
