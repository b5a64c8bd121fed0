/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the parts of the program "capabilities" have in common. Each prints lines "name value".
 */
#ifndef CAPABILITIES_H
#define CAPABILITIES_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

/* What is tried with QPs that write to themselves. */
void capabilities_try(struct ibv_context *ctx, uint8_t port);

#endif
