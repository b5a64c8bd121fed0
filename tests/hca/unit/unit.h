/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The frame of a unit test program: include it once, write TEST()s.
 *
 *	TEST(empty_queue_has_no_head)
 *	{
 *		CHECK(queue_head(&q) == NULL);
 *		CHECK_EQ(queue_len(&q), 0);
 *	}
 *
 * The program runs all of its tests, or those named as arguments; --list names them. It exits
 * with 0 if all passed, 1 if one failed, 2 if an argument names no test. A program that takes
 * more than UNIT_TIMEOUT seconds is ended by SIGALRM.
 */
#ifndef HCA_UNIT_H
#define HCA_UNIT_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef UNIT_TIMEOUT
#define UNIT_TIMEOUT 120
#endif

struct unit_test {
	const char *name;
	void (*run)(void);
	struct unit_test *next;
};

static struct unit_test *unit_first, **unit_last = &unit_first;
static unsigned int unit_failures; /* of the test that runs */
static jmp_buf unit_out;

#define TEST(fn) \
	static void fn(void); \
	static struct unit_test fn##_test = { #fn, fn, NULL }; \
	__attribute__((constructor)) static void fn##_register(void) \
	{ \
		*unit_last = &fn##_test; \
		unit_last = &fn##_test.next; \
	} \
	static void fn(void)

static inline bool unit_check(bool ok, const char *file, int line, const char *what)
{
	if (ok)
		return true;
	printf("%s:%d: not so: %s\n", file, line, what);
	unit_failures++;
	return false;
}

static inline bool unit_check_eq(long long a, long long b, const char *file, int line,
				 const char *a_text, const char *b_text)
{
	if (a == b)
		return true;
	printf("%s:%d: %s is %lld (0x%llx), not %s, %lld (0x%llx)\n", file, line, a_text, a,
	       (unsigned long long)a, b_text, b, (unsigned long long)b);
	unit_failures++;
	return false;
}

/* Note a failure and go on. */
#define CHECK(cond) unit_check((cond), __FILE__, __LINE__, #cond)
#define CHECK_EQ(a, b) unit_check_eq((long long)(a), (long long)(b), __FILE__, __LINE__, #a, #b)

/* Where going on makes no sense: leaves the test. */
#define REQUIRE(cond) \
	do { \
		if (!CHECK(cond)) \
			longjmp(unit_out, 1); \
	} while (0)
#define REQUIRE_EQ(a, b) \
	do { \
		if (!CHECK_EQ(a, b)) \
			longjmp(unit_out, 1); \
	} while (0)

static inline struct unit_test *unit_find(const char *name)
{
	struct unit_test *t = unit_first;

	while (t && strcmp(t->name, name))
		t = t->next;
	return t;
}

static inline bool unit_run(const struct unit_test *t)
{
	unit_failures = 0;
	if (!setjmp(unit_out))
		t->run();
	if (unit_failures)
		printf("FAIL %s\n", t->name);
	return !unit_failures;
}

static inline int unit_run_named(int count, char **names)
{
	int failed = 0;

	for (int i = 0; i < count; i++) {
		struct unit_test *t = unit_find(names[i]);

		if (!t) {
			fprintf(stderr, "no test is called %s (--list names them)\n", names[i]);
			return 2;
		}
		failed |= !unit_run(t);
	}
	return failed;
}

int main(int argc, char **argv)
{
	unsigned int run = 0, failed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && !strcmp(argv[1], "--list")) {
		for (struct unit_test *t = unit_first; t; t = t->next)
			puts(t->name);
		return 0;
	}
	alarm(UNIT_TIMEOUT);
	if (argc > 1)
		return unit_run_named(argc - 1, argv + 1);
	for (struct unit_test *t = unit_first; t; t = t->next) {
		run++;
		failed += !unit_run(t);
	}
	printf("%u tests, %u failed\n", run, failed);
	return failed != 0;
}

#endif
