// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_quota.c - limits: the last that is allowed and the first that is not, and what the daemon can serve at most.
 */
#include <stdlib.h>
#include <string.h>

#include "unit/fakes/fixture.h"
#include "vhca/quota.h"

/* One more than can be served, whatever the key. */
static bool one_too_many(void *from, const char *key, uint64_t *value)
{
	unsigned int i;

	(void)from;
	for (i = 0; i < LIMITS; i++)
		if (!strcmp(limit_key(i)->name, key))
			*value = limit_key(i)->most + 1;
	return true;
}

static void bounds(void)
{
	struct quota quota;
	unsigned int i;

	quota_setup(&quota, NULL, NULL);
	for (i = 0; i < LIMITS; i++)
		CHECK(*quota_limit(&quota, i) == limit_key(i)->value);
	quota_setup(&quota, one_too_many, NULL);
	for (i = 0; i < LIMITS; i++)
		CHECK(*quota_limit(&quota, i) == limit_key(i)->most);
}

static void items(void)
{
	struct quota_item item = { .limit = 10 };

	CHECK(!quota_take(&item, 11) && !item.used);
	CHECK(quota_take(&item, 10) && item.used == 10 && item.peak == 10);
	CHECK(!quota_take(&item, 1) && !quota_take(&item, UINT64_MAX));
	quota_give(&item, 4);
	CHECK(item.used == 6 && item.peak == 10);
	CHECK(!quota_take(&item, 5) && quota_take(&item, 4));
	quota_give(&item, 10);
	CHECK(!item.used);
}

int main(void)
{
	bounds();
	items();
	return EXIT_SUCCESS;
}
