/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * av.h - address vectors. A WR copies one that was made for its address handle.
 */
#ifndef XENIB_QUEUE_AV_H
#define XENIB_QUEUE_AV_H

#include "queue/format.h"

/**
 * xenib_av_init() - a path within the subnet. @av is zero.
 * @rate: enum ibv_rate, which is the kernel's enum ib_rate
 */
void xenib_av_init(struct xenib_av *av, u32 rate, u8 sl, u8 path_bits, u16 dlid);

/**
 * xenib_av_set_grh() - adds a global route.
 */
void xenib_av_set_grh(struct xenib_av *av, const u8 *dgid, u8 sgid_index, u32 flow_label,
		      u8 hop_limit, u8 traffic_class);

#endif
