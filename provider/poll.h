/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * poll.h - what ibv_poll_cq() and the extended interface have in common, beside queue/cqe.h.
 */
#ifndef XENIB_POLL_H
#define XENIB_POLL_H

#include "cq.h"
#include "queue/cqe.h"

/** xenib_error_status() - the status that a syndrome of the HCA means. */
enum ibv_wc_status xenib_error_status(uint8_t syndrome);

#endif
