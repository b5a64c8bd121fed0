// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * sa_table.c - see sa_table.h. A number is the place in the table, and above that how often the
 * table was gone through for a free one.
 */
#ifdef __KERNEL__
#include <linux/stddef.h>
#else
#include <stddef.h>
#endif

#include "sa_table.h"

#define ROUNDS 0x800000 /* a number has 31 bits */

static void expire(struct sa_request *request, __u64 now)
{
	if (request->in_parts && now >= request->until)
		request->number = 0;
}

__u32 sa_table_add(struct sa_table *table, __u64 tid, __u32 era, __u64 now)
{
	__u32 i;

	table->round = table->round % (ROUNDS - 1) + 1;
	for (i = 0; i < SA_REQUESTS; i++) {
		struct sa_request *request = &table->request[i];

		expire(request, now);
		if (request->number)
			continue;
		*request = (struct sa_request){
			.number = table->round * SA_REQUESTS + i,
			.era = era,
			.tid = tid,
		};
		return request->number;
	}
	return 0;
}

struct sa_request *sa_table_find(struct sa_table *table, __u32 number)
{
	struct sa_request *request = &table->request[number % SA_REQUESTS];

	return number && request->number == number ? request : NULL;
}

struct sa_request *sa_table_in_parts(struct sa_table *table, __u64 tid, __u64 now)
{
	__u32 i;

	for (i = 0; i < SA_REQUESTS; i++) {
		struct sa_request *request = &table->request[i];

		expire(request, now);
		if (request->number && request->in_parts && request->tid == tid)
			return request;
	}
	return NULL;
}

void sa_table_end(struct sa_table *table, __u32 number)
{
	struct sa_request *request = sa_table_find(table, number);

	if (request && !request->in_parts)
		request->number = 0;
}

void sa_table_forget(struct sa_table *table)
{
	__u32 i;

	for (i = 0; i < SA_REQUESTS; i++)
		if (table->request[i].in_parts)
			table->request[i].number = 0;
}
