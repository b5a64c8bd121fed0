// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mcast.c - multicast groups of a QP. The kernel detaches what is left when the context goes.
 *
 * An HCA takes a bounded number of QPs for each group, of all who use it, so it is counted here who
 * is in which. A QP that is in a group is counted once for each LID that it gave, as the kernel
 * does it.
 */
#include <stdlib.h>
#include <string.h>

#include "commands/cmd.h"

/* Under the lock. */
static struct mcast *find(const struct qp *qp, const struct xen_vhca_mcast *a)
{
	struct mcast *mcast;

	LIST_FOREACH(mcast, &qp->groups, of_qp)
		if (mcast->lid == a->lid && !memcmp(mcast->gid, a->gid, sizeof(a->gid)))
			return mcast;
	return NULL;
}

/* Under the lock: of this vHCA. */
static unsigned int members(const struct vhca *v, const uint8_t gid[16])
{
	const struct mcast *mcast;
	unsigned int n = 0;

	LIST_FOREACH(mcast, &v->mcasts, link)
		n += !memcmp(mcast->gid, gid, sizeof(mcast->gid));
	return n;
}

/* Under the lock. *mcast: NULL if the QP is in that group. */
static enum xen_vhca_status add(struct cmd *cmd, struct qp *qp, struct mcast **mcast)
{
	const struct xen_vhca_mcast *a = &cmd->req.u.mcast;
	struct vhca *v = cmd->v;
	struct mcast *new;

	*mcast = NULL;
	if (find(qp, a))
		return XEN_VHCA_OK;
	if (members(v, a->gid) >= v->attr.max_mcast_qp_attach)
		return cmd_refuse(cmd, XEN_VHCA_E_LIMIT, "more than %u QPs in a multicast group",
				  v->attr.max_mcast_qp_attach);
	if (!quota_take(&v->quota.mcast, 1))
		return cmd_refuse(cmd, XEN_VHCA_E_LIMIT, "more than %llu QPs in multicast groups",
				  (unsigned long long)v->quota.mcast.limit);
	new = calloc(1, sizeof(*new));
	if (!new) {
		quota_give(&v->quota.mcast, 1);
		return cmd_refuse(cmd, XEN_VHCA_E_NOMEM, "no memory");
	}
	new->qp = qp;
	new->lid = a->lid;
	memcpy(new->gid, a->gid, sizeof(new->gid));
	LIST_INSERT_HEAD(&v->mcasts, new, link);
	LIST_INSERT_HEAD(&qp->groups, new, of_qp);
	*mcast = new;
	return XEN_VHCA_OK;
}

static void forget(struct cmd *cmd, struct mcast *mcast)
{
	pthread_mutex_lock(&cmd->v->lock);
	vhca_forget_mcast(cmd->v, mcast);
	pthread_mutex_unlock(&cmd->v->lock);
}

/* Has the HCA take the QP into the group, or out of it. */
static enum xen_vhca_status change_group(struct cmd *cmd, const struct object *qp, bool join)
{
	const struct xen_vhca_mcast *a = &cmd->req.u.mcast;

	return cmd_hca(cmd,
		       cmd->v->hca->ops->mcast(cmd->ctx->hca, qp->hca_id, join, a->gid, a->lid),
		       join ? "joining a multicast group" : "leaving a multicast group");
}

enum xen_vhca_status cmd_mcast_attach(struct cmd *cmd)
{
	enum xen_vhca_status status;
	struct mcast *mcast;
	struct object *obj;

	status = cmd_use(cmd, cmd->req.u.mcast.qp, OBJ_QP, &obj);
	if (status)
		return status;
	pthread_mutex_lock(&cmd->v->lock);
	status = add(cmd, (struct qp *)obj, &mcast);
	pthread_mutex_unlock(&cmd->v->lock);
	if (status || !mcast)
		return status;
	status = change_group(cmd, obj, true);
	if (status)
		forget(cmd, mcast);
	return status;
}

/* Of a QP that the HCA does not let go it is not known any more what it receives: it stays counted. */
enum xen_vhca_status cmd_mcast_detach(struct cmd *cmd)
{
	const struct xen_vhca_mcast *a = &cmd->req.u.mcast;
	enum xen_vhca_status status;
	struct mcast *mcast;
	struct object *obj;

	status = cmd_use(cmd, a->qp, OBJ_QP, &obj);
	if (status)
		return status;
	pthread_mutex_lock(&cmd->v->lock);
	mcast = find((struct qp *)obj, a);
	pthread_mutex_unlock(&cmd->v->lock);
	if (!mcast)
		return cmd_refuse(cmd, XEN_VHCA_E_ARG, "QP 0x%x is not in that group", a->qp);
	status = change_group(cmd, obj, false);
	if (!status)
		forget(cmd, mcast);
	return status;
}
