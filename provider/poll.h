/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * poll.h - what ibv_poll_cq() and the extended interface have in common, beside queue/cqe.h.
 */
#ifndef XENIB_POLL_H
#define XENIB_POLL_H

#include "cq.h"
#include "queue/cqe.h"

#endif
