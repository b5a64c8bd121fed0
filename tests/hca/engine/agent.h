/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Management datagrams that the firmware answers itself, without the driver. */
#ifndef HCA_AGENT_H
#define HCA_AGENT_H

#include <stdbool.h>

struct hca;
struct packet;

/*
 * A packet has arrived at the port. True if it was a request to the port's performance management
 * agent: the answer is on its way (unless there is no packet left for it), and the driver does not
 * see the request. The packet stays the caller's.
 *
 * Cards do this: mlx5_ib answers such a request itself where vport_counters is set, but only with
 * the data that sysfs asks it for, and without the header of a MAD.
 */
bool agent_answers(struct hca *hca, const struct packet *p);

#endif
