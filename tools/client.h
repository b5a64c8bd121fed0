/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * client.h - asks the daemon; backend/admin/control.h has the protocol.
 */
#ifndef XEN_IB_CLIENT_H
#define XEN_IB_CLIENT_H

#include <stddef.h>

struct answer {
	int status;    /* enum tool_exit */
	char *body;    /* ends in a NUL; NULL unless status is TOOL_OK */
	char why[300]; /* else: what is wrong */
};

/* ask - one request, a line without its end. The body is to be freed. */
__attribute__((format(printf, 3, 4))) void ask(const char *socket, struct answer *answer,
					       const char *request, ...);

/* answer_complain - what went wrong, to standard error, and what to do. Returns the status. */
int answer_complain(const struct answer *answer);

#endif
