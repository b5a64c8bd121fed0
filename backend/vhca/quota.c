// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * quota.c - see quota.h.
 */
#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "config/number.h"
#include "util/log.h"
#include "vhca/quota.h"

#define OBJECTS(type) offsetof(struct quota, objects[type].limit)

uint64_t *quota_limit(struct quota *quota, enum limit limit)
{
	static const size_t where[LIMITS] = {
		[LIMIT_CTX] = OBJECTS(OBJ_CTX),
		[LIMIT_UAR] = OBJECTS(OBJ_UAR),
		[LIMIT_PD] = OBJECTS(OBJ_PD),
		[LIMIT_UMEM] = OBJECTS(OBJ_UMEM),
		[LIMIT_MR] = OBJECTS(OBJ_MR),
		[LIMIT_MW] = OBJECTS(OBJ_MW),
		[LIMIT_CQ] = OBJECTS(OBJ_CQ),
		[LIMIT_SRQ] = OBJECTS(OBJ_SRQ),
		[LIMIT_QP] = OBJECTS(OBJ_QP),
		[LIMIT_AH] = offsetof(struct quota, max_ah),
		[LIMIT_MCAST] = offsetof(struct quota, mcast.limit),
		[LIMIT_MEM_BYTES] = offsetof(struct quota, bytes.limit),
		[LIMIT_MR_BYTES] = offsetof(struct quota, max_mr_bytes),
		[LIMIT_SL] = offsetof(struct quota, qp.sl),
		[LIMIT_QP_RATE] = offsetof(struct quota, qp.rate),
		[LIMIT_RD_ATOMIC] = offsetof(struct quota, qp.rd_atomic),
		[LIMIT_QP_WR] = offsetof(struct quota, qp.wr),
		[LIMIT_TIMEOUT] = offsetof(struct quota, qp.timeout),
		[LIMIT_RNR_TIMER] = offsetof(struct quota, qp.rnr_timer),
		[LIMIT_UD] = offsetof(struct quota, qp.ud),
	};

	return (uint64_t *)((char *)quota + where[limit]);
}

/* Whoever wrote it meant to restrict something: what makes no sense does. */
static uint64_t read_imposed(enum limit limit, const char *text)
{
	const struct limit_key *key = limit_key(limit);
	char safe[LIMIT_TEXT];
	uint64_t value;

	if (limit_parse(limit, text, &value))
		return value;
	limit_format(safe, limit, key->safe);
	log_warning("%s=%s is not known: %s", key->name, text, safe);
	return key->safe;
}

static uint64_t read_count(enum limit limit, const char *text)
{
	const struct limit_key *key = limit_key(limit);
	uint64_t value;

	if (!number_parse(text, false, &value))
		return key->value;
	if (value <= key->most)
		return value;
	log_warning("%s: %llu exceeds the maximum, using %llu", key->name,
		    (unsigned long long)value, (unsigned long long)key->most);
	return key->most;
}

static uint64_t read_limit(enum limit limit, quota_get *get, void *from)
{
	const struct limit_key *key = limit_key(limit);
	char text[LIMIT_TEXT];

	if (!get || !get(from, key->name, text))
		return key->value;
	return limit >= LIMIT_IMPOSED ? read_imposed(limit, text) : read_count(limit, text);
}

void quota_setup(struct quota *quota, quota_get *get, void *from)
{
	enum limit i;

	memset(quota, 0, sizeof(*quota));
	for (i = 0; i < LIMITS; i++)
		*quota_limit(quota, i) = read_limit(i, get, from);
}

void quota_reread(struct quota *quota, quota_get *get, void *from)
{
	enum limit i;

	for (i = LIMIT_IMPOSED; i < LIMITS; i++)
		*quota_limit(quota, i) = read_limit(i, get, from);
}

static uint64_t imposed(const void *quota, enum limit limit)
{
	return *quota_limit((struct quota *)quota, limit);
}

void quota_imposed(const struct quota *quota, char text[LIMITS_TEXT])
{
	limits_format(text, imposed, quota);
}

bool quota_take(struct quota_item *item, uint64_t amount)
{
	if (amount > item->limit || item->used > item->limit - amount)
		return false;
	item->used += amount;
	if (item->used > item->peak)
		item->peak = item->used;
	return true;
}

void quota_give(struct quota_item *item, uint64_t amount)
{
	assert(item->used >= amount);
	item->used -= amount;
}

uint32_t quota_handles(const struct quota *quota)
{
	uint64_t sum = 0;
	unsigned int type;

	for (type = 0; type < OBJ_TYPES; type++)
		sum += quota->objects[type].limit;
	return sum < HANDLE_MAX ? sum : HANDLE_MAX;
}
