/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * domain.h - the one domain that a broker serves.
 */
#ifndef XEN_IB_BROKER_DOMAIN_H
#define XEN_IB_BROKER_DOMAIN_H

#include <stdbool.h>
#include <stdint.h>

struct iomem;

struct domain {
	struct iomem *iomem;
	uint32_t domid, devid;
	bool auto_translated;
	bool known; /* what type the domain is of */
};

/* domain_check - 0, -ESRCH: it is gone; -EAGAIN: of what type it is cannot be known yet. */
int domain_check(struct domain *domain);

#endif
