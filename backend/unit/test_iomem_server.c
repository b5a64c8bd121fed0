// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_iomem_server.c - what dom0's daemon does for a driver domain, which is domain 3 here: each request is
 * made so once, what was made is undone whoever goes first, and nothing that anybody writes makes it
 * do more than that. Xenstore is a table, Xen a list of what it was asked for, and time is a number.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/autoattach.h"
#include "supervisor/device.h"
#include "unit/fakes/fake_store.h"
#include "unit/fakes/fixture.h"
#include "util/clock.h"
#include "util/log.h"
#include "xen/iomem.h"
#include "xen/iomem_remote.h"
#include "xen/iomem_server.h"
#include "xen/pci_assigned.h"

/* The driver domain has an HCA, whose BAR 0 has four doorbell pages, from frame 524288 on, and another device. */
#define RESOURCE "0x000000007fffb000 0x0000000080003fff 0x0000000000140204\n" \
		 "0x0000000000000000 0x0000000000000000 0x0000000000000000\n" \
		 "0x0000000090000000 0x000000009000ffff 0x0000000000140204\n"
#define OTHER_RESOURCE "0x00000000a0000000 0x00000000a00fffff 0x0000000000140204\n"
#define INIT_SEGMENT "524283"
#define M0 "524288"
#define M1 "524289"
#define M_END "524292"
#define PCI "/local/domain/0/backend/pci/3/0"

/* Its guests, a PV one and an auto-translated one, which has a place for sixteen frames. */
#define BACK "/local/domain/3/backend/vhca"
#define PV BACK "/5/0"
#define AUTO BACK "/6/0"
#define PV_FRONT "/local/domain/5/device/vhca/0"
#define AUTO_FRONT "/local/domain/6/device/vhca/0"
#define PV_GRANT IOMEM_GRANTS "/3/5/0"
#define AUTO_GRANT IOMEM_GRANTS "/3/6/0"
#define G0 "1048576"
#define G15 "1048591"
#define G_END "1048592"

static char dir[] = "/tmp/xen-ib-iomem-XXXXXX";
static struct iomem_server *l;

/* Time */

static uint64_t now_ms = 1000000;

uint64_t clock_ms(void)
{
	return now_ms;
}

static unsigned int call_ms;

static void take_time(void)
{
	now_ms += call_ms;
}

/* Xen */

struct iomem {
	unsigned int own;
};

enum domain { GONE, IS_PV, IS_AUTO, UNKNOWN };

static struct iomem iomem;
static unsigned char domains[DOMAINS];

#define CALLS 64

static struct call {
	bool allow;
	struct iomem_frame frame;
} calls[CALLS];
static unsigned int n_calls;
static int allow_err, deny_err;

unsigned int iomem_own(const struct iomem *r)
{
	return r->own;
}

int iomem_domain(struct iomem *r, unsigned int domid, bool *auto_translated)
{
	CHECK(r == &iomem && domid < DOMAINS);
	*auto_translated = domains[domid] == IS_AUTO;
	return domains[domid] == GONE ? -ESRCH : domains[domid] == UNKNOWN ? -EIO : 0;
}

/* Before anything changes it stands in xenstore, so that a daemon that dies then leaves nothing behind. */
static void note_call(bool allow, const struct iomem_frame *frame)
{
	char path[IOMEM_PATH], value[32];
	struct store_node *grant;

	iomem_grant_path(path, 3, frame);
	grant = store_find(path);
	CHECK(grant && n_calls < CALLS);
	snprintf(value, sizeof(value), "?%" PRIu64, frame->gfn);
	CHECK(!allow || !strcmp(grant->value, value));
	CHECK(frame->auto_translated == (domains[frame->domid] == IS_AUTO));
	calls[n_calls++] = (struct call){ allow, *frame };
}

int iomem_allow(struct iomem *r, const struct iomem_frame *frame)
{
	CHECK(r == &iomem);
	note_call(true, frame);
	return allow_err;
}

int iomem_deny(struct iomem *r, const struct iomem_frame *frame)
{
	CHECK(r == &iomem);
	note_call(false, frame);
	return deny_err;
}

static bool was(unsigned int n, bool allow, unsigned int domid, uint64_t mfn, uint64_t gfn)
{
	const struct iomem_frame *frame = &calls[n].frame;

	return n < n_calls && calls[n].allow == allow && frame->domid == domid && frame->devid == 0 &&
	       frame->mfn == mfn && frame->gfn == gfn;
}

/* What was asked for since the last time, and nothing else. */
static bool one(bool allow, unsigned int domid, uint64_t mfn, uint64_t gfn)
{
	bool is = n_calls == 1 && was(0, allow, domid, mfn, gfn);

	n_calls = 0;
	return is;
}

static bool none(void)
{
	return !n_calls;
}

/* The log */

static unsigned int lines;

static bool count_line(const struct log_entry *entry)
{
	(void)entry;
	lines++;
	return true;
}

/* The iomem server */

/* Until all has been looked at: soon, as what it does itself must not keep it at work. */
static void settle(void)
{
	unsigned int rounds = 0;
	int rest;

	do {
		rest = iomem_server_service(l);
		CHECK(rest < 0 || iomem_server_fd(l) < 0);
		if (rest >= 0)
			now_ms += rest;
		CHECK(rounds++ < 8);
	} while (rest >= 0 || store_events());
	CHECK(iomem_server_fd(l) == STORE_FD);
}

static void open_server(void)
{
	l = iomem_server_open(&iomem);
	CHECK(l && store_handles() == 1);
	settle();
}

static void close_server(void)
{
	iomem_server_close(l);
	CHECK(!store_handles());
}

static void put_vhca(const char *nodes, const char *frontend)
{
	char path[IOMEM_PATH];

	store_put(nodes, "");
	store_find(nodes)->owner = 3;
	snprintf(path, sizeof(path), "%s/frontend", nodes);
	store_put(path, frontend);
	snprintf(path, sizeof(path), "%s/backend", frontend);
	store_put(path, nodes);
}

static void put_domain(unsigned int domid, enum domain type)
{
	char path[64];

	snprintf(path, sizeof(path), "/local/domain/%u/name", domid);
	store_put(path, "");
	domains[domid] = type;
}

/* A machine with all of it, and nothing requested yet. */
static void begin(void)
{
	store_clear();
	memset(domains, GONE, sizeof(domains));
	put_domain(0, IS_PV);
	put_domain(3, IS_PV);
	put_domain(5, IS_PV);
	put_domain(6, IS_AUTO);
	store_put(PCI "/num_devs", "2");
	store_put(PCI "/dev-0", "0000:01:00.0");
	store_put(PCI "/dev-1", "0000:02:00.0");
	put_vhca(PV, PV_FRONT);
	put_vhca(AUTO, AUTO_FRONT);
	store_put(AUTO_FRONT "/doorbell-gfn", G0);
	store_put(AUTO_FRONT "/doorbell-gfns", "16");
	n_calls = lines = 0;
	allow_err = deny_err = 0;
	call_ms = 0;
	now_ms += 1000000; /* what was said before is long ago */
	store_called = take_time;
	open_server();
	CHECK(none());
}

static void end(void)
{
	close_server();
}

/* Another daemon finds all as the one before has left it. */
static void restart(void)
{
	close_server();
	open_server();
}

/* The backend's node, and all that comes of it. */
static void request_frame(const char *path, const char *gfn)
{
	store_put(path, gfn);
	settle();
}

static void withdraw(const char *path)
{
	store_remove(path);
	settle();
}

static void release(unsigned int domid)
{
	domains[domid] = GONE;
	store_fire("@releaseDomain");
	settle();
}

static void test_open(void)
{
	store_clear();
	memset(domains, GONE, sizeof(domains));
	iomem.own = 3;
	errno = EIO;
	CHECK(!iomem_server_open(&iomem) && !errno && !store_handles());
	iomem.own = 0;
	CHECK(iomem_server_service(NULL) == -1 && iomem_server_fd(NULL) == -1);
	iomem_server_close(NULL);
	store_faults.open = ENOENT;
	CHECK(!iomem_server_open(&iomem) && errno == ENOENT);
	store_faults.open = 0;
	store_faults.watch = EACCES;
	CHECK(!iomem_server_open(&iomem) && errno == EACCES && !store_handles());
	store_faults.watch = 0;
	open_server(); /* there is not even one domain */
	CHECK(store_watched("@introduceDomain") && store_watched("@releaseDomain"));
	close_server();
}

static void test_pv(void)
{
	begin();
	CHECK(store_watched(BACK) && store_watched("/local/domain/5/backend/vhca"));
	CHECK(!store_watched("/local/domain/0/backend/vhca"));
	CHECK(store_is(IOMEM_GRANTS "/3/5/type", IOMEM_TYPE_PV) && store_is(IOMEM_GRANTS "/3/6/type", IOMEM_TYPE_AUTO));
	CHECK(store_permits(IOMEM_GRANTS "/3/5/type", 0, 3) && store_permits(IOMEM_GRANTS "/3", 0, 3));
	CHECK(store_permits(IOMEM_GRANTS, 0, 0));
	request_frame(PV "/frames/" M0, "0");
	CHECK(one(true, 5, 524288, 0) && store_is(PV_GRANT "/" M0, "0") && store_permits(PV_GRANT "/" M0, 0, 3));
	CHECK(!store_find(PV "/frames/" M0 "/error"));
	request_frame(PV "/frames/" M0, "0"); /* the same once more */
	CHECK(none());
	request_frame(PV "/frames/" M1, "1"); /* a PV guest maps it where it likes */
	CHECK(none() && store_is(PV "/frames/" M1 "/error", "22") && !store_find(PV_GRANT "/" M1));
	withdraw(PV "/frames/" M0);
	CHECK(one(false, 5, 524288, 0) && !store_find(PV_GRANT "/" M0));
	end();
}

static void test_auto(void)
{
	begin();
	request_frame(AUTO "/frames/" M0, "0");
	CHECK(none() && store_is(AUTO "/frames/" M0 "/error", "22"));
	withdraw(AUTO "/frames/" M0);
	request_frame(AUTO "/frames/" M0, G_END);
	CHECK(none() && store_is(AUTO "/frames/" M0 "/error", "22"));
	withdraw(AUTO "/frames/" M0);
	request_frame(AUTO "/frames/" M0, "1048575");
	CHECK(none() && store_is(AUTO "/frames/" M0 "/error", "22"));
	withdraw(AUTO "/frames/" M0);
	CHECK(none() && !store_find(AUTO "/frames/" M0));
	request_frame(AUTO "/frames/" M0, G15);
	CHECK(one(true, 6, 524288, 1048591) && store_is(AUTO_GRANT "/" M0, G15));
	request_frame(AUTO "/frames/" M0, G0); /* from one place to another */
	CHECK(n_calls == 2 && was(0, false, 6, 524288, 1048591) && was(1, true, 6, 524288, 1048576));
	CHECK(store_is(AUTO_GRANT "/" M0, G0));
	n_calls = 0;
	request_frame(AUTO "/frames/" M0, G_END); /* and to where there may be something else */
	CHECK(one(false, 6, 524288, 1048576) && store_is(AUTO "/frames/" M0 "/error", "22"));
	CHECK(!store_find(AUTO_GRANT "/" M0));
	end();
}

/* What a guest says of its place that cannot be one. */
static void test_places(void)
{
	static const char *const places[][2] = {
		{ "", "16" }, { G0, "" }, { "x", "16" }, { G0, "-1" }, { G0, "65537" }, { "-1", "16" },
		{ "18446744073709551615", "16" }, { "18446744073709551616", "16" }, { G0, "0" }, { "0", "65536" },
	};
	unsigned int i;

	begin();
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		store_put(AUTO_FRONT "/doorbell-gfn", places[i][0]);
		store_put(AUTO_FRONT "/doorbell-gfns", places[i][1]);
		request_frame(AUTO "/frames/" M0, G0);
		CHECK(none() && store_is(AUTO "/frames/" M0 "/error", "22"));
		withdraw(AUTO "/frames/" M0);
	}
	store_remove(AUTO_FRONT "/doorbell-gfn"); /* a guest that does not know of it */
	store_remove(AUTO_FRONT "/doorbell-gfns");
	request_frame(AUTO "/frames/" M0, G0);
	CHECK(none() && store_is(AUTO "/frames/" M0 "/error", "22"));
	end();
}

static void test_not_agreed(void)
{
	begin();
	store_put(PV_FRONT "/backend", "/local/domain/4/backend/vhca/5/0");
	request_frame(PV "/frames/" M0, "0");
	CHECK(none() && !store_find(PV_GRANT "/" M0) && !store_find(PV "/frames/" M0 "/error"));
	store_put(PV_FRONT "/backend", PV "/");
	store_fire("@releaseDomain");
	settle();
	CHECK(none());
	store_remove("/local/domain/5/device");
	store_fire("@releaseDomain");
	settle();
	CHECK(none() && !store_find(PV_GRANT "/" M0));
	store_put(PV_FRONT "/backend", PV);
	store_fire("@releaseDomain");
	settle();
	CHECK(one(true, 5, 524288, 0));
	store_put(PV_FRONT "/backend", AUTO); /* now it has another one */
	store_fire("@releaseDomain");
	settle();
	CHECK(one(false, 5, 524288, 0) && !store_find(PV_GRANT "/" M0));
	end();
}

/*
 * Frames of others: of dom0's memory, beside the BAR, and of an HCA that another domain has. Of its
 * own HCA those where no doorbells are, and what else it has.
 */
static void test_not_assigned(void)
{
	static const char *const frames[] = {
		M_END, "524282", "0", "18446744073709551615",
		INIT_SEGMENT, "524287", /* the last before the first doorbell page */
		"589824", "589829",     /* of BAR 2 */
		"655360", "655370",     /* of the other device */
	};
	char path[IOMEM_PATH], error[IOMEM_PATH + 8];
	unsigned int i;

	begin();
	for (i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		snprintf(path, sizeof(path), AUTO "/frames/%s", frames[i]);
		snprintf(error, sizeof(error), "%s/error", path);
		request_frame(path, G0);
		CHECK(none() && store_is(error, "1"));
		snprintf(path, sizeof(path), AUTO_GRANT "/%s", frames[i]);
		CHECK(!store_find(path));
	}
	put_domain(4, IS_PV);
	put_vhca("/local/domain/4/backend/vhca/5/1", "/local/domain/5/device/vhca/1");
	store_fire("@introduceDomain");
	settle();
	request_frame("/local/domain/4/backend/vhca/5/1/frames/" M0, "0");
	CHECK(none() && store_is("/local/domain/4/backend/vhca/5/1/frames/" M0 "/error", "1"));
	store_remove(PCI "/dev-0"); /* the HCA is taken out of the driver domain */
	request_frame(PV "/frames/" M0, "0");
	CHECK(none() && store_is(PV "/frames/" M0 "/error", "1"));
	end();
}

static void test_refused(void)
{
	begin();
	allow_err = -ENOMEM;
	request_frame(PV "/frames/" M0, "0");
	CHECK(one(true, 5, 524288, 0) && store_is(PV "/frames/" M0 "/error", "12"));
	CHECK(!store_find(PV_GRANT "/" M0) && lines == 1);
	/* What stands there is not tried again, whatever happens. */
	allow_err = 0;
	store_fire("@releaseDomain");
	request_frame(PV "/frames/" M0, "0");
	restart();
	CHECK(none() && lines == 1);
	withdraw(PV "/frames/" M0 "/error");
	CHECK(one(true, 5, 524288, 0) && store_is(PV_GRANT "/" M0, "0"));
	/* No grant, no right. */
	store_faults = (struct store_faults){ .path = PV_GRANT "/" M1, .write = EIO };
	request_frame(PV "/frames/" M1, "0");
	CHECK(none() && store_is(PV "/frames/" M1 "/error", "5"));
	store_faults.write = 0;
	withdraw(PV "/frames/" M1);
	CHECK(none());
	end();
}

/* What cannot be taken stays written down, and is tried again, also when the vHCA and its backend are gone. */
static void test_not_taken(void)
{
	begin();
	request_frame(AUTO "/frames/" M0, G0);
	n_calls = 0;
	deny_err = -ENOMEM;
	request_frame(AUTO "/frames/" M0, G15); /* it is not given twice */
	CHECK(one(false, 6, 524288, 1048576) && store_is(AUTO_GRANT "/" M0, "?" G0) && lines == 1);
	withdraw(AUTO "/frames/" M0);
	CHECK(one(false, 6, 524288, 1048576) && store_is(AUTO_GRANT "/" M0, "?" G0));
	deny_err = 0;
	store_fire("@releaseDomain");
	settle();
	CHECK(one(false, 6, 524288, 1048576) && !store_find(AUTO_GRANT "/" M0));
	request_frame(AUTO "/frames/" M0, G0);
	n_calls = 0;
	deny_err = -EINVAL; /* the guest has removed the mapping itself */
	withdraw(AUTO "/frames/" M0);
	CHECK(one(false, 6, 524288, 1048576) && !store_find(AUTO_GRANT "/" M0));
	request_frame(AUTO "/frames/" M0, G0);
	n_calls = 0;
	deny_err = -ENOMEM;
	release(3);
	CHECK(n_calls && store_is(AUTO_GRANT "/" M0, "?" G0) && !store_find(AUTO));
	n_calls = deny_err = 0;
	store_fire("@releaseDomain");
	settle();
	CHECK(one(false, 6, 524288, 1048576) && !store_find(IOMEM_GRANTS "/3"));
	end();
}

/* A daemon that ended in the middle of it. */
static void test_half_done(void)
{
	begin();
	close_server();
	store_put(AUTO "/frames/" M0, G0); /* it may have been given */
	store_put(AUTO_GRANT "/" M0, "?" G0);
	store_put(AUTO "/frames/" M1, G0); /* somewhere else */
	store_put(AUTO_GRANT "/" M1, "?" G15);
	store_put(PV_GRANT "/" M0, "?0"); /* and is not requested any more */
	open_server();
	CHECK(n_calls == 5);
	CHECK(was(0, false, 5, 524288, 0) && was(1, false, 6, 524288, 1048576) && was(2, true, 6, 524288, 1048576));
	CHECK(was(3, false, 6, 524289, 1048591) && was(4, true, 6, 524289, 1048576));
	CHECK(store_is(AUTO_GRANT "/" M0, G0) && store_is(AUTO_GRANT "/" M1, G0) && !store_find(PV_GRANT "/" M0));
	end();
}

/* One that ended between making a directory and saying whose it is. */
static void test_half_made(void)
{
	begin();
	close_server();
	store_remove(IOMEM_GRANTS);
	store_faults.permissions = EIO;
	open_server();
	CHECK(!store_find(IOMEM_GRANTS "/3/5/type") && lines);
	close_server();
	store_faults.permissions = 0;
	open_server();
	CHECK(store_is(IOMEM_GRANTS "/3/5/type", IOMEM_TYPE_PV) && store_permits(IOMEM_GRANTS "/3", 0, 3));
	CHECK(store_permits(IOMEM_GRANTS "/3/5", 0, 3) && store_permits(IOMEM_GRANTS "/3/5/type", 0, 3));
	close_server();
	/* And one that did not get to saying of what type the guest is. */
	store_remove(IOMEM_GRANTS);
	store_faults = (struct store_faults){ .path = IOMEM_GRANTS "/3/5/type", .write = EIO };
	open_server();
	CHECK(!store_find(IOMEM_GRANTS "/3/5/type") && store_is(IOMEM_GRANTS "/3/6/type", IOMEM_TYPE_AUTO));
	store_faults.write = 0;
	restart();
	CHECK(store_is(IOMEM_GRANTS "/3/5/type", IOMEM_TYPE_PV) && none());
	end();
}

static void test_restart(void)
{
	begin();
	request_frame(PV "/frames/" M0, "0");
	request_frame(AUTO "/frames/" M1, G0);
	n_calls = 0;
	restart();
	CHECK(none() && store_is(PV_GRANT "/" M0, "0") && store_is(AUTO_GRANT "/" M1, G0));
	/* What has changed meanwhile it finds as well. */
	close_server();
	store_remove(PV "/frames/" M0);
	store_put(AUTO "/frames/" M1, G15);
	store_put(AUTO "/frames/" M0, G0);
	open_server();
	CHECK(n_calls == 4 && was(0, false, 5, 524288, 0) && was(1, false, 6, 524289, 1048576) &&
	      was(2, true, 6, 524289, 1048591) && was(3, true, 6, 524288, 1048576));
	end();
}

/* Nodes without a grant are those of a guest that is new, so both go at once. */
static void check_both(void)
{
	CHECK(!store_find(IOMEM_GRANTS "/3/5/type") == !store_find(BACK "/5"));
}

static void test_guest_gone(void)
{
	begin();
	request_frame(PV "/frames/" M0, "0");
	n_calls = 0;
	store_called = check_both;
	release(5);
	CHECK(none()); /* Xen has done it */
	CHECK(!store_find(IOMEM_GRANTS "/3/5") && !store_find(BACK "/5") && store_find(IOMEM_GRANTS "/3/6/type"));
	/* It went while there was no daemon, and its nodes with it. */
	request_frame(AUTO "/frames/" M0, G0);
	n_calls = 0;
	close_server();
	domains[6] = GONE;
	store_remove(BACK "/6");
	open_server();
	CHECK(none() && !store_find(IOMEM_GRANTS "/3/6"));
	/* It cannot be known: nothing changes. */
	put_domain(7, IS_AUTO);
	put_vhca(BACK "/7/0", "/local/domain/7/device/vhca/0");
	settle();
	store_put(IOMEM_GRANTS "/3/7/0/" M0, "0");
	domains[7] = UNKNOWN;
	store_fire("@releaseDomain");
	settle();
	CHECK(none() && store_is(IOMEM_GRANTS "/3/7/0/" M0, "0") && store_find(BACK "/7/0"));
	end();
}

static void test_backend_gone(void)
{
	begin();
	request_frame(PV "/frames/" M0, "0");
	request_frame(AUTO "/frames/" M0, G0);
	request_frame(AUTO "/frames/" M1, G15);
	n_calls = 0;
	release(3); /* its nodes are there still */
	CHECK(n_calls == 3 && was(0, false, 5, 524288, 0) && was(1, false, 6, 524288, 1048576) &&
	      was(2, false, 6, 524289, 1048591));
	CHECK(!store_find(IOMEM_GRANTS "/3") && !store_find(PV) && !store_find(AUTO));
	CHECK(!store_find(PV_FRONT) && !store_find(AUTO_FRONT)); /* the guests lose their devices */
	/* Nothing is given for its sake any more. */
	put_vhca(PV, PV_FRONT);
	store_put(PV "/frames/" M0, "0");
	store_fire("@releaseDomain");
	settle();
	CHECK(n_calls == 3 && !store_find(IOMEM_GRANTS "/3"));
	store_remove("/local/domain/3");
	store_fire("@releaseDomain");
	settle();
	CHECK(n_calls == 3 && !store_watched(BACK) && store_watched("/local/domain/5/backend/vhca"));
	/* Another backend comes that has the same number. */
	put_domain(3, IS_PV);
	store_fire("@introduceDomain");
	settle();
	CHECK(n_calls == 3 && store_watched(BACK));
	/* What a guest may have that nothing is known of now is kept in mind. */
	put_vhca(PV, PV_FRONT);
	request_frame(PV "/frames/" M0, "0");
	n_calls = 0;
	domains[5] = UNKNOWN;
	release(3);
	CHECK(none() && store_is(PV_GRANT "/" M0, "0"));
	domains[5] = IS_PV;
	store_fire("@releaseDomain");
	settle();
	CHECK(one(false, 5, 524288, 0) && !store_find(IOMEM_GRANTS "/3"));
	end();
}

/* Backend and nodes went while there was no daemon. */
static void test_backend_gone_before(void)
{
	begin();
	request_frame(PV "/frames/" M0, "0");
	request_frame(AUTO "/frames/" M0, G0);
	n_calls = 0;
	close_server();
	store_remove("/local/domain/3");
	domains[3] = GONE;
	deny_err = -ESRCH; /* and the guests as well, meanwhile */
	open_server();
	CHECK(n_calls == 2 && was(0, false, 5, 524288, 0) && was(1, false, 6, 524288, 1048576));
	CHECK(lines == 1); /* that it is gone; the rest is as it should be */
	CHECK(!store_find(IOMEM_GRANTS "/3") && !store_watched(BACK) && !store_find(PV_FRONT));
	end();
}

static void test_nodes_gone(void)
{
	begin();
	request_frame(PV "/frames/" M0, "0");
	request_frame(AUTO "/frames/" M0, G0);
	n_calls = 0;
	withdraw(PV);
	CHECK(one(false, 5, 524288, 0) && !store_find(PV_GRANT "/" M0));
	CHECK(store_is(IOMEM_GRANTS "/3/5/type", IOMEM_TYPE_PV));
	withdraw(BACK);
	CHECK(one(false, 6, 524288, 1048576) && store_is(IOMEM_GRANTS "/3/6/type", IOMEM_TYPE_AUTO));
	restart();
	CHECK(none() && store_is(IOMEM_GRANTS "/3/6/type", IOMEM_TYPE_AUTO));
	end();
}

static void test_detached(void)
{
	begin();
	request_frame(PV "/frames/" M0, "0");
	request_frame(AUTO "/frames/" M0, G0);
	n_calls = 0;
	request_frame(PV "/detach", "wait"); /* as the tool writes it: the backend is at it */
	CHECK(none() && store_find(PV));
	request_frame(PV "/detach", "done");
	CHECK(one(false, 5, 524288, 0) && !store_find(PV) && !store_find(PV_FRONT) && !store_find(PV_GRANT "/" M0));
	CHECK(store_find(AUTO) && store_is(AUTO_GRANT "/" M0, G0) && store_is(IOMEM_GRANTS "/3/5/type", IOMEM_TYPE_PV));
	/* Of a guest that has another one by now: that one's nodes are not the backend's to remove. */
	store_put(AUTO_FRONT "/backend", "/local/domain/0/backend/vhca/6/0");
	request_frame(AUTO "/detach", "done");
	CHECK(one(false, 6, 524288, 1048576) && store_find(AUTO_FRONT "/backend") && !store_find(AUTO));
	end();
}

/* Nobody else can be named: all that follows is looked at, and not for one of these. */
static void test_names(void)
{
	static const char *const guests[] = { "0", "3", "05", "+5", "-5", "5x", "5 ", "guest", "32768", "65541",
		"4294967301", "18446744073709551621" };
	static const char *const devids[] = { "00", "+0", "65536", "4294967296", "x", "0x0" };
	static const char *const frames[] = { "0524288", "524288x", "+524288", "x", "-1", "18446744073710075904",
		"99999999999999999999999999999999999999", "0x80000" };
	static const char *const values[] = { "", "x", "-1", "1048576x", " 1048576", "+1048576", "0x100000",
		"18446744073709551616", "1048576 ", "0000000000000000000001048576" };
	char path[STORE_PATH];
	unsigned int i;

	begin();
	store_put("/local/domain/0/device/vhca/0/backend", BACK "/0/0");
	store_put("/local/domain/3/device/vhca/0/backend", BACK "/3/0");
	for (i = 0; i < sizeof(guests) / sizeof(guests[0]); i++) {
		snprintf(path, sizeof(path), BACK "/%s/0/frames/" M0, guests[i]);
		request_frame(path, "0");
	}
	for (i = 0; i < sizeof(devids) / sizeof(devids[0]); i++) {
		char frontend[STORE_PATH];

		snprintf(path, sizeof(path), BACK "/6/%s", devids[i]);
		snprintf(frontend, sizeof(frontend), "/local/domain/6/device/vhca/%s/backend", devids[i]);
		store_put(frontend, path);
		snprintf(frontend, sizeof(frontend), "/local/domain/6/device/vhca/%s/doorbell-gfn", devids[i]);
		store_put(frontend, G0);
		snprintf(frontend, sizeof(frontend), "/local/domain/6/device/vhca/%s/doorbell-gfns", devids[i]);
		store_put(frontend, "16");
		strcat(path, "/frames/" M0);
		request_frame(path, G0);
	}
	for (i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		snprintf(path, sizeof(path), AUTO "/frames/%s", frames[i]);
		request_frame(path, G0);
	}
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		request_frame(AUTO "/frames/" M0, values[i]);
	store_put_bytes(AUTO "/frames/" M0, G0 "\0", sizeof(G0));
	store_put("/local/domain/x/backend/vhca/6/0/frames/" M0, G0);
	store_put("/local/domain/03/backend/vhca/6/0/frames/" M0, G0);
	store_fire("@introduceDomain");
	settle();
	restart();
	CHECK(none() && !store_find(AUTO_GRANT "/" M0));
	request_frame(AUTO "/frames/" M0, "0" G0); /* a number nonetheless */
	CHECK(one(true, 6, 524288, 1048576) && store_is(AUTO_GRANT "/" M0, G0));
	end();
}

/* Backends wait for their turn, and dom0's daemon does other things meanwhile. */
static void test_rate(void)
{
	uint64_t start, spent;
	int rest;

	begin();
	store_put(PV "/frames/" M0, "0");
	call_ms = 200;
	start = now_ms;
	rest = iomem_server_service(l);
	spent = now_ms - start;
	CHECK(one(true, 5, 524288, 0) && spent >= 1000);
	CHECK(rest == (int)(3 * spent - 400) && iomem_server_fd(l) == -1); /* it had a quarter */
	store_put(PV "/frames/" M1, "0");
	now_ms += rest - 1;
	CHECK(iomem_server_service(l) == 1 && iomem_server_fd(l) == -1 && none() && store_events());
	now_ms++;
	call_ms = 0;
	CHECK(iomem_server_fd(l) == STORE_FD && iomem_server_service(l) == -1 && one(true, 5, 524289, 0));
	/* What takes less than its share goes at once. */
	now_ms += 10000;
	call_ms = 1;
	store_put(PV "/frames/524290", "0");
	CHECK(iomem_server_service(l) == -1 && iomem_server_fd(l) == STORE_FD && one(true, 5, 524290, 0));
	end();
}

static unsigned int domain_looks;

static void count_looks(void)
{
	domain_looks++;
}

/* More than it keeps in mind: it looks at all, and nothing is lost. The same many times is one. */
static void test_touched(void)
{
	unsigned int i, small;
	char path[64];

	begin();
	store_called = count_looks;
	domain_looks = 0;
	for (i = 0; i < 100; i++)
		store_put(PV "/frames/" M0, "0");
	settle();
	CHECK(one(true, 5, 524288, 0));
	small = domain_looks;
	/* Without these events nothing would make it look at that one. */
	store_put_bytes(IOMEM_GRANTS "/3/6/0/" M1, G0, strlen(G0));
	settle();
	CHECK(none());
	for (i = 0; i < 64; i++) {
		snprintf(path, sizeof(path), PV "/frames/%u", i);
		store_put(path, "x");
	}
	settle();
	CHECK(none());
	for (i = 0; i < 65; i++) {
		snprintf(path, sizeof(path), PV "/frames/%u", i);
		store_put(path, "x");
	}
	settle();
	CHECK(one(false, 6, 524289, 1048576) && !store_find(AUTO_GRANT "/" M1));
	CHECK(small < 20); /* of the library */
	end();
}

/* However much a backend writes that cannot be. */
static void test_lines(void)
{
	char path[64];
	unsigned int i;

	begin();
	deny_err = -EINVAL;
	for (i = 0; i < 200; i++) {
		snprintf(path, sizeof(path), PV "/frames/%u", 1000 + i);
		request_frame(path, "0");
		store_remove(path);
		request_frame(AUTO "/frames/" M0, i & 1 ? G0 : G15); /* denying is said as well */
		if (i == 99)
			CHECK(lines <= 10);
		if (i >= 100)
			now_ms += 500;
		n_calls = 0;
	}
	CHECK(lines >= 20 && lines <= 10 + 51);
	end();
}

/* Guests that are none; as many as it likes. */
static void test_no_guests(void)
{
	unsigned int i;
	char path[64];

	begin();
	for (i = 0; i < 100; i++) {
		snprintf(path, sizeof(path), BACK "/%u/0/frames/" M0, 100 + i);
		request_frame(path, "0");
	}
	store_fire("@introduceDomain");
	settle();
	CHECK(none() && lines <= 10 && !store_find(BACK "/100") && !store_find(BACK "/199") && store_find(PV));
	end();
}

static void put_file(const char *function, const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s/%s", dir, function, name);
	file = fopen(path, "w");
	CHECK(file && fputs(text, file) >= 0 && !fclose(file));
}

static void put_function(const char *function, const char *resource, const char *device)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, function);
	CHECK(!mkdir(path, 0700));
	put_file(function, "resource", resource);
	put_file(function, "vendor", "0x15b3\n");
	put_file(function, "device", device);
}

static void make_sysfs(void)
{
	CHECK(mkdtemp(dir));
	put_function("0000:01:00.0", RESOURCE, "0x1017\n");
	put_function("0000:02:00.0", OTHER_RESOURCE, "0x1007\n");
	pci_assigned_sysfs = dir;
}

static void remove_function(const char *function)
{
	static const char *const names[] = { "resource", "vendor", "device" };
	char path[128];
	unsigned int i;

	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s/%s", dir, function, names[i]);
		CHECK(!unlink(path));
	}
	*strrchr(path, '/') = 0;
	CHECK(!rmdir(path));
}

static void remove_sysfs(void)
{
	remove_function("0000:01:00.0");
	remove_function("0000:02:00.0");
	CHECK(!rmdir(dir));
}

int main(void)
{
	log_setup("test", LOG_DEBUG);
	log_to(count_line);
	make_sysfs();
	test_open();
	test_pv();
	test_auto();
	test_places();
	test_not_agreed();
	test_not_assigned();
	test_refused();
	test_not_taken();
	test_half_done();
	test_half_made();
	test_restart();
	test_guest_gone();
	test_backend_gone();
	test_backend_gone_before();
	test_nodes_gone();
	test_detached();
	test_names();
	test_rate();
	test_touched();
	test_lines();
	test_no_guests();
	remove_sysfs();
	return EXIT_SUCCESS;
}
