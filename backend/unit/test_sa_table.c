// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_sa_table.c - a guest's transactions with the subnet's administration: answers in one part and in
 * several, how many there may be, and when those end that the guest has left.
 */
#include <string.h>

#include "modules/xen-ibgsi/sa_table.h"
#include "unit/fakes/fixture.h"

static struct sa_table table;

static __u32 add(__u64 tid, __u64 now)
{
	__u32 number = sa_table_add(&table, tid, 1, now);
	struct sa_request *request = sa_table_find(&table, number);

	if (number)
		CHECK(request && request->tid == tid && request->era == 1 && !request->in_parts);
	return number;
}

static void first_part(__u32 number, __u64 until)
{
	struct sa_request *request = sa_table_find(&table, number);

	CHECK(request);
	request->in_parts = true;
	request->until = until;
}

static void test_one_part(void)
{
	__u32 a, b, c;

	memset(&table, 0, sizeof(table));
	CHECK(!sa_table_find(&table, 0) && !sa_table_find(&table, 77));
	a = add(5, 0);
	b = add(5, 0); /* asked again, before there was an answer */
	CHECK(a && b && a != b);
	CHECK(!sa_table_in_parts(&table, 5, 0));
	sa_table_end(&table, a);
	CHECK(!sa_table_find(&table, a) && sa_table_find(&table, b));
	sa_table_end(&table, a);
	/* In the same place, and with another number: what comes late for the old one is nobody's. */
	c = add(6, 0);
	CHECK(c % SA_REQUESTS == a % SA_REQUESTS && c != a && !sa_table_find(&table, a));
}

static void test_parts(void)
{
	__u32 a, b;

	memset(&table, 0, sizeof(table));
	a = add(5, 0);
	b = add(6, 0);
	first_part(a, 100);
	sa_table_end(&table, a); /* the MAD that asked is done with */
	CHECK(sa_table_find(&table, a));
	CHECK(sa_table_in_parts(&table, 5, 99) == sa_table_find(&table, a));
	CHECK(!sa_table_in_parts(&table, 6, 99));
	CHECK(!sa_table_in_parts(&table, 5, 100) && !sa_table_find(&table, a));
	CHECK(sa_table_find(&table, b));
	first_part(b, 100);
	sa_table_forget(&table);
	CHECK(!sa_table_find(&table, b));
	a = add(7, 0);
	sa_table_forget(&table); /* waits for its MAD */
	CHECK(sa_table_find(&table, a));
}

static void test_full(void)
{
	__u32 number[SA_REQUESTS];
	unsigned int i;

	memset(&table, 0, sizeof(table));
	for (i = 0; i < SA_REQUESTS; i++)
		CHECK((number[i] = add(i, 0)));
	CHECK(!add(1000, 0));
	first_part(number[9], 50);
	CHECK(!add(1000, 49));
	CHECK(add(1000, 50) % SA_REQUESTS == number[9] % SA_REQUESTS && !add(1000, 50));
	for (i = 0; i < SA_REQUESTS; i++)
		CHECK(i == 9 || sa_table_find(&table, number[i])->tid == i);
}

/* Numbers come again after all others of their place, are never 0, and fit into 31 bits. */
static void test_numbers(void)
{
	__u32 number, before = 0;
	unsigned int i;

	memset(&table, 0, sizeof(table));
	table.round = (1u << 23) - 3;
	for (i = 0; i < 4; i++) {
		number = add(i, 0);
		CHECK(number && number < 1u << 31 && number != before);
		before = number;
		sa_table_end(&table, number);
	}
}

int main(void)
{
	test_one_part();
	test_parts();
	test_full();
	test_numbers();
	return 0;
}
