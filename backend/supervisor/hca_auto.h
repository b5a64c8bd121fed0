/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * hca_auto.h - which HCA serves a vHCA whose configuration says "hca=auto".
 */
#ifndef XEN_IB_SUPERVISOR_HCA_AUTO_H
#define XEN_IB_SUPERVISOR_HCA_AUTO_H

#include <stdbool.h>
#include <stddef.h>

extern const char *hca_auto_class; /* another one than /sys/class/infiniband in tests */

/* How many vHCAs an HCA has. */
typedef unsigned int hca_load(void *from, const char *name);

/*
 * hca_auto - of the HCAs that can serve this port: one whose port is ACTIVE before others, of these
 * the one with the fewest vHCAs, of these the first by name. False: none can.
 */
bool hca_auto(unsigned int port, hca_load *load, void *from, char *name, size_t size);

#endif
