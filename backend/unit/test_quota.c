// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_quota.c - limits: the last that is allowed and the first that is not, and what the daemon can serve at most.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/fakes/fixture.h"
#include "vhca/quota.h"

/* One more than can be served, whatever the key. */
static bool one_too_many(void *from, const char *key, char text[LIMIT_TEXT])
{
	(void)from;
	snprintf(text, LIMIT_TEXT, "%" PRIu64, limit_key(limit_find(key))->most + 1);
	return true;
}

static bool nonsense(void *from, const char *key, char text[LIMIT_TEXT])
{
	(void)from;
	(void)key;
	strcpy(text, "-1");
	return true;
}

static bool any(void *from, const char *key, char text[LIMIT_TEXT])
{
	(void)from;
	strcpy(text, limit_find(key) < LIMIT_IMPOSED ? "1" : LIMIT_ANY);
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
	/* Where more is less strict, it is cut. Of what is imposed, such a text makes no sense. */
	for (i = 0; i < LIMITS; i++)
		CHECK(*quota_limit(&quota, i) ==
		      (i < LIMIT_IMPOSED ? limit_key(i)->most : limit_key(i)->safe));
	quota_setup(&quota, nonsense, NULL);
	for (i = 0; i < LIMITS; i++)
		CHECK(*quota_limit(&quota, i) ==
		      (i < LIMIT_IMPOSED ? limit_key(i)->value : limit_key(i)->safe));
	quota.objects[OBJ_QP].used = 3;
	quota_reread(&quota, any, NULL);
	for (i = 0; i < LIMITS; i++)
		CHECK(*quota_limit(&quota, i) == limit_key(i)->value);
	CHECK(quota.objects[OBJ_QP].used == 3);
}

/* Text of what is imposed, and back; nobody has to believe such a text. */
static void texts(void)
{
	const char *at = "qp=1,max-qp=7,,sl=16,sl,sl=3,=,qp-rate=2.5G,"
			 "a-key-that-is-longer-than-any-that-there-are=1,ud=0,max-rd-atomic=any";
	struct quota quota;
	char text[LIMITS_TEXT];
	uint64_t value;

	quota_setup(&quota, NULL, NULL);
	quota_imposed(&quota, text);
	CHECK(!strcmp(text, ""));
	quota.qp = (struct qp_limits){ 15, 100000, 128, 65536, 31, 31, 0 };
	quota_imposed(&quota, text);
	CHECK(!strcmp(text, "sl=15,qp-rate=100G,max-rd-atomic=128,max-qp-wr=65536,min-timeout=31,"
			    "min-rnr-timer=31,ud=0"));
	CHECK(limits_next(&at, &value) == LIMIT_SL && value == 3);
	CHECK(limits_next(&at, &value) == LIMIT_QP_RATE && value == 2500);
	CHECK(limits_next(&at, &value) == LIMIT_UD && !value);
	CHECK(limits_next(&at, &value) == LIMIT_RD_ATOMIC &&
	      value == limit_key(LIMIT_RD_ATOMIC)->value);
	CHECK(limits_next(&at, &value) == LIMITS && limits_next(&at, &value) == LIMITS);
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
	texts();
	items();
	return EXIT_SUCCESS;
}
