/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * uar_search.h - finds the pages of stale UAR pools again, and holds them (see uar_store.h). An HCA may have to be asked
 * for each page that it has, which takes seconds. So it is done a bit at a time, beside what the supervisor does else. Nobody
 * is given a UAR pool on the HCA before it is done.
 */
#ifndef XEN_IB_SUPERVISOR_UAR_SEARCH_H
#define XEN_IB_SUPERVISOR_UAR_SEARCH_H

#include "supervisor/uar_store.h"

#define UAR_SEARCH_STEP_MS 50

/*
 * uar_search_check - whether all is held on an HCA, for a vHCA that is to use it; if not, begins a search. 0 or -errno;
 * -EAGAIN: it is being done; -EBUSY: not for pages of the domains that store->stale names.
 */
int uar_search_check(const struct uar_pools *own, const char *hca);

/*
 * uar_search_step - goes on for UAR_SEARCH_STEP_MS and one page. Returns in how many milliseconds to call again:
 * 0, or -1 if no search is at work.
 */
int uar_search_step(struct uar_store *store);

/* uar_search_end - gives it up. */
void uar_search_end(struct uar_store *store);

#endif
