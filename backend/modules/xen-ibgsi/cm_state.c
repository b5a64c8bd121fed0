// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cm_state.c - see cm_state.h.
 */
#include "cm_state.h"

/*
 * A guest uses an id again after a REJ, and the other side then has a new one. While nothing has
 * ended the other's stays: a REQ that is sent again may cross the REP, which an RTU has to answer.
 */
void cm_state_ask(struct cm_state *state, enum cm_kind kind, __u16 lid)
{
	if (state->stage == CM_ENDED || state->lid != lid)
		state->peer = 0;
	state->lid = lid;
	state->sidr = cm_is_sidr(kind);
	state->stage = CM_BEGUN;
}

bool cm_state_fits(const struct cm_state *state, enum cm_kind kind, __u32 peer)
{
	if (state->sidr != cm_is_sidr(kind))
		return false;
	switch (kind) {
	case CM_REP:
	case CM_SIDR_REP:
		return state->by_peer && peer == state->peer;
	case CM_RTU:
		return !state->by_peer && state->peer && peer == state->peer;
	case CM_REJ: /* of what was not answered, too */
		return !peer || peer == state->peer;
	default:
		return state->peer && peer == state->peer;
	}
}

void cm_state_say(struct cm_state *state, enum cm_kind kind)
{
	if (cm_ends(kind))
		state->stage = CM_ENDED;
	else if (kind == CM_REP && state->stage == CM_BEGUN)
		state->stage = CM_OFFERED;
	else if (kind == CM_RTU && state->stage == CM_BEGUN)
		state->stage = CM_OPEN;
}

void cm_state_hear(struct cm_state *state, enum cm_kind kind, __u32 id)
{
	if (!state->by_peer && !state->peer)
		state->peer = id;
	if (cm_ends(kind))
		state->stage = CM_ENDED;
	else if (kind == CM_RTU && state->stage == CM_OFFERED)
		state->stage = CM_OPEN;
}
