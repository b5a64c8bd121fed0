/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * services.h - which services a guest offers to whoever asks for them by the port's GID, beside those that
 * its IP addresses and its own GID lead to: ids of the connection manager, as "0x1000000+0x1000001".
 */
#ifndef XEN_IB_CONFIG_SERVICES_H
#define XEN_IB_CONFIG_SERVICES_H

#include <stdbool.h>
#include <stdint.h>

#define CONFIG_SERVICE "service" /* key, here and in the backend's xenstore directory */
#define SERVICES_MAX 8           /* of a vHCA */
#define SERVICES_TEXT (SERVICES_MAX * 19 + 1)

struct services {
	unsigned int n;
	uint64_t id[SERVICES_MAX]; /* none is 0 */
};

/*
 * services_parse - false: no list of 1 to SERVICES_MAX hexadecimal numbers, each with 0x or without, none
 * of them 0 or twice. *services is not to be used then.
 */
bool services_parse(const char *text, struct services *services);

/* services_format - of at least one. */
void services_format(char text[SERVICES_TEXT], const struct services *services);

#endif
