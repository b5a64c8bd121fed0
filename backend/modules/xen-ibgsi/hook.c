// SPDX-License-Identifier: GPL-2.0
/*
 * hook.c - the right of first refusal on MADs that come: see gsi.h.
 *
 * The core asks the driver about each MAD before any agent does. Messages of a connection manager
 * have one agent for all, that of this domain; so those of guests are taken where the driver is
 * asked. A thread that is in here is counted; one that is just before or behind the counting has
 * not slept since, and ends by an RCU tasks grace period.
 */
#include <linux/delay.h>
#include <linux/rcupdate.h>

#include "gsi.h"

static int first_refusal(struct ib_device *ibdev, int flags, u32 port, const struct ib_wc *wc,
			 const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
			 size_t *out_size, u16 *out_pkey_index)
{
	struct gsi_hca *hca = gsi_hca_of(ibdev);
	int ret;

	atomic_inc(&hca->hook.inside);
	if (in->mad_hdr.mgmt_class == IB_MGMT_CLASS_CM && wc &&
	    gsi_cm_receive(hca, port, wc, grh, (const u8 *)in))
		ret = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_CONSUMED;
	else
		ret = hca->hook.driver(ibdev, flags, port, wc, grh, in, out, out_size,
				       out_pkey_index);
	atomic_dec(&hca->hook.inside);
	return ret;
}

void gsi_hook_add(struct gsi_hca *hca)
{
	hca->hook.driver = hca->ibdev->ops.process_mad;
	/* Whoever finds the new one finds the old one there. */
	smp_store_release(&hca->ibdev->ops.process_mad, first_refusal);
}

/* What another module has put there instead leads to ours, until that module is gone. */
static void wait_for_ours(const struct gsi_hca *hca)
{
	if (READ_ONCE(hca->ibdev->ops.process_mad) == first_refusal)
		return;
	pr_warn("%s: another module is in the way of MADs, and has to go first\n",
		dev_name(&hca->ibdev->dev));
	while (READ_ONCE(hca->ibdev->ops.process_mad) != first_refusal)
		msleep(20);
}

void gsi_hook_remove(struct gsi_hca *hca)
{
	wait_for_ours(hca);
	WRITE_ONCE(hca->ibdev->ops.process_mad, hca->hook.driver);
	synchronize_rcu_tasks();
	while (atomic_read(&hca->hook.inside))
		msleep(20);
	synchronize_rcu_tasks();
}
