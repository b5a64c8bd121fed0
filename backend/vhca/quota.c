// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * quota.c - see quota.h.
 */
#include <assert.h>
#include <stddef.h>
#include <string.h>

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
	};

	return (uint64_t *)((char *)quota + where[limit]);
}

void quota_setup(struct quota *quota, quota_get *get, void *from)
{
	enum limit i;

	memset(quota, 0, sizeof(*quota));
	for (i = 0; i < LIMITS; i++) {
		const struct limit_key *key = limit_key(i);
		uint64_t value = key->value;

		if (get)
			get(from, key->name, &value);
		if (value > key->most) {
			log_warning("%s: %llu exceeds the maximum, using %llu", key->name,
				    (unsigned long long)value, (unsigned long long)key->most);
			value = key->most;
		}
		*quota_limit(quota, i) = value;
	}
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
