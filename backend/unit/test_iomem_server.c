// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_iomem_server.c - what dom0's daemon does for a driver domain: each request is made so once, what was made is
 * undone whoever goes first, and a daemon that begins anew finds what is there.
 */
#include "unit/fakes/iomem_server.h"

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
	CHECK(store_is(IOMEM_GRANTS "/3/5/type", IOMEM_TYPE_PV) &&
	      store_is(IOMEM_GRANTS "/3/6/type", IOMEM_TYPE_AUTO));
	CHECK(store_permits(IOMEM_GRANTS "/3/5/type", 0, 3) &&
	      store_permits(IOMEM_GRANTS "/3", 0, 3));
	CHECK(store_permits(IOMEM_GRANTS, 0, 0));
	request_frame(PV "/frames/" M0, "0");
	CHECK(one(true, 5, 524288, 0) && store_is(PV_GRANT "/" M0, "0") &&
	      store_permits(PV_GRANT "/" M0, 0, 3));
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
	CHECK(n_calls == 2 && was(0, false, 6, 524288, 1048591) &&
	      was(1, true, 6, 524288, 1048576));
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
		{ "", "16" },
		{ G0, "" },
		{ "x", "16" },
		{ G0, "-1" },
		{ G0, "65537" },
		{ "-1", "16" },
		{ "18446744073709551615", "16" },
		{ "18446744073709551616", "16" },
		{ G0, "0" },
		{ "0", "65536" },
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
		M_END,        "524282", "0", "18446744073709551615",
		INIT_SEGMENT, "524287", /* the last before the first doorbell page */
		"589824",     "589829", /* of BAR 2 */
		"655360",     "655370", /* of the other device */
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
	CHECK(was(0, false, 5, 524288, 0) && was(1, false, 6, 524288, 1048576) &&
	      was(2, true, 6, 524288, 1048576));
	CHECK(was(3, false, 6, 524289, 1048591) && was(4, true, 6, 524289, 1048576));
	CHECK(store_is(AUTO_GRANT "/" M0, G0) && store_is(AUTO_GRANT "/" M1, G0) &&
	      !store_find(PV_GRANT "/" M0));
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
	CHECK(store_is(IOMEM_GRANTS "/3/5/type", IOMEM_TYPE_PV) &&
	      store_permits(IOMEM_GRANTS "/3", 0, 3));
	CHECK(store_permits(IOMEM_GRANTS "/3/5", 0, 3) &&
	      store_permits(IOMEM_GRANTS "/3/5/type", 0, 3));
	close_server();
	/* And one that did not get to saying of what type the guest is. */
	store_remove(IOMEM_GRANTS);
	store_faults = (struct store_faults){ .path = IOMEM_GRANTS "/3/5/type", .write = EIO };
	open_server();
	CHECK(!store_find(IOMEM_GRANTS "/3/5/type") &&
	      store_is(IOMEM_GRANTS "/3/6/type", IOMEM_TYPE_AUTO));
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
	CHECK(!store_find(IOMEM_GRANTS "/3/5") && !store_find(BACK "/5") &&
	      store_find(IOMEM_GRANTS "/3/6/type"));
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
	CHECK(n_calls == 3 && !store_watched(BACK) &&
	      store_watched("/local/domain/5/backend/vhca"));
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
	CHECK(one(false, 6, 524288, 1048576) &&
	      store_is(IOMEM_GRANTS "/3/6/type", IOMEM_TYPE_AUTO));
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
	CHECK(one(false, 5, 524288, 0) && !store_find(PV) && !store_find(PV_FRONT) &&
	      !store_find(PV_GRANT "/" M0));
	CHECK(store_find(AUTO) && store_is(AUTO_GRANT "/" M0, G0) &&
	      store_is(IOMEM_GRANTS "/3/5/type", IOMEM_TYPE_PV));
	/* Of a guest that has another one by now: that one's nodes are not the backend's to remove. */
	store_put(AUTO_FRONT "/backend", "/local/domain/0/backend/vhca/6/0");
	request_frame(AUTO "/detach", "done");
	CHECK(one(false, 6, 524288, 1048576) && store_find(AUTO_FRONT "/backend") &&
	      !store_find(AUTO));
	end();
}

/* Nobody else can be named: all that follows is looked at, and not for one of these. */
int main(void)
{
	begin_all();
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
	end_all();
	return EXIT_SUCCESS;
}
