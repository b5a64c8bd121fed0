// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Trap 128 (IBTA vol. 1, 14.2.5.1, 13.4.9): the state of a link has changed. It is repeated until the
 * subnet manager represses it; where there is none yet, there is nobody to tell.
 */
#include "container.h"
#include "engine/fabric.h"
#include "firmware/mad.h"
#include "ifc.h"
#include "switch/switch.h"

#define NOTICE_GENERIC_URGENT 0x81u
#define PRODUCER_SWITCH 2u
#define LINK_STATE_CHANGED 128u
#define TIMEOUT_UNIT_NS 4096ull

/* Notice: offsets. */
enum {
	NOTICE_TYPE = 0,
	NOTICE_PRODUCER = 3,
	NOTICE_NUMBER = 4,
	NOTICE_ISSUER = 6,
	NOTICE_LID = 10
};

static void send(struct ib_switch *sw)
{
	struct packet *p =
		switch_mad(sw->fabric, MAD_CLASS_LID_ROUTED, MAD_METHOD_TRAP, ATTR_NOTICE);
	uint8_t *notice;

	if (!p)
		return;
	p->sl = sw->sm_sl;
	p->pkey = PORT_PKEY_DEFAULT;
	put_be64(p->data + MAD_TID, sw->trap.tid);
	notice = p->data + MAD_SMP_DATA;
	notice[NOTICE_TYPE] = NOTICE_GENERIC_URGENT;
	notice[NOTICE_PRODUCER] = PRODUCER_SWITCH;
	put_be16(notice + NOTICE_NUMBER, LINK_STATE_CHANGED);
	put_be16(notice + NOTICE_ISSUER, sw->lid);
	put_be16(notice + NOTICE_LID, sw->lid);
	switch_send(sw, sw->sm_lid, p);
}

static void send_and_wait(struct loop_timer *timer)
{
	struct ib_switch *sw = container_of(timer, struct ib_switch, trap.timer);

	send(sw);
	loop_timer_set(sw->loop, timer, TIMEOUT_UNIT_NS << sw->subnet_timeout);
}

void switch_trap(struct ib_switch *sw)
{
	if (!sw->lid || !sw->sm_lid)
		return;
	sw->trap.tid++;
	sw->trap.timer.handler = send_and_wait;
	send_and_wait(&sw->trap.timer);
}

void switch_trap_repressed(struct ib_switch *sw, const uint8_t mad[256])
{
	if (be16_at(mad + MAD_ATTR) == ATTR_NOTICE && be64_at(mad + MAD_TID) == sw->trap.tid)
		loop_timer_cancel(sw->loop, &sw->trap.timer);
}
