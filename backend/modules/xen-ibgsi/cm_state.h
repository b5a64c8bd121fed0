/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * cm_state.h - what the messages of a connection have said of it so far, and which may follow from
 * the guest. Has nothing of the kernel: a unit test runs it as it is. The caller has a lock.
 */
#ifndef XEN_IBGSI_CM_STATE_H
#define XEN_IBGSI_CM_STATE_H

#include "cm_mad.h"

enum cm_stage {
	CM_BEGUN,
	CM_OFFERED, /* the guest has agreed to what it was asked, and has no word of the other's */
	CM_OPEN,
	CM_ENDED, /* by one of them; stays for MADs that come late */
	CM_STAGES,
};

struct cm_state {
	__u32 peer; /* the other's id; 0: not known yet */
	__u16 lid;  /* of the other */
	bool by_peer, sidr;
	enum cm_stage stage;
};

/** cm_state_ask() - the guest asks, for the first time or again. */
void cm_state_ask(struct cm_state *state, enum cm_kind kind, __u16 lid);

/**
 * cm_state_fits() - whether the guest may send it now.
 * @kind: one that does not ask
 * @peer: the other's id in it
 */
bool cm_state_fits(const struct cm_state *state, enum cm_kind kind, __u32 peer);

/** cm_state_say() - the guest sends it, and may. */
void cm_state_say(struct cm_state *state, enum cm_kind kind);

/**
 * cm_state_hear() - it has come from the other.
 * @id: the other's in it
 */
void cm_state_hear(struct cm_state *state, enum cm_kind kind, __u32 id);

#endif
