/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * xenstore_filter.h - a worker's way to xenstore.
 *
 * A connection of dom0's may read and write all that xenstore has, and so have other domains, and
 * the tools, do what it likes. A worker gets one that leads through its broker, which looks at each
 * request (of the wire protocol, xen/io/xs_wire.h): it may read and watch the directories of its
 * own vHCA, and write what a backend has to say. Others are answered with EACCES.
 */
#ifndef XEN_IB_BROKER_XENSTORE_FILTER_H
#define XEN_IB_BROKER_XENSTORE_FILTER_H

#include <stdbool.h>
#include <stdint.h>
#include <xen/io/xs_wire.h>

struct xenstore_filter {
	const char *backend, *frontend; /* the two directories */
	int worker, xenstore;           /* sockets */
};

/* xenstore_filter_open - connects to xenstore, as root: a descriptor, or -errno. */
int xenstore_filter_open(void);

/* xenstore_filter_allows - whether a request may pass; payload: msg->len bytes. */
bool xenstore_filter_allows(const struct xenstore_filter *filter, const struct xsd_sockmsg *msg,
			    const char *payload);

/*
 * xenstore_filter_request, xenstore_filter_reply - pass on one message of the worker, or one of xenstore; they wait until
 * it is there as a whole. 0, or -errno: it is over.
 */
int xenstore_filter_request(const struct xenstore_filter *filter);
int xenstore_filter_reply(const struct xenstore_filter *filter);

#endif
