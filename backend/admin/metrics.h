/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * metrics.h - what the vHCAs have and did, in Prometheus' text format. docs/administration.md has the names.
 */
#ifndef XEN_IB_ADMIN_METRICS_H
#define XEN_IB_ADMIN_METRICS_H

#include <stdio.h>

#include "admin/listing.h"

void metrics_write(FILE *to, const struct listing *listings, unsigned int n, const char *release);

#endif
