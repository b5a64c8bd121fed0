// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_iomem_remote.c - what a driver domain's daemon, of domain 3 here, asks dom0's for, and what it takes
 * for an answer. Xenstore is a table, and dom0 does something whenever the daemon waits; that takes no
 * time, but the clock goes on.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "unit/fakes/fake_store.h"
#include "unit/fakes/fixture.h"
#include "util/log.h"
#include "xen/iomem_remote.h"

#define REQUEST "/local/domain/3/backend/vhca/5/1/frames/524288"
#define ERROR REQUEST "/error"
#define GUEST IOMEM_GRANTS "/3/5"
#define GRANT GUEST "/1/524288"

static const struct iomem_frame frame = {
	.domid = 5, .devid = 1, .mfn = 524288, .gfn = 1048576, .auto_translated = true
};

/* Time, and dom0, which does one thing after so many pauses. */

static uint64_t now_ns, began_ns, longest_ns;
static unsigned int pauses, after;
static void (*dom0)(void);

int clock_gettime(clockid_t clock, struct timespec *time)
{
	CHECK(clock == CLOCK_MONOTONIC);
	*time = (struct timespec){ .tv_sec = now_ns / 1000000000, .tv_nsec = now_ns % 1000000000 };
	return 0;
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
	uint64_t ns = time->tv_sec * 1000000000ull + time->tv_nsec;

	CHECK(ns > 0 && !left);
	now_ns += ns;
	if (ns > longest_ns)
		longest_ns = ns;
	if (++pauses == after && dom0)
		dom0();
	return 0;
}

static uint64_t waited_ms(void)
{
	return (now_ns - began_ns) / 1000000;
}

static void begin(unsigned int n, void (*what)(void))
{
	store_clear();
	store_put("/local/domain/3/backend/vhca/5/1/state", "4");
	pauses = 0;
	longest_ns = 0;
	after = n;
	dom0 = what;
	now_ns += 1999999999; /* seconds change while it waits */
	began_ns = now_ns;
}

static int allow(void)
{
	return iomem_remote_allow(NULL, 3, &frame);
}

static int deny(void)
{
	return iomem_remote_deny(NULL, 3, &frame);
}

static void test_paths(void)
{
	const struct iomem_frame last = { .domid = 32767, .devid = UINT16_MAX, .mfn = UINT64_MAX };
	char path[IOMEM_PATH];

	iomem_request_path(path, 3, &frame);
	CHECK(!strcmp(path, REQUEST));
	iomem_grant_path(path, 3, &frame);
	CHECK(!strcmp(path, GRANT));
	iomem_request_path(path, 32766, &last);
	CHECK(!strcmp(path,
		      "/local/domain/32766/backend/vhca/32767/65535/frames/18446744073709551615"));
	iomem_grant_path(path, 32766, &last);
	CHECK(!strcmp(path, IOMEM_GRANTS "/32766/32767/65535/18446744073709551615"));
}

static int look(bool *auto_translated)
{
	return iomem_remote_domain(NULL, 3, 5, auto_translated);
}

static void test_domain(void)
{
	static const int errors[] = { EIO, EACCES, ENOMEM, EINVAL };
	bool is_auto = false;
	unsigned int i;

	begin(0, NULL);
	store_put(GUEST "/type", IOMEM_TYPE_AUTO);
	CHECK(!look(&is_auto) && is_auto);
	store_put(GUEST "/type", IOMEM_TYPE_PV);
	CHECK(!look(&is_auto) && !is_auto);
	store_remove(GUEST);
	CHECK(look(&is_auto) == -EAGAIN);
	CHECK(iomem_remote_domain(NULL, 3, 55, &is_auto) == -ESRCH &&
	      iomem_remote_domain(NULL, 4, 5, &is_auto) == -ESRCH);
	store_put(GUEST "/type", "nothing that anybody could know");
	CHECK(look(&is_auto) == -EAGAIN);
	store_remove(GUEST);
	store_remove("/local/domain/3/backend/vhca/5/1"); /* its last vHCA */
	CHECK(look(&is_auto) == -EAGAIN);
	store_remove("/local/domain/3/backend/vhca/5");
	CHECK(look(&is_auto) == -ESRCH);
	for (i = 0; i < sizeof(errors) / sizeof(errors[0]);
	     i++) { /* which says nothing about the domain */
		store_faults.read = errors[i];
		CHECK(look(&is_auto) == -errors[i]);
	}
	CHECK(!pauses);
}

static void give(void)
{
	store_put(GRANT, "1048576");
}

static void refuse(void)
{
	store_put(ERROR, "1");
}

static void break_reading(void)
{
	store_faults.read = EIO;
}

static void break_writing(void)
{
	store_faults.write = EIO;
}

static void test_allow(void)
{
	begin(1, give);
	CHECK(!allow() && store_is(REQUEST, "1048576") && pauses == 1 && waited_ms() == 1);
	begin(7, give);
	CHECK(!allow() && store_is(REQUEST, "1048576") && pauses == 7);
	begin(500, give);
	CHECK(!allow() && pauses == 500);
	CHECK(longest_ns == 16000000); /* it looks often, and longer does not keep the CPU busy */
	begin(0, NULL);                /* as it was before */
	give();
	CHECK(!allow() && !pauses && store_is(REQUEST, "1048576"));
}

static void test_refused(void)
{
	begin(3, refuse);
	CHECK(allow() == -EPERM && pauses == 3 && !store_find(REQUEST));
	/* What was said of an earlier request is not said of this one. */
	begin(3, give);
	store_put(REQUEST, "77");
	store_put(ERROR, "22");
	CHECK(!allow() && pauses == 3 && store_is(REQUEST, "1048576") && !store_find(ERROR));
	begin(3, refuse);
	store_put(ERROR, "22");
	CHECK(allow() == -EPERM && pauses == 3 && !store_find(REQUEST));
}

static void change_mind(void)
{
	store_put(GRANT, "?1048576");
}

static void give_other(void)
{
	store_put(GRANT, "1048577");
}

static void give_nonsense(void)
{
	store_put(GRANT, "1048576 ");
}

static void say_nonsense(void)
{
	store_put(ERROR, "no");
}

/* Ten seconds, and a little that the last pause takes. */
static bool in_vain(void (*what)(void))
{
	begin(3, what);
	return allow() == -ETIMEDOUT && waited_ms() >= 10000 && waited_ms() < 10050 &&
	       !store_find(REQUEST);
}

static void test_no_answer(void)
{
	CHECK(in_vain(NULL));
	CHECK(in_vain(change_mind));
	CHECK(in_vain(give_other));
	CHECK(in_vain(give_nonsense));
	CHECK(in_vain(say_nonsense));
	CHECK(in_vain(break_reading));
	CHECK(pauses < 1000);
}

static void test_broken(void)
{
	begin(0, NULL);
	break_writing();
	CHECK(allow() == -EIO && deny() == -EIO && !pauses);
	store_faults = (struct store_faults){ .path = ERROR, .write = EACCES };
	store_put(ERROR, "22");
	CHECK(allow() == -EACCES && !pauses); /* it could not be told from an answer */
	/* What cannot be withdrawn has failed nonetheless. */
	begin(3, break_writing);
	CHECK(allow() == -ETIMEDOUT && store_is(REQUEST, "1048576"));
}

static void take(void)
{
	CHECK(!store_find(REQUEST));
	store_remove(GRANT);
}

static void remove_guest(void)
{
	store_remove(GUEST);
}

static void test_deny(void)
{
	begin(4, take);
	give();
	store_put(REQUEST, "1048576");
	CHECK(!deny() && pauses == 4 && !store_find(REQUEST) && !store_find(GRANT));
	CHECK(!deny() && pauses == 4); /* it has it no more */
	begin(4, take);
	change_mind(); /* it may map it until dom0 says that it may not */
	CHECK(!deny() && pauses == 4);
	begin(4, remove_guest);
	give();
	CHECK(!deny() && pauses == 4);
	begin(4, change_mind);
	give();
	store_put(REQUEST, "1048576");
	CHECK(deny() == -ETIMEDOUT && waited_ms() >= 10000 && waited_ms() < 10050 &&
	      !store_find(REQUEST));
	begin(4, break_reading);
	give();
	CHECK(deny() == -EIO && pauses == 4);
}

int main(void)
{
	log_setup("test", 0);
	test_paths();
	test_domain();
	test_allow();
	test_refused();
	test_no_answer();
	test_broken();
	test_deny();
	return EXIT_SUCCESS;
}
