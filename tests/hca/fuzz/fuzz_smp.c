// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Management packets to the managed switch: whatever they say, none is lost, none goes round for
 * ever, and the switch stays one.
 *
 * An input is a list of steps. Each is an octet that says what happens and at which port, then, for
 * a packet, some octets of its headers, how many of its MAD follow, and these.
 */
#include <string.h>

#include "engine/agent.h"
#include "engine/fabric.h"
#include "firmware/mad.h"
#include "hca.h"
#include "ifc.h"
#include "objects/eq.h"
#include "objects/qp.h"
#include "switch/switch.h"
#include "twice.h"

#define PORTS 3u
#define STEPS 64

static struct loop *loop;
static struct fabric *fabric;
static struct hca hcas[PORTS];
static struct qp qp0[PORTS];
static uint64_t seen;

static void need(bool ok)
{
	if (!ok)
		abort();
}

/* Doubles of what is not tested here. */
void eq_port_event(struct hca *hca, uint8_t subtype)
{
	need(hca >= hcas && hca < hcas + PORTS && subtype);
}

bool agent_answers(struct hca *hca, const struct packet *p)
{
	(void)hca;
	(void)p;
	return false;
}

struct obj *obj_find(const struct obj_table *t, uint32_t id)
{
	(void)t;
	(void)id;
	return NULL;
}

void qp_engine_packet(struct qp *qp, struct packet *p)
{
	need(p->len <= PACKET_PAYLOAD && p->port == qp->obj.hca->index);
	seen = sum(seen, p->data, p->len);
	packet_put(fabric, p);
}

static void begin(void)
{
	if (!loop) {
		loop = loop_new();
		need(loop);
		loop_clock_advance(loop, 1);
		fabric = fabric_new(loop);
		need(fabric);
	}
	for (unsigned int i = 0; i < PORTS; i++) {
		memset(&hcas[i], 0, sizeof(hcas[i]));
		hcas[i].index = i;
		hcas[i].loop = loop;
		hcas[i].fabric = fabric;
		hcas[i].special_qp[0] = &qp0[i];
		qp0[i].obj.hca = &hcas[i];
		need(!fabric_join(fabric, &hcas[i]));
		port_init(&hcas[i]);
	}
	need(!fabric_manage(fabric, true));
	seen = SUM_START;
}

static void end(void)
{
	need(!fabric_manage(fabric, false)); /* with its timer */
	for (unsigned int i = 0; i < PORTS; i++)
		fabric_leave(fabric, &hcas[i]);
	need(fabric_restart(fabric)); /* all packets are back */
	need(loop_restart(loop));
}

static void turns(void)
{
	unsigned int n = 0;

	while (loop_turn(loop, 0))
		need(++n < 1000);
}

struct input {
	const uint8_t *at;
	size_t left;
};

static uint8_t octet(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

/* Mostly a good one: what the input says is changed in it. */
static void packet(struct input *in, struct hca *from)
{
	uint8_t flags = octet(in), attribute = octet(in), length = octet(in);
	struct packet *p = packet_get(fabric);
	size_t n = length < in->left ? length : in->left;

	need(p);
	memset(p->data, 0, MAD_LEN);
	p->opcode = flags & 1 ? octet(in) : BTH_UD | BTH_SEND_ONLY;
	p->len = flags & 2 ? octet(in) : MAD_LEN;
	p->slid = flags & 4 ? from->port.lid : LID_PERMISSIVE;
	p->dlid = flags & 8 ? octet(in) : LID_PERMISSIVE;
	p->data[MAD_BASE_VERSION] = p->data[MAD_CLASS_VERSION] = 1;
	p->data[MAD_CLASS] = flags & 16 ? MAD_CLASS_LID_ROUTED : MAD_CLASS_DIRECTED;
	p->data[MAD_METHOD] = flags & 32 ? MAD_METHOD_SET : MAD_METHOD_GET;
	put_be16(p->data + MAD_ATTR, attribute);
	p->data[MAD_HOP_POINTER] = p->data[MAD_HOP_COUNT] = 1;
	put_be16(p->data + MAD_DIRECTED_SLID, LID_PERMISSIVE);
	put_be16(p->data + MAD_DIRECTED_DLID, LID_PERMISSIVE);
	if (n > in->left)
		n = in->left;
	/* Either what the attribute carries, or all of it. */
	memcpy(p->data + (flags & 64 ? 0 : MAD_ATTR_MODIFIER), in->at, n < 200 ? n : 200);
	in->at += n;
	in->left -= n;
	fabric_send(from, p);
	turns();
}

static void check(void)
{
	for (unsigned int i = 0; i < PORTS; i++)
		need(hcas[i].port.state >= PORT_DOWN && hcas[i].port.state <= PORT_ACTIVE);
}

static void step(struct input *in)
{
	uint8_t what = octet(in);
	struct hca *hca = &hcas[what % PORTS];

	switch (what >> 5) {
	case 0:
		hca_set_link(hca, false);
		break;
	case 1:
		hca_set_link(hca, true);
		break;
	case 2:
		hca->port.lid = octet(in);
		break;
	case 3:
		loop_clock_advance(loop, 5000000000ull);
		turns();
		break;
	default:
		packet(in, hca);
	}
	turns();
	check();
}

static uint64_t give(const uint8_t *data, size_t size, bool ask)
{
	struct input in = { data, size };

	begin();
	for (unsigned int i = 0; i < STEPS && in.left; i++)
		step(&in);
	for (unsigned int i = 0; ask && i < PORTS; i++)
		seen = sum(seen, &hcas[i].port, sizeof(hcas[i].port));
	end();
	return seen;
}
