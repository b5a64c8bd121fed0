/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * supervisor.h - finds the vHCAs of this domain in xenstore and keeps a worker for each.
 */
#ifndef XEN_IB_SUPERVISOR_SUPERVISOR_H
#define XEN_IB_SUPERVISOR_SUPERVISOR_H

#include <stdbool.h>

/* supervisor_main - runs until SIGTERM or SIGINT. Returns the exit status. */
int supervisor_main(bool verbose);

#endif
