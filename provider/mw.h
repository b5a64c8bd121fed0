/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * mw.h - binding memory windows by WQEs.
 */
#ifndef XENIB_MW_H
#define XENIB_MW_H

#include <infiniband/driver.h>

#include "queue/queues.h"

/**
 * xenib_put_mw() - the rest of a WQE that binds a memory window, or, with a length of 0,
 * invalidates it.
 * @new_key: the window's new key; only its lowest byte matters.
 *
 * The next WQE waits for this one.
 *
 * Return: 0; EINVAL for a length without MR, or if the queue was made without room for this;
 * EOPNOTSUPP for more than 2 GiB.
 */
int xenib_put_mw(struct xenib_sq *sq, struct xenib_wqe *wqe, enum ibv_mw_type type,
		 uint32_t new_key, const struct ibv_mw_bind_info *info);

#endif
