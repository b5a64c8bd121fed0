// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * domain.c - see domain.h.
 */
#include <errno.h>

#include "broker/domain.h"
#include "xen/iomem.h"

/*
 * Its type stays as it is; all that can change is that the domain is gone. That is also why a type
 * that was known is known no more.
 */
int domain_check(struct domain *domain)
{
	int err = iomem_domain(domain->iomem, domain->domid, &domain->auto_translated);

	if (!err)
		domain->known = true;
	if (!domain->known)
		return err;
	return err == -ESRCH || err == -EAGAIN ? -ESRCH : 0;
}
