// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fuzz_xenstore.c - what stands in xenstore's nodes, as a guest may have written them; and what a worker
 * in a guest's hands may send to its broker for xenstore. The first byte chooses.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <xenstore.h>

#include "broker/xenstore_filter.h"
#include "unit/fakes/fixture.h"
#include "xen/xenbus.h"

#define BACK "/local/domain/0/backend/vhca/5/0"
#define FRONT "/local/domain/5/device/vhca/0"

static const uint8_t *node;
static size_t node_size;

/* In place of libxenstore's: the node. */
void *xs_read(struct xs_handle *h, xs_transaction_t t, const char *path, unsigned int *len)
{
	char *text = malloc(node_size + 1);

	(void)h;
	(void)t;
	CHECK(text && path[0] == '/');
	memcpy(text, node, node_size);
	text[node_size] = 0;
	*len = node_size;
	return text;
}

static void read_node(const uint8_t *data, size_t size)
{
	static const uint64_t mosts[] = { 0, 1, 255, UINT32_MAX, UINT64_MAX };
	unsigned int i, small;
	char value[32];
	uint64_t number;

	node = data;
	node_size = size;
	for (i = 0; i < sizeof(mosts) / sizeof(mosts[0]); i++)
		if (xb_read_number(NULL, FRONT, "ring-ref0", mosts[i], &number))
			CHECK(number <= mosts[i] && size && data[0] >= '0' && data[0] <= '9');
	CHECK(xb_state(NULL, FRONT) <= XB_CLOSED);
	if (!xb_read(NULL, FRONT, "backend", value, sizeof(value)))
		return;
	CHECK(strlen(value) == size && !memcmp(value, data, size));
	if (xb_number(value, &small))
		CHECK(small <= 0xffff);
}

/* Whether a path names one of two directories or something in them; without the daemon's own functions. */
static bool is_below(const char *path, const char *dir)
{
	size_t length = strlen(dir);

	return !strncmp(path, dir, length) && (!path[length] || path[length] == '/');
}

/* What has come through, message by message. */
static void check_passed(const char *got, size_t size)
{
	struct xsd_sockmsg head;

	for (; size; got += head.len, size -= head.len) {
		CHECK(size >= sizeof(head));
		memcpy(&head, got, sizeof(head));
		got += sizeof(head);
		size -= sizeof(head);
		CHECK(head.len <= size && head.len <= XENSTORE_PAYLOAD_MAX && !head.tx_id);
		CHECK(memchr(got, 0, head.len));
		switch (head.type) {
		case XS_READ:
			CHECK(is_below(got, BACK) || is_below(got, FRONT));
			break;
		case XS_WATCH:
		case XS_UNWATCH:
			CHECK(is_below(got, BACK) || is_below(got, FRONT) ||
			      !strcmp(got, "@releaseDomain"));
			break;
		case XS_WRITE:
		case XS_RM:
			CHECK(is_below(got, BACK "/state") || is_below(got, BACK "/error") ||
			      is_below(got, BACK "/feature-blueflame") ||
			      is_below(got, BACK "/feature-xrc") ||
			      is_below(got, BACK "/writable-grants"));
			break;
		default:
			CHECK(false);
		}
	}
}

static void be_worker(const uint8_t *data, size_t size)
{
	struct xenstore_filter filter = { .backend = BACK, .frontend = FRONT };
	static char got[1 << 17];
	int worker[2], store[2];
	ssize_t n;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, worker) &&
	      !socketpair(AF_UNIX, SOCK_STREAM, 0, store));
	filter.worker = worker[1];
	filter.xenstore = store[1];
	if (size > 1 << 16) /* what the sockets take */
		size = 1 << 16;
	CHECK(send(worker[0], data, size, MSG_NOSIGNAL) == (ssize_t)size);
	shutdown(worker[0], SHUT_WR);
	while (!xenstore_filter_request(&filter))
		/* Answers are not what this is about, and must not fill the socket. */
		while (recv(worker[0], got, sizeof(got), MSG_DONTWAIT) > 0)
			;
	n = recv(store[0], got, sizeof(got), MSG_DONTWAIT);
	check_passed(got, n > 0 ? n : 0);
	close(worker[0]);
	close(worker[1]);
	close(store[0]);
	close(store[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (data[0] & 1)
		be_worker(data + 1, size - 1);
	else
		read_node(data + 1, size - 1);
	return 0;
}
