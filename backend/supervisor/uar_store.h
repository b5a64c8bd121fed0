/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * uar_store.h - the supervisor's side of the banks of one vHCA (see vhca/uar.h): one for each HCA that the
 * vHCA has been on since its domain exists. The holder is told of each: see holder.h.
 *
 * When an HCA's driver is reloaded the HCA forgets who had which page, and gives them out again,
 * while a PV guest may have some mapped for as long as it lives. Such a bank is stale. The pages of
 * all stale banks are allocated once more, on a file that is used for nothing else and that these
 * share: then they are held, and nobody else is given them, dom0 included. Where that fails, because
 * somebody has one already, the HCA serves nobody but that domain until the domain is gone.
 */
#ifndef XEN_IB_SUPERVISOR_UAR_STORE_H
#define XEN_IB_SUPERVISOR_UAR_STORE_H

#include <stdbool.h>
#include <sys/queue.h>

#include "hca/uverbs.h"

/* A stale one has a name that no HCA can have, with a slash: the holder tells the next supervisor. */
struct bank {
	char hca[UVERBS_NAME_MAX];
	int file, records;
	bool stale;
	bool complained; /* that it cannot be held */
	LIST_ENTRY(bank) link;
};

LIST_HEAD(banks_list, banks);

/* All banks there are. */
struct bank_store {
	int holder; /* the socket to the holder, which may change; -1 while there is none */
	struct banks_list vhcas;
	char stale[64]; /* whose pages cannot be held: "domain 5", "domains 5, 7" */
};

struct banks {
	unsigned int domid, devid;
	bool revocable; /* the domain is auto-translated, so that a page that was denied is out of its reach */
	struct bank_store *store;
	LIST_HEAD(bank_list, bank) list;
	LIST_ENTRY(banks) link;
};

void banks_init(struct banks *banks, unsigned int domid, unsigned int devid, struct bank_store *store);

/* banks_adopt - one that the holder has; the descriptors are ours from now on. 0 or -ENOMEM. */
int banks_adopt(struct banks *banks, const char *hca, const int fds[2]);

/*
 * banks_get - the bank on an HCA, made if there is none, or if the HCA was taken from its driver
 * since. Stale banks on that HCA, whoever's, are held before. NULL, with -errno in *err; -EBUSY:
 * some cannot be, of the domains that store->stale names.
 */
struct bank *banks_get(struct banks *banks, const char *hca, int *err);

/* banks_tell - tells a new holder of all. */
void banks_tell(const struct banks *banks);

/*
 * banks_trim - for a vHCA that has been taken away from a domain that lives: closes the banks with
 * nothing that the guest can still reach.
 */
void banks_trim(struct banks *banks);

/* banks_close - all of them: the domain is gone. */
void banks_close(struct banks *banks);

#endif
