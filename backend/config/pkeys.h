/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * pkeys.h - which entries of a port's table of P_Keys a vHCA may use: "0+3+8-15" are their indices. The
 * fabric's partitions are the subnet manager's; this says which of those that the port is in are the
 * guest's, too.
 */
#ifndef XEN_IB_CONFIG_PKEYS_H
#define XEN_IB_CONFIG_PKEYS_H

#include <stdbool.h>
#include <stdint.h>

#define CONFIG_PKEYS "pkeys" /* key, here and in the backend's xenstore directory */
#define PKEYS_MAX 128        /* indices are below this, if they are given at all */
#define PKEYS_TEXT 512       /* that names them all, with the end */

/* Zeroed: all of them. */
struct pkeys {
	bool given;
	uint64_t bits[PKEYS_MAX / 64];
};

/* pkeys_parse - false: no list of indices and ranges. *pkeys is not to be used then. */
bool pkeys_parse(const char *text, struct pkeys *pkeys);

/* pkeys_format - of pkeys that are given. */
void pkeys_format(char text[PKEYS_TEXT], const struct pkeys *pkeys);

/* pkeys_has - whether an index may be used. */
bool pkeys_has(const struct pkeys *pkeys, uint32_t index);

#endif
