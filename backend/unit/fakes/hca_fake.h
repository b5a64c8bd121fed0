/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * hca_fake.h - an HCA that only keeps books, and aborts where the real one would be used wrongly:
 * objects that do not exist or are still needed, memory that is not mapped when it is registered,
 * or not mapped any more when it is let go.
 */
#ifndef XEN_IB_HCA_FAKE_H
#define XEN_IB_HCA_FAKE_H

#include "hca/hca.h"
#include "unit/fakes/fake_state.h"

#define FAKE_TICKS 0x123456789abcdefull /* its clock stands */

void fake_init(struct fake_hca *fake);
void fake_fini(struct fake_hca *fake);

/*
 * fake_complete, fake_async - an event of the CQ (or CQ, QP, SRQ) that was made with this user.
 * False: there is none.
 */
bool fake_complete(struct fake_hca *fake, uint64_t user);
bool fake_async(struct fake_hca *fake, uint64_t user, uint32_t type);

/* fake_flood - as fake_complete(), and from now on completion events never come to an end. */
bool fake_flood(struct fake_hca *fake, uint64_t user);

/*
 * fake_meet_set - from now on allocating a PD takes until n are at it. fake_met: how many are.
 * fake_meet: is one of them, and waits for the others. If they do not come in half a minute, it aborts.
 */
void fake_meet_set(struct fake_hca *fake, unsigned int n);
unsigned int fake_met(struct fake_hca *fake);
void fake_meet(struct fake_hca *fake);

/* fake_port - an event of the port or the device, of which every context hears. */
void fake_port(struct fake_hca *fake, uint32_t type);

#endif
