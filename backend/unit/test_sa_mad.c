// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_sa_mad.c - xen-ibgsi's view of datagrams of the subnet's administration: which a guest may send,
 * where an answer in parts ends, and records of multicast groups, written and read back; and a guest's
 * transactions: answers in one part and in several, how many there may be, and when those end that it has left.
 */
#include <string.h>

#include "modules/xen-ibgsi/sa_mad.h"
#include "modules/xen-ibgsi/sa_table.h"
#include "unit/fakes/fixture.h"

enum { GET = 1, SET = 2, SEND = 3, GET_TABLE = 0x12, DELETE = 0x15 };
enum { ACTIVE = 1, FIRST = 2, LAST = 4 };

static const __u8 *mad(__u8 method, __u8 attribute, __u8 rmpp_type, __u8 rmpp_flags, __u8 part)
{
	static __u8 bytes[256];

	memset(bytes, 0, sizeof(bytes));
	bytes[0] = 1;
	bytes[1] = 3;
	bytes[2] = 2;
	bytes[MAD_METHOD] = method;
	bytes[17] = attribute;
	bytes[25] = rmpp_type;
	bytes[26] = rmpp_flags;
	bytes[31] = part;
	return bytes;
}

static enum sa_kind kind(__u8 method, __u8 attribute, __u8 rmpp_type, __u8 rmpp_flags)
{
	return sa_kind(mad(method, attribute, rmpp_type, rmpp_flags, 0));
}

static void test_kinds(void)
{
	__u8 changed[256];
	unsigned int i;

	CHECK(kind(GET, 0x35, 0, 0) == SA_MAD_ASKS && kind(GET_TABLE, 0x38, 0, 0) == SA_MAD_ASKS);
	CHECK(kind(SET, 0x38, 0, 0) == SA_MAD_JOINS && kind(DELETE, 0x38, 0, 0) == SA_MAD_LEAVES);
	CHECK(kind(SET, 0x31, 0, 0) == SA_MAD_UNSUPPORTED);
	CHECK(kind(DELETE, 0x31, 0, 0) == SA_MAD_UNSUPPORTED);
	for (i = 0; i < 256; i++)
		if (i != GET && i != GET_TABLE && i != SET && i != DELETE)
			CHECK(kind(i, 0x38, 0, 0) == SA_MAD_UNSUPPORTED);
	for (i = 0; i < 256; i++) {
		enum sa_kind is = kind(GET_TABLE, 0x38, i, ACTIVE);

		CHECK(is == (i >= 2 && i <= 4 ? SA_MAD_GOES_ON : SA_MAD_UNSUPPORTED));
		/* None that changes something has parts. */
		CHECK(kind(SET, 0x38, i, ACTIVE) == SA_MAD_UNSUPPORTED);
		CHECK(kind(DELETE, 0x38, i, ACTIVE) == SA_MAD_UNSUPPORTED);
	}
	for (i = 0; i < 8; i++) {
		memcpy(changed, mad(GET, 0x35, 0, 0, 0), sizeof(changed));
		changed[36 + i] = 1;
		CHECK(sa_kind(changed) == SA_MAD_INVALID);
	}
	memcpy(changed, mad(GET, 0x35, 0, 0, 0), sizeof(changed));
	changed[2] = 1;
	CHECK(sa_kind(changed) == SA_MAD_INVALID);
}

static void test_parts(void)
{
	CHECK(!sa_is_part(mad(0x92, 0x38, 1, 0, 1)) && sa_is_part(mad(0x92, 0x38, 1, ACTIVE, 1)));
	CHECK(!sa_last_part(mad(0x92, 0x38, 1, ACTIVE | FIRST, 1)));
	CHECK(sa_last_part(mad(0x92, 0x38, 1, ACTIVE | FIRST | LAST, 1)) == 1);
	CHECK(sa_last_part(mad(0x92, 0x38, 1, ACTIVE | LAST, 9)) == 9);
	CHECK(!sa_last_part(mad(0x92, 0x38, 1, LAST, 9)) &&
	      !sa_last_part(mad(0x92, 0x38, 2, 5, 9)));
	CHECK(!sa_ends(mad(GET_TABLE, 0x38, 2, ACTIVE, 8), 9));
	CHECK(sa_ends(mad(GET_TABLE, 0x38, 2, ACTIVE, 9), 9));
	CHECK(!sa_ends(mad(GET_TABLE, 0x38, 2, ACTIVE, 9), 0));
	CHECK(sa_ends(mad(GET_TABLE, 0x38, 3, ACTIVE, 1), 9));
	CHECK(sa_ends(mad(GET_TABLE, 0x38, 4, ACTIVE, 1), 0));
}

static void test_groups(void)
{
	struct sa_group group = {
		.mgid = { 0xff, 0x12, 0x40, 0x1b },
		.port_gid = { 0xfe, 0x80 },
		.qkey = 0x80010b1b,
		.flow_label = 0xabcde,
		.mlid = 0xc003,
		.pkey = 0x8001,
		.mtu_selector = 2,
		.mtu = 4,
		.rate_selector = 3,
		.rate = 0x3f,
		.life_selector = 1,
		.life = 18,
		.tclass = 0x77,
		.sl = 0xf,
		.hop_limit = 0xff,
		.scope = 2,
		.state = 5,
	}, again;
	__u8 bytes[256];

	memcpy(bytes, mad(SET, 0x38, 0, 0, 0), sizeof(bytes));
	bytes[105] = 0x80;
	sa_group_write(bytes, &group);
	CHECK(!sa_group_read(bytes, &again)); /* it does not say that these fields are given */
	bytes[53] = 1;
	bytes[55] = 1;
	CHECK(sa_group_read(bytes, &again) && again.mask == (SA_GROUP_STATE | SA_GROUP_MGID));
	group.mask = again.mask;
	CHECK(!memcmp(&group, &again, sizeof(group)));
	/* As the fabric has it */
	CHECK(bytes[56] == 0xff && bytes[72] == 0xfe && bytes[88] == 0x80 && bytes[91] == 0x1b);
	CHECK(bytes[92] == 0xc0 && bytes[94] == 0x84 && bytes[96] == 0x80 && bytes[97] == 1);
	CHECK(bytes[98] == 0xff && bytes[99] == 0x52 && bytes[100] == 0xfa && bytes[103] == 0xff);
	CHECK(bytes[104] == 0x25 && !bytes[105]);

	bytes[105] = 0x80;
	CHECK(!sa_group_read(bytes, &again));
	bytes[105] = 0;
	bytes[104] = 0x20;
	CHECK(!sa_group_read(bytes, &again));
	bytes[104] = 0x21;
	bytes[56] = 0xfe;
	CHECK(!sa_group_read(bytes, &again));
	bytes[56] = 0xff;
	bytes[55] = 0;
	CHECK(!sa_group_read(bytes, &again));
	bytes[55] = 1;
	bytes[53] = 0;
	CHECK(!sa_group_read(bytes, &again));
	bytes[53] = 1;
	CHECK(sa_group_read(bytes, &again) && again.state == 1 && again.scope == 2);
}

/* ---- transactions ---- */

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

static void test_table_parts(void)
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
	test_kinds();
	test_parts();
	test_groups();
	test_one_part();
	test_table_parts();
	test_full();
	test_numbers();
	return 0;
}
