// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_cm_state.c - the order in which a guest may send the messages of a connection, and with which ids of its peer.
 */
#include "modules/xen-ibgsi/cm_state.h"
#include "unit/fakes/fixture.h"

#define LID 7

static bool fits(const struct cm_state *state, enum cm_kind kind, __u32 peer)
{
	return cm_state_fits(state, kind, peer);
}

static void connects(void)
{
	struct cm_state state = { 0 };

	cm_state_ask(&state, CM_REQ, LID);
	CHECK(!state.peer && !state.sidr && state.lid == LID);
	CHECK(!fits(&state, CM_RTU, 5) && !fits(&state, CM_RTU, 0) && fits(&state, CM_REJ, 0));
	cm_state_hear(&state, CM_REP, 5);
	CHECK(fits(&state, CM_RTU, 5) && !fits(&state, CM_RTU, 6) && !fits(&state, CM_REP, 5));
	CHECK(!fits(&state, CM_SIDR_REP, 5) && !fits(&state, CM_REJ, 6));
	cm_state_say(&state, CM_RTU);
	CHECK(!state.ended && fits(&state, CM_DREQ, 5) && !fits(&state, CM_DREQ, 6));
	cm_state_say(&state, CM_DREQ);
	CHECK(state.ended);
}

/* The guest uses its id again, at the same port: the peer has another one then. */
static void asks_after(bool guest_ends)
{
	struct cm_state state = { 0 };

	cm_state_ask(&state, CM_REQ, LID);
	cm_state_hear(&state, CM_MRA, 5);
	if (guest_ends)
		cm_state_say(&state, CM_REJ);
	else
		cm_state_hear(&state, CM_REJ, 5);
	CHECK(state.ended && state.peer == 5);
	cm_state_ask(&state, CM_REQ, LID);
	CHECK(!state.ended && !fits(&state, CM_RTU, 5));
	cm_state_hear(&state, CM_REP, 6);
	CHECK(fits(&state, CM_RTU, 6) && !fits(&state, CM_RTU, 5));
}

/* A REQ that is sent again has crossed the REP; one to another port has another peer. */
static void asks_again(void)
{
	struct cm_state state = { 0 };

	cm_state_ask(&state, CM_REQ, LID);
	cm_state_hear(&state, CM_REP, 5);
	cm_state_ask(&state, CM_REQ, LID);
	CHECK(fits(&state, CM_RTU, 5));
	cm_state_ask(&state, CM_REQ, LID + 1);
	CHECK(!state.peer && state.lid == LID + 1 && !fits(&state, CM_RTU, 5));
}

static void is_asked(void)
{
	struct cm_state state = { .peer = 5, .lid = LID, .by_peer = true };

	CHECK(fits(&state, CM_REP, 5) && !fits(&state, CM_REP, 6) && !fits(&state, CM_RTU, 5));
	cm_state_hear(&state, CM_RTU, 6);
	CHECK(state.peer == 5);
	state.sidr = true;
	CHECK(fits(&state, CM_SIDR_REP, 5) && !fits(&state, CM_REP, 5));
	cm_state_say(&state, CM_SIDR_REP);
	CHECK(state.ended);
}

int main(void)
{
	connects();
	asks_after(false);
	asks_after(true);
	asks_again();
	is_asked();
	return 0;
}
