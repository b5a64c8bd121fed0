/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * bank.h - the supervisor's side of the banks of one vHCA (see uar.h): one for each HCA that the
 * vHCA has been on since its domain exists. The holder is told of each: see holder.h.
 */
#ifndef XEN_IB_BANK_H
#define XEN_IB_BANK_H

#include <stdbool.h>
#include <sys/queue.h>

#include "uverbs.h"

struct bank {
	char hca[UVERBS_NAME_MAX];
	int file, records;
	LIST_ENTRY(bank) link;
};

/* holder: the socket to the holder, which may change; -1 while there is none. */
struct banks {
	unsigned int domid, devid;
	const int *holder;
	LIST_HEAD(bank_list, bank) list;
};

void banks_init(struct banks *banks, unsigned int domid, unsigned int devid, const int *holder);

/* banks_adopt - one that the holder has; the descriptors are ours from now on. 0 or -ENOMEM. */
int banks_adopt(struct banks *banks, const char *hca, const int fds[2]);

/*
 * banks_get - the bank on an HCA, made if there is none, or if the HCA was taken from its driver
 * since: its UARs are no more then. NULL, with -errno in *err.
 */
struct bank *banks_get(struct banks *banks, const char *hca, int *err);

/* banks_tell - tells a new holder of all. */
void banks_tell(const struct banks *banks);

/*
 * banks_trim - for a vHCA that has been taken away from a domain that lives: closes the banks with
 * nothing that the guest can still reach.
 * @revocable: the domain is auto-translated, so that a page that was denied is out of its reach
 */
void banks_trim(struct banks *banks, bool revocable);

/* banks_close - all of them: the domain is gone. */
void banks_close(struct banks *banks);

#endif
