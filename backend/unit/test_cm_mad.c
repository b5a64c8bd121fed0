// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_cm_mad.c - messages of connection managers: which there are, the ids that they carry, what they
 * ask for, what they say of their sender, and in which order a guest may send those of a connection.
 */
#include <string.h>

#include "modules/xen-ibgsi/cm_mad.h"
#include "modules/xen-ibgsi/cm_state.h"
#include "unit/fakes/fixture.h"

static const struct cm_own own = {
	.gid = { 0xfe, 0x80, [15] = 7 },
	.guid = { 0x02, [7] = 9 },
	.lid = 0x10,
	.lid_mask = 0xfffc,
};

/* A message of which each byte is another one, but what tells what it is. */
static void fill(__u8 *mad, enum cm_kind kind)
{
	unsigned int i;

	for (i = 0; i < CM_MAD_SIZE; i++)
		mad[i] = i;
	mad[0] = 1;
	mad[1] = 7;
	mad[2] = 2;
	mad[3] = 3;
	mad[16] = 0;
	mad[17] = kind;
}

static void kinds(void)
{
	static const unsigned int where[] = { 0, 1, 2, 3, 16 };
	__u8 mad[CM_MAD_SIZE];
	unsigned int i;

	for (i = 0; i < 256; i++) {
		fill(mad, (enum cm_kind)i);
		CHECK(cm_kind(mad) == (i >= 0x10 && i <= 0x1a ? i : CM_NONE));
	}
	for (i = 0; i < sizeof(where) / sizeof(where[0]); i++) {
		fill(mad, CM_REQ);
		mad[where[i]]++;
		CHECK(cm_kind(mad) == CM_NONE);
	}
	CHECK(cm_asks(CM_REQ) && cm_asks(CM_SIDR_REQ) && !cm_asks(CM_REP) && !cm_asks(CM_SIDR_REP));
	CHECK(cm_is_sidr(CM_SIDR_REQ) && cm_is_sidr(CM_SIDR_REP) && !cm_is_sidr(CM_REQ));
	CHECK(cm_ends(CM_REJ) && cm_ends(CM_DREQ) && cm_ends(CM_DREP) && cm_ends(CM_SIDR_REP));
	CHECK(!cm_ends(CM_REQ) && !cm_ends(CM_REP) && !cm_ends(CM_RTU) && !cm_ends(CM_MRA));
}

/* What changes is the id, and nothing else. */
static void changed(const __u8 *mad, enum cm_kind kind, unsigned int at)
{
	__u8 before[CM_MAD_SIZE];
	unsigned int i;

	fill(before, kind);
	for (i = 0; i < CM_MAD_SIZE; i++) {
		if (at && i >= at && i < at + 4)
			CHECK(mad[i] == 0xa0 + i - at);
		else
			CHECK(mad[i] == before[i]);
	}
}

/* at: where the ids are; 0: none */
static void ids_of(enum cm_kind kind, unsigned int local, unsigned int remote)
{
	__u8 mad[CM_MAD_SIZE];

	fill(mad, kind);
	CHECK(cm_local_id(kind, mad) == (local ? 0x18191a1b : 0));
	CHECK(cm_remote_id(kind, mad) == (!remote ? 0 : remote == 24 ? 0x18191a1b : 0x1c1d1e1f));
	cm_set_local_id(kind, mad, 0xa0a1a2a3);
	changed(mad, kind, local);
	fill(mad, kind);
	cm_set_remote_id(kind, mad, 0xa0a1a2a3);
	changed(mad, kind, remote);
}

static void ids(void)
{
	ids_of(CM_REQ, 24, 0);
	ids_of(CM_SIDR_REQ, 24, 0);
	ids_of(CM_SIDR_REP, 0, 24);
	ids_of(CM_REP, 24, 28);
	ids_of(CM_RTU, 24, 28);
	ids_of(CM_REJ, 24, 28);
	ids_of(CM_MRA, 24, 28);
	ids_of(CM_DREQ, 24, 28);
	ids_of(CM_DREP, 24, 28);
}

/* A service of rdma_cm's: port space and port do not matter; versions do. */
static void fill_ip(__u8 *mad, enum cm_kind kind, unsigned int data, unsigned int family)
{
	static const __u8 service[8] = { 0, 0, 0, 0, 1, 6, 0x1b, 0x58 };

	fill(mad, kind);
	memcpy(mad + 32, service, sizeof(service));
	mad[data] = 0;
	mad[data + 1] = family << 4;
}

static void destination_of(enum cm_kind kind, unsigned int data)
{
	__u8 mad[CM_MAD_SIZE];
	struct cm_addr to;
	unsigned int i;

	fill_ip(mad, kind, data, 4);
	CHECK(cm_destination(kind, mad, &to) && to.family == 4);
	CHECK(!memcmp(to.at, mad + data + 32, 4) && !to.at[4] && !to.at[15]);
	fill_ip(mad, kind, data, 6);
	CHECK(cm_destination(kind, mad, &to) && to.family == 6);
	CHECK(!memcmp(to.at, mad + data + 20, 16));
	for (i = 0; i < 16; i++) {
		fill_ip(mad, kind, data, i);
		CHECK(cm_destination(kind, mad, &to) == (i == 4 || i == 6));
	}
	for (i = 32; i < 37; i++) {
		fill_ip(mad, kind, data, 4);
		mad[i]++;
		CHECK(!cm_destination(kind, mad, &to));
	}
	fill_ip(mad, kind, data, 4);
	mad[data] = 1;
	CHECK(!cm_destination(kind, mad, &to));
}

static void ipoib(void)
{
	static const __u8 service[8] = { 0x10, 0, 0, 0, 0, 0xab, 0xcd, 0xef };
	__u8 mad[CM_MAD_SIZE];
	struct cm_addr to;
	unsigned int i;

	fill(mad, CM_REQ);
	memcpy(mad + 32, service, sizeof(service));
	CHECK(cm_ipoib_asked(CM_REQ, mad) == 0xabcdef && !cm_destination(CM_REQ, mad, &to));
	CHECK(!cm_ipoib_asked(CM_SIDR_REQ, mad) && !cm_ipoib_asked(CM_REP, mad));
	CHECK(cm_ipoib_own(CM_REQ, mad) == 0xa4a5a6a7 && cm_ipoib_own(CM_REP, mad) == 0x3c3d3e3f);
	for (i = 32; i < 37; i++) {
		mad[i]++;
		CHECK(!cm_ipoib_asked(CM_REQ, mad));
		mad[i]--;
	}
	fill_ip(mad, CM_REQ, 164, 4);
	CHECK(!cm_ipoib_asked(CM_REQ, mad));
}

static void fill_own(__u8 *mad, enum cm_kind kind)
{
	fill(mad, kind);
	memcpy(mad + (kind == CM_REQ ? 40 : 52), own.guid, sizeof(own.guid));
	if (kind != CM_REQ)
		return;
	mad[76] = 0;
	mad[77] = 0x12;
	memcpy(mad + 80, own.gid, sizeof(own.gid));
	memset(mad + 120, 0, 44);
}

/* Each byte of it, changed. */
static void claim(enum cm_kind kind, unsigned int at, unsigned int size)
{
	__u8 mad[CM_MAD_SIZE];
	unsigned int i;

	for (i = at; i < at + size; i++) {
		fill_own(mad, kind);
		mad[i] ^= 0x40;
		CHECK(!cm_claims_only(kind, mad, &own));
	}
}

static void claims(void)
{
	__u8 mad[CM_MAD_SIZE];

	fill_own(mad, CM_REQ);
	CHECK(cm_claims_only(CM_REQ, mad, &own));
	claim(CM_REQ, 40, 8);
	claim(CM_REQ, 76, 2);
	claim(CM_REQ, 80, 16);
	/* Of several LIDs one chooses a path; or the packets' is meant. */
	mad[77] = 0x14;
	CHECK(!cm_claims_only(CM_REQ, mad, &own));
	mad[76] = 0xff;
	mad[77] = 0xff;
	CHECK(cm_claims_only(CM_REQ, mad, &own));
	mad[80]++;
	CHECK(!cm_claims_only(CM_REQ, mad, &own));
	/* The other path */
	fill_own(mad, CM_REQ);
	mad[121] = 0x10;
	CHECK(!cm_claims_only(CM_REQ, mad, &own));
	memcpy(mad + 124, own.gid, sizeof(own.gid));
	CHECK(cm_claims_only(CM_REQ, mad, &own));
	mad[121] = 0x20;
	CHECK(!cm_claims_only(CM_REQ, mad, &own));

	fill_own(mad, CM_REP);
	CHECK(cm_claims_only(CM_REP, mad, &own));
	claim(CM_REP, 52, 8);
	fill(mad, CM_DREQ);
	CHECK(cm_claims_only(CM_DREQ, mad, &own));
}

/* ---- the order of a connection's messages ---- */

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
	CHECK(state.stage == CM_OPEN && fits(&state, CM_DREQ, 5) && !fits(&state, CM_DREQ, 6));
	cm_state_say(&state, CM_DREQ);
	CHECK(state.stage == CM_ENDED);
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
	CHECK(state.stage == CM_ENDED && state.peer == 5);
	cm_state_ask(&state, CM_REQ, LID);
	CHECK(state.stage == CM_BEGUN && !fits(&state, CM_RTU, 5));
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
	CHECK(state.stage == CM_ENDED);
}

/* What the guest says alone opens nothing, and nothing opens what has ended. */
static void is_confirmed(void)
{
	struct cm_state state = { .peer = 5, .lid = LID, .by_peer = true };

	cm_state_hear(&state, CM_RTU, 5);
	cm_state_say(&state, CM_MRA);
	CHECK(state.stage == CM_BEGUN);
	cm_state_say(&state, CM_REP);
	cm_state_say(&state, CM_REP);
	CHECK(state.stage == CM_OFFERED);
	cm_state_hear(&state, CM_RTU, 5);
	cm_state_say(&state, CM_REP);
	CHECK(state.stage == CM_OPEN);
	cm_state_hear(&state, CM_DREQ, 5);
	cm_state_say(&state, CM_REP);
	cm_state_hear(&state, CM_RTU, 5);
	CHECK(state.stage == CM_ENDED);
}

static void is_refused_after_an_offer(void)
{
	struct cm_state state = { .peer = 5, .lid = LID, .by_peer = true };

	cm_state_say(&state, CM_REP);
	cm_state_hear(&state, CM_REJ, 5);
	cm_state_say(&state, CM_REP);
	CHECK(state.stage == CM_ENDED);
}

static void partition_of(enum cm_kind kind, unsigned int at)
{
	__u8 mad[CM_MAD_SIZE];

	fill(mad, kind);
	mad[at] = 0x80;
	mad[at + 1] = 0x23;
	CHECK(cm_asked_pkey(kind, mad) == 0x8023);
}

static void asker(void)
{
	const __u8 guid[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	__u8 mad[CM_MAD_SIZE];
	__be64 said;

	fill(mad, CM_REQ);
	memcpy(mad + 40, guid, sizeof(guid));
	said = cm_asker(CM_REQ, mad);
	CHECK(!memcmp(&said, guid, sizeof(guid)) && !cm_asker(CM_SIDR_REQ, mad));
}

int main(void)
{
	kinds();
	ids();
	destination_of(CM_REQ, 164);
	destination_of(CM_SIDR_REQ, 40);
	ipoib();
	claims();
	connects();
	asks_after(false);
	asks_after(true);
	asks_again();
	is_asked();
	is_confirmed();
	is_refused_after_an_offer();
	asker();
	partition_of(CM_REQ, 72);
	partition_of(CM_SIDR_REQ, 28);
	return 0;
}
