/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * vhcas.h - the vHCAs of this host, as the daemon lists them.
 */
#ifndef XEN_IB_VHCAS_H
#define XEN_IB_VHCAS_H

#include "admin/listing.h"
#include "client.h"
#include "tool.h"

struct vhcas {
	struct listing *list;
	unsigned int n;
};

/*
 * vhcas_ask - verb is "list" or "show"; domain and devid may be NULL. Returns the status; unless that is TOOL_OK,
 * why says what is wrong, if it is not NULL, and there are none.
 */
int vhcas_ask(struct vhcas *vhcas, const char *socket, const char *verb, const char *domain,
	      const char *devid, struct answer *why);

/* vhcas_from_xenstore - what is known without the daemon; domain may be NULL. False: not even that. */
bool vhcas_from_xenstore(struct vhcas *vhcas, const char *domain);

void vhcas_free(struct vhcas *vhcas);

/* vhca_state - in a word: that of the backend, or "detaching". */
const char *vhca_state(const struct listing *vhca);

/* vhca_works - the guest uses it. */
bool vhca_works(const struct listing *vhca);

/* vhca_name - the domain, "guest1 (5)"; returns text. */
#define VHCA_NAME_MAX (LISTING_TEXT + 16)
const char *vhca_name(char text[VHCA_NAME_MAX], const struct listing *vhca);

/* vhca_json - the vHCA's members, into an object that is open; those of its status if it has one. */
void vhca_json(const struct listing *vhca);

#endif
