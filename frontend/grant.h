/* SPDX-License-Identifier: GPL-2.0 */
/*
 * grant.h - grants for pages that the HCA is to use, a reference for each.
 */
#ifndef XENIB_GRANT_H
#define XENIB_GRANT_H

#include <linux/mm_types.h>
#include <xen/grant_table.h>

/*
 * Grants count pages to a domain. refs: room for as many references. Returns -ENOMEM when the grant
 * table is full, -EINTR when the process is killed meanwhile; then nothing is granted.
 */
int xenib_grants_make(struct page **pages, size_t count, domid_t domid, bool readonly,
		      grant_ref_t *refs);

/*
 * Whoever owes pages: fault is called, once, when the other domain still has some mapped a while
 * after it has said that it has not.
 */
struct xenib_grantee {
	void (*fault)(struct xenib_grantee *grantee);
};

/*
 * Ends these grants. A page that the other domain still has mapped is held, its reference not
 * reused, until that has ended (XSA-396); the caller can give up the pages in any case. grantee:
 * the other domain has said that nothing is mapped; NULL: it has not.
 */
void xenib_grants_end(struct page **pages, size_t count, const grant_ref_t *refs,
		      struct xenib_grantee *grantee);

/* The connection ends, and with it the promises: fault is not called any more. */
void xenib_grantee_forget(struct xenib_grantee *grantee);

/* Tries the held pages again, now. */
void xenib_grants_retry(void);

/* For the module's end: what is held even now goes to the kernel's own list. */
void xenib_grants_exit(void);

#endif
