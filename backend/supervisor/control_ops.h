/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * control_ops.h - what the daemon answers to the requests of the control socket.
 */
#ifndef XEN_IB_SUPERVISOR_CONTROL_OPS_H
#define XEN_IB_SUPERVISOR_CONTROL_OPS_H

#include "admin/control.h"
#include "supervisor/device.h"

/* The supervisor's, which outlives the control socket. */
struct control_source {
	struct xs_handle *xs;
	unsigned int own; /* domain */
	const char *root; /* ".../backend/vhca" */
	const char *dir;  /* of the status files */
	const struct device_list *devices;
};

/* control_ops_request - from is a struct control_source. */
control_request_fn control_ops_request;

#endif
