// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_iomem_server_limits.c - whatever a driver domain writes, dom0's daemon does no more than it should: names that
 * are none, more than it can keep in mind, and how much time and how many lines in the log all that may cost.
 */
#include "unit/fakes/iomem_server.h"

static void test_names(void)
{
	static const char *const guests[] = {
		"0",  "3",     "05",    "+5",    "-5",         "5x",
		"5 ", "guest", "32768", "65541", "4294967301", "18446744073709551621"
	};
	static const char *const devids[] = { "00", "+0", "65536", "4294967296", "x", "0x0" };
	static const char *const frames[] = { "0524288",
					      "524288x",
					      "+524288",
					      "x",
					      "-1",
					      "18446744073710075904",
					      "99999999999999999999999999999999999999",
					      "0x80000" };
	static const char *const values[] = { "",         "x",
					      "-1",       "1048576x",
					      " 1048576", "+1048576",
					      "0x100000", "18446744073709551616",
					      "1048576 ", "0000000000000000000001048576" };
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
		snprintf(frontend, sizeof(frontend), "/local/domain/6/device/vhca/%s/backend",
			 devids[i]);
		store_put(frontend, path);
		snprintf(frontend, sizeof(frontend), "/local/domain/6/device/vhca/%s/doorbell-gfn",
			 devids[i]);
		store_put(frontend, G0);
		snprintf(frontend, sizeof(frontend), "/local/domain/6/device/vhca/%s/doorbell-gfns",
			 devids[i]);
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
	CHECK(iomem_server_fd(l) == STORE_FD && iomem_server_service(l) == -1 &&
	      one(true, 5, 524289, 0));
	/* What takes less than its share goes at once. */
	now_ms += 10000;
	call_ms = 1;
	store_put(PV "/frames/524290", "0");
	CHECK(iomem_server_service(l) == -1 && iomem_server_fd(l) == STORE_FD &&
	      one(true, 5, 524290, 0));
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
	CHECK(none() && lines <= 10 && !store_find(BACK "/100") && !store_find(BACK "/199") &&
	      store_find(PV));
	end();
}

int main(void)
{
	begin_all();
	test_names();
	test_rate();
	test_touched();
	test_lines();
	test_no_guests();
	end_all();
	return EXIT_SUCCESS;
}
