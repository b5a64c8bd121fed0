/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * guid.h - node GUIDs: by them the fabric tells vHCAs on one port apart, where it sees more of one than
 * the port. They are as numbers here, and 16 hexadecimal digits in text.
 */
#ifndef XEN_IB_CONFIG_GUID_H
#define XEN_IB_CONFIG_GUID_H

#include <stdbool.h>
#include <stdint.h>

#define GUID_TEXT 17 /* with the end */

/*
 * guid_make - one that nobody has chosen: Xen's prefix 00163e, marked as local, and 40 bits that
 * depend on both.
 * @domain: what tells the domain from others and stays with it: its UUID
 */
uint64_t guid_make(const char *domain, unsigned int devid);

/* guid_parse - with colons after each four digits or without. False: it is none, or 0. */
bool guid_parse(const char *text, uint64_t *guid);

void guid_format(char text[GUID_TEXT], uint64_t guid);

#endif
