// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_xenstore_filter.c - what a worker may ask of xenstore, and that its broker passes on just
 * that. xenstore is the test.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "broker/xenstore_filter.h"
#include "unit/fakes/fixture.h"

#define BACK "/local/domain/0/backend/vhca/5/0"
#define FRONT "/local/domain/5/device/vhca/0"

static struct xenstore_filter filter = { .backend = BACK, .frontend = FRONT };

static bool allows(uint32_t type, uint32_t tx, const char *payload, uint32_t length)
{
	const struct xsd_sockmsg msg = { .type = type, .tx_id = tx, .len = length };
	char *copy = malloc(length + 1); /* ASan sees who reads on */
	bool allowed;

	CHECK(copy);
	copy[0] = 0;
	memcpy(copy, payload, length);
	allowed = xenstore_filter_allows(&filter, &msg, copy);
	free(copy);
	return allowed;
}

#define MAY(type, text) allows(type, 0, text, sizeof(text))

static void check_reading(void)
{
	CHECK(MAY(XS_READ, BACK "/online") && MAY(XS_READ, FRONT "/ring-ref0"));
	CHECK(MAY(XS_READ, BACK) && MAY(XS_READ, FRONT));
	CHECK(!MAY(XS_READ, BACK "1/online") && !MAY(XS_READ, FRONT "0/state"));
	CHECK(!MAY(XS_READ, "/local/domain/5") && !MAY(XS_READ, "/") && !MAY(XS_READ, ""));
	CHECK(!MAY(XS_READ, "domid") && !MAY(XS_READ, "backend/vhca/5/0/state"));
	CHECK(!MAY(XS_READ, "/local/domain/0/backend/vbd/5/51712/params"));
	CHECK(!allows(XS_READ, 0, BACK "/online", strlen(BACK "/online"))); /* no end */
	CHECK(!allows(XS_READ, 0, "", 0));
	CHECK(!allows(XS_READ, 7, BACK, sizeof(BACK))); /* in a transaction */
}

static void check_writing(void)
{
	CHECK(MAY(XS_WRITE, BACK "/state\0"
				 "4") &&
	      MAY(XS_WRITE, BACK "/error\0why"));
	CHECK(MAY(XS_WRITE, BACK "/feature-blueflame\0"
				 "1") &&
	      MAY(XS_RM, BACK "/error"));
	CHECK(!MAY(XS_WRITE, BACK "/versions\0"
				  "1") &&
	      !MAY(XS_WRITE, BACK "/feature-events\0"
				  "1"));
	CHECK(!MAY(XS_WRITE, BACK "/max-qp\0"
				  "99999") &&
	      !MAY(XS_WRITE, BACK "/frontend\0/"));
	CHECK(!MAY(XS_WRITE, BACK "/online\0"
				  "1") &&
	      !MAY(XS_WRITE, BACK "/state/x\0"
				  "1"));
	CHECK(!MAY(XS_WRITE, BACK) && !MAY(XS_RM, BACK) && !MAY(XS_RM, BACK "/"));
	CHECK(!MAY(XS_WRITE, FRONT "/state\0"
				   "4") &&
	      !MAY(XS_RM, FRONT));
	CHECK(!MAY(XS_WRITE, "/local/domain/5/name\0x"));
}

static void check_others(void)
{
	static const uint32_t never[] = {
		XS_CONTROL,
		XS_DIRECTORY,
		XS_GET_PERMS,
		XS_TRANSACTION_START,
		XS_TRANSACTION_END,
		XS_INTRODUCE,
		XS_RELEASE,
		XS_GET_DOMAIN_PATH,
		XS_MKDIR,
		XS_SET_PERMS,
		XS_WATCH_EVENT,
		XS_ERROR,
		XS_IS_DOMAIN_INTRODUCED,
		XS_RESUME,
		XS_SET_TARGET,
		XS_RESET_WATCHES,
		XS_DIRECTORY_PART,
		XS_INVALID,
		UINT32_MAX,
	};
	unsigned int i;

	for (i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		CHECK(!MAY(never[i], BACK "/state"));
	CHECK(MAY(XS_WATCH, "@releaseDomain\0token") && MAY(XS_WATCH, FRONT "/state\0token"));
	CHECK(MAY(XS_UNWATCH, FRONT "/state\0token"));
	CHECK(!MAY(XS_WATCH, "@introduceDomain\0token") && !MAY(XS_WATCH, "/\0token"));
	CHECK(!allows(XS_WATCH, 0, "@releaseDomain", strlen("@releaseDomain")));
}

static void put(int fd, uint32_t type, uint32_t id, const char *payload, uint32_t length)
{
	const struct xsd_sockmsg msg = { .type = type, .req_id = id, .len = length };

	CHECK(write(fd, &msg, sizeof(msg)) == sizeof(msg));
	CHECK(write(fd, payload, length) == (ssize_t)length);
}

static void get(int fd, uint32_t type, uint32_t id, const char *payload, uint32_t length)
{
	struct xsd_sockmsg msg;
	char text[256];

	CHECK(read(fd, &msg, sizeof(msg)) == sizeof(msg));
	CHECK(msg.type == type && msg.req_id == id && msg.len == length && length <= sizeof(text));
	CHECK(read(fd, text, length) == (ssize_t)length && !memcmp(text, payload, length));
}

static void check_passing(void)
{
	static const char own[] = BACK "/online", other[] = "/tool";
	const struct xsd_sockmsg huge = { .type = XS_READ, .len = XENSTORE_PAYLOAD_MAX + 1 };
	int worker[2], store[2];
	char byte;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, worker) &&
	      !socketpair(AF_UNIX, SOCK_STREAM, 0, store));
	filter.worker = worker[1];
	filter.xenstore = store[1];
	put(worker[0], XS_READ, 1, own, sizeof(own));
	CHECK(!xenstore_filter_request(&filter));
	get(store[0], XS_READ, 1, own, sizeof(own));
	put(store[0], XS_READ, 1, "1", 1);
	CHECK(!xenstore_filter_reply(&filter));
	get(worker[0], XS_READ, 1, "1", 1);
	put(worker[0], XS_READ, 2, other, sizeof(other));
	CHECK(!xenstore_filter_request(&filter));
	get(worker[0], XS_ERROR, 2, "EACCES", 7);
	CHECK(recv(store[0], &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN);
	CHECK(write(worker[0], &huge, sizeof(huge)) == sizeof(huge) &&
	      xenstore_filter_request(&filter) == -EPROTO);
	close(worker[0]);
	CHECK(xenstore_filter_request(&filter) == -EPIPE);
	close(store[0]);
	CHECK(xenstore_filter_reply(&filter) == -EPIPE);
	close(worker[1]);
	close(store[1]);
}

int main(void)
{
	check_reading();
	check_writing();
	check_others();
	check_passing();
	return EXIT_SUCCESS;
}
