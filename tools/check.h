/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * check.h - the parts of xen-ib check. Each looks at one thing and reports what it finds.
 */
#ifndef XEN_IB_CHECK_H
#define XEN_IB_CHECK_H

#define __XEN_TOOLS__ 1
#include <xenctrl.h> /* before any other header of Xen */

#include "check_guests.h"
#include "vhcas.h"

enum check_result { CHECK_OK, CHECK_WARNING, CHECK_PROBLEM };

/* What is known of the host before anything is checked. */
struct host {
	const struct options *options;
	unsigned int own; /* the domain that we are in; not 0: a driver domain */
	xc_interface *xc; /* NULL: no hypervisor, or no access to it, as in a driver domain */
	char command_line[1024];    /* Xen's */
	bool pv;                    /* this domain */
	bool lends;                 /* a driver domain serves guests */
	char managed[LISTING_TEXT]; /* a guest whose configuration has kernel=on, or "" */
	struct guests guests;       /* that have vHCAs, or are configured to */
};

/*
 * check_report - one finding. todo: what to do about it, NULL if there is nothing to do; the text is of people's.
 */
__attribute__((format(printf, 4, 5))) void check_report(enum check_result result, const char *what,
							const char *todo, const char *text, ...);

/* What becomes of a finding; text is the finding itself. */
typedef void check_fn(enum check_result result, const char *what, const char *todo,
		      const char *text);

/* check_attached - of a guest that has been given a vHCA: whether there are grants for it. Findings go to fn. */
void check_attached(const struct options *options, unsigned int domid, check_fn *fn);

/*
 * check_xen_option - the value of an option on Xen's command line ("dom0_mem"); of several the last one, as Xen takes
 * them. False: it was not given.
 */
bool check_xen_option(const struct host *host, const char *name, char *value, size_t size);

void check_xen(struct host *host);    /* check_xen.c: version, modules, the daemon */
void check_memory(struct host *host); /* check_memory.c: ballooning, grants, IOMMU */
void check_memory_of(struct host *host, unsigned int domid); /* grants, of this guest */
void check_hcas(struct host *host);                          /* check_hca.c */
void check_management(struct host *host); /* check_hca.c: xen-ibgsi, if it is wanted */
void check_sa(const char *hca, int port); /* check_sa.c: asks the subnet's SA whether it is there */

#endif
