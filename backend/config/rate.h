/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * rate.h - the static rates that InfiniBand has for the path of a QP (IBTA, PathRecord.Rate).
 */
#ifndef XEN_IB_CONFIG_RATE_H
#define XEN_IB_CONFIG_RATE_H

#include <stdint.h>

/* rate_find - the rate of this name ("2.5G", "10G"), in Mb/s; 0: there is none. */
uint32_t rate_find(const char *name);

/* rate_name - of a rate in Mb/s; NULL: it is none. */
const char *rate_name(uint64_t mbps);

/* rate_mbps - of a value of enum ib_rate; 0: it is none, such as that of the port. */
uint32_t rate_mbps(uint8_t rate);

/* rate_encode - the value of enum ib_rate; 0 if it is none. */
uint8_t rate_encode(uint64_t mbps);

#endif
