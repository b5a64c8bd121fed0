// SPDX-License-Identifier: GPL-2.0
/*
 * restrack.c - what `rdma resource show -dd` says of objects beyond the core's fields: the numbers
 * by which the backend's owner knows them.
 */
#include <rdma/restrack.h>

#include "xenib.h"

struct detail {
	const char *name;
	u32 value;
};

static int fill(struct sk_buff *msg, const struct detail *details, unsigned int count)
{
	struct nlattr *table;
	unsigned int i;

	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!table)
		return -EMSGSIZE;
	for (i = 0; i < count; i++) {
		if (rdma_nl_put_driver_u32_hex(msg, details[i].name, details[i].value)) {
			nla_nest_cancel(msg, table);
			return -EMSGSIZE;
		}
	}
	nla_nest_end(msg, table);
	return 0;
}

int xenib_fill_res_mr(struct sk_buff *msg, struct ib_mr *ibmr)
{
	struct xenib_mr *mr = to_xmr(ibmr);
	const struct detail details[] = {
		{ "handle", mr->handle },
		{ "umem", mr->reg ? mr->reg->umem.handle : XEN_VHCA_NO_HANDLE },
	};

	return fill(msg, details, ARRAY_SIZE(details));
}

int xenib_fill_res_cq(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct xenib_cq *cq = to_xcq(ibcq);
	const struct detail details[] = {
		{ "handle", cq->handle },
		{ "hca-cqn", cq->cqn },
	};

	return fill(msg, details, ARRAY_SIZE(details));
}

int xenib_fill_res_qp(struct sk_buff *msg, struct ib_qp *ibqp)
{
	const struct detail details[] = {
		{ "handle", to_xqp(ibqp)->handle },
	};

	return fill(msg, details, ARRAY_SIZE(details));
}

int xenib_fill_res_srq(struct sk_buff *msg, struct ib_srq *ibsrq)
{
	struct xenib_srq *srq = to_xsrq(ibsrq);
	const struct detail details[] = {
		{ "handle", srq->handle },
		{ "hca-srqn", srq->srqn },
	};

	return fill(msg, details, ARRAY_SIZE(details));
}
