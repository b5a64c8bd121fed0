/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * ah.h - address handles, which hold the address vector as a WQE has it.
 */
#ifndef XENIB_AH_H
#define XENIB_AH_H

#include <infiniband/driver.h>
#include "queue/format.h"

struct xenib_ah {
	struct ibv_ah ah;
	struct xenib_av av; /* all but the remote QP's number and key */
};

static inline struct xenib_ah *to_xah(struct ibv_ah *ah)
{
	return container_of(ah, struct xenib_ah, ah);
}

#endif
