// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mad.c - management datagrams of a guest's kernel: they pass from here to the module, which decides
 * on them, and back (hca/gsi.h).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "commands/cmd.h"
#include "hca/gsi.h"
#include "vhca/events.h"

enum xen_vhca_status cmd_gsi_open(struct cmd *cmd)
{
	const struct xen_vhca_gsi_open *a = &cmd->req.u.gsi_open;
	struct vhca_mads *mads = &cmd->v->mads;
	enum xen_vhca_status status;
	struct object *ctx;
	bool taken;

	status = cmd_use(cmd, a->ctx, OBJ_CTX, &ctx);
	if (status)
		return status;
	if (!((struct context *)ctx)->kernel)
		return cmd_refuse(cmd, XEN_VHCA_E_UNSUPPORTED, "context 0x%x is not the kernel's",
				  a->ctx);
	if (mads->fd < 0 || !events_told(cmd->v->events))
		return cmd_refuse(cmd, XEN_VHCA_E_UNSUPPORTED,
				  mads->fd < 0 ? "no xen-ibgsi, or kernel=verbs" :
						 "without events");
	pthread_mutex_lock(&cmd->v->lock);
	taken = mads->ctx;
	if (!taken) {
		mads->ctx = a->ctx;
		mads->event_bit = a->event_bit;
		mads->told = false;
		gsi_start(mads->fd);
	}
	pthread_mutex_unlock(&cmd->v->lock);
	return taken ? cmd_refuse(cmd, XEN_VHCA_E_BUSY, "another context has the GSI") :
		       XEN_VHCA_OK;
}

/* Uses the context, which has to be the one. */
static enum xen_vhca_status use_gsi(struct cmd *cmd, xen_vhca_handle_t handle)
{
	enum xen_vhca_status status;
	struct object *ctx;
	bool has;

	status = cmd_use(cmd, handle, OBJ_CTX, &ctx);
	if (status)
		return status;
	pthread_mutex_lock(&cmd->v->lock);
	has = cmd->v->mads.ctx == handle;
	pthread_mutex_unlock(&cmd->v->lock);
	return has ? XEN_VHCA_OK :
		     cmd_refuse(cmd, XEN_VHCA_E_STATE, "context 0x%x has no GSI", handle);
}

enum xen_vhca_status cmd_gsi_close(struct cmd *cmd)
{
	enum xen_vhca_status status = use_gsi(cmd, cmd->req.u.object.handle);

	if (!status)
		vhca_end_mads(cmd->v, cmd->req.u.object.handle);
	return status;
}

/* The module's answers say what the guest did; the HCA has no part in them. */
static enum xen_vhca_status status_of(int err)
{
	switch (-err) {
	case EOPNOTSUPP:
		return XEN_VHCA_E_UNSUPPORTED;
	case EINVAL:
		return XEN_VHCA_E_ARG;
	case EAGAIN:
		return XEN_VHCA_E_LIMIT;
	case EBUSY:
		return XEN_VHCA_E_BUSY;
	case ENODEV:
		return XEN_VHCA_E_DEAD;
	default:
		return XEN_VHCA_E_NOMEM;
	}
}

enum xen_vhca_status cmd_mad_send(struct cmd *cmd)
{
	const uint8_t *mad = (const uint8_t *)cmd->refs;
	enum xen_vhca_status status = use_gsi(cmd, cmd->req.u.mad_send.ctx);
	struct qp_limits limits;
	int err;

	if (status)
		return status;
	limits = vhca_qp_limits(cmd->v);
	qp_limits_av(&limits, &cmd->req.u.mad_send.av);
	err = gsi_send(cmd->v->mads.fd, &cmd->req.u.mad_send, mad);
	if (!err)
		return XEN_VHCA_OK;
	return cmd_refuse(cmd, status_of(err), "class 0x%x, method 0x%x, attribute 0x%x: %s",
			  mad[1], mad[3], mad[16] << 8 | mad[17], strerror(-err));
}

/* They are put where the references of other commands are. */
enum xen_vhca_status cmd_mad_recv(struct cmd *cmd)
{
	struct xen_vhca_mad *mads = (struct xen_vhca_mad *)cmd->refs;
	enum xen_vhca_status status = use_gsi(cmd, cmd->req.u.object.handle);
	uint32_t n = 0;

	if (status)
		return status;
	while (n < XEN_VHCA_MADS && gsi_receive(cmd->v->mads.fd, &mads[n]) > 0)
		n++;
	if (n < XEN_VHCA_MADS) {
		pthread_mutex_lock(&cmd->v->lock);
		cmd->v->mads.told = false;
		pthread_mutex_unlock(&cmd->v->lock);
	}
	cmd->data = mads;
	cmd->data_len = n * sizeof(*mads);
	cmd->rsp.u.mads.count = n;
	return XEN_VHCA_OK;
}

static enum xen_vhca_status change_addr(struct cmd *cmd, bool add)
{
	const struct xen_vhca_addr *addr = &cmd->req.u.addr;
	enum xen_vhca_status status = use_gsi(cmd, addr->ctx);
	char text[INET6_ADDRSTRLEN] = "?";
	int err;

	if (status)
		return status;
	err = gsi_addr(cmd->v->mads.fd, add, addr);
	if (!err)
		return XEN_VHCA_OK;
	inet_ntop(addr->family == 4 ? AF_INET : AF_INET6, addr->addr, text, sizeof(text));
	return cmd_refuse(cmd, status_of(err), "address %s: %s", text, strerror(-err));
}

enum xen_vhca_status cmd_addr_add(struct cmd *cmd)
{
	return change_addr(cmd, true);
}

enum xen_vhca_status cmd_addr_del(struct cmd *cmd)
{
	return change_addr(cmd, false);
}
