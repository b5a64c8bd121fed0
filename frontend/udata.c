// SPDX-License-Identifier: GPL-2.0
/*
 * udata.c - what the provider sends beside the common verbs commands, and what it gets.
 */
#include "xenib.h"

bool xenib_exceeds(struct xenib_dev *dev, const char *what, u64 value, u64 max)
{
	if (value <= max)
		return false;
	ibdev_dbg(&dev->ibdev, "refused: %s is %llu, at most %llu\n", what, value, max);
	return true;
}

int xenib_copy_req(struct ib_udata *udata, void *req, size_t size)
{
	if (udata->inlen < size) {
		pr_debug("xen-ibfront: refused: a request of %zu bytes, needed are %zu\n",
			 udata->inlen, size);
		return -EINVAL;
	}
	if (udata->inlen > size && !ib_is_udata_cleared(udata, size, udata->inlen - size)) {
		pr_debug("xen-ibfront: refused: a request of %zu bytes, known are %zu\n",
			 udata->inlen, size);
		return -EOPNOTSUPP;
	}
	return size ? ib_copy_from_udata(req, udata, size) : 0;
}

int xenib_copy_resp(struct ib_udata *udata, void *resp, size_t size)
{
	size = min(size, udata->outlen);
	return size ? ib_copy_to_udata(udata, resp, size) : 0;
}
