// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * xenstore_filter.c - see xenstore_filter.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <xenstore.h>
#include <xenstore_lib.h>

#include "broker/wire.h"
#include "broker/xenstore_filter.h"
#include "shared-ring/vhca_nodes.h"

#define KERNEL "/dev/xen/xenbus" /* where xenstored is in another domain */

/* What a backend says, and takes back: keys of its directory. */
static const char *const keys[] = { "state", XEN_VHCA_FIELD_ERROR, XEN_VHCA_FIELD_FEATURE_BLUEFLAME,
				    XEN_VHCA_FIELD_FEATURE_XRC, XEN_VHCA_FIELD_WRITABLE_GRANTS };

struct message {
	struct xsd_sockmsg head;
	char payload[XENSTORE_PAYLOAD_MAX];
};

int xenstore_filter_open(void)
{
	struct sockaddr_un where = { .sun_family = AF_UNIX };
	int fd, err;

	snprintf(where.sun_path, sizeof(where.sun_path), "%s", xs_daemon_socket());
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (!connect(fd, (struct sockaddr *)&where, sizeof(where)))
		return fd;
	err = -errno;
	close(fd);
	fd = open(KERNEL, O_RDWR | O_CLOEXEC);
	return fd < 0 ? err : fd;
}

/* A path comes first in most requests, and ends with a zero. */
static bool starts_with_path(const struct xsd_sockmsg *msg, const char *payload)
{
	return payload[0] == '/' && memchr(payload, 0, msg->len);
}

static bool is_own(const struct xenstore_filter *filter, const char *path)
{
	return xs_path_is_subpath(filter->backend, path) ||
	       xs_path_is_subpath(filter->frontend, path);
}

static bool is_to_say(const struct xenstore_filter *filter, const char *path)
{
	size_t length = strlen(filter->backend), i;

	if (strncmp(path, filter->backend, length) || path[length] != '/')
		return false;
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(path + length + 1, keys[i]))
			return true;
	return false;
}

bool xenstore_filter_allows(const struct xenstore_filter *filter, const struct xsd_sockmsg *msg,
			    const char *payload)
{
	if (msg->tx_id)
		return false;
	switch (msg->type) {
	case XS_WATCH:
	case XS_UNWATCH:
		if (memchr(payload, 0, msg->len) && !strcmp(payload, "@releaseDomain"))
			return true;
		return starts_with_path(msg, payload) && is_own(filter, payload);
	case XS_READ:
		return starts_with_path(msg, payload) && is_own(filter, payload);
	case XS_WRITE:
	case XS_RM:
		return starts_with_path(msg, payload) && is_to_say(filter, payload);
	default:
		return false;
	}
}

static int receive_message(int fd, struct message *message)
{
	int err;

	err = broker_receive(fd, &message->head, sizeof(message->head));
	if (err)
		return err;
	if (message->head.len > sizeof(message->payload))
		return -EPROTO;
	return broker_receive(fd, message->payload, message->head.len);
}

static int send_message(int fd, const struct message *message)
{
	return broker_send(fd, message, sizeof(message->head) + message->head.len);
}

static int refuse(int fd, struct message *message)
{
	static const char why[] = "EACCES";

	message->head.type = XS_ERROR;
	message->head.len = sizeof(why);
	memcpy(message->payload, why, sizeof(why));
	return send_message(fd, message);
}

int xenstore_filter_request(const struct xenstore_filter *filter)
{
	struct message message;
	int err;

	err = receive_message(filter->worker, &message);
	if (err)
		return err;
	if (xenstore_filter_allows(filter, &message.head, message.payload))
		return send_message(filter->xenstore, &message);
	return refuse(filter->worker, &message);
}

int xenstore_filter_reply(const struct xenstore_filter *filter)
{
	struct message message;

	return receive_message(filter->xenstore, &message) ?:
							     send_message(filter->worker, &message);
}
