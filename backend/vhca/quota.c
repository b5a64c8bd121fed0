// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * quota.c - see quota.h.
 */
#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "util/log.h"
#include "vhca/quota.h"

#define MIB (1ull << 20)
#define TIB (1ull << 40)

#define OBJECTS(type) offsetof(struct quota, objects[type].limit)

/*
 * The bounds: handles have 18 bits; a process has 65,530 mappings by default (vm.max_map_count),
 * and each umem takes one for every 1024 pages or less.
 */
static const struct quota_key keys[QUOTA_KEYS] = {
	{ "max-ctx", OBJECTS(OBJ_CTX), 128, 4096 },
	{ "max-uar", OBJECTS(OBJ_UAR), 512, 4096 },
	{ "max-pd", OBJECTS(OBJ_PD), 1024, 16384 },
	{ "max-umem", OBJECTS(OBJ_UMEM), 32768, 49152 },
	{ "max-mr", OBJECTS(OBJ_MR), 16384, 49152 },
	{ "max-mw", OBJECTS(OBJ_MW), 4096, 32768 },
	{ "max-cq", OBJECTS(OBJ_CQ), 4096, 32768 },
	{ "max-srq", OBJECTS(OBJ_SRQ), 1024, 16384 },
	{ "max-qp", OBJECTS(OBJ_QP), 4096, 32768 },
	{ "max-ah", offsetof(struct quota, max_ah), 65536, 1u << 24 },
	{ "max-mcast", offsetof(struct quota, mcast.limit), 256, 4096 },
	{ "max-mem-bytes", offsetof(struct quota, bytes.limit), 96 * MIB, TIB },
	{ "max-mr-bytes", offsetof(struct quota, max_mr_bytes), TIB, TIB },
};

const struct quota_key *quota_key(unsigned int number)
{
	return &keys[number];
}

void quota_setup(struct quota *quota, quota_get *get, void *from)
{
	unsigned int i;

	memset(quota, 0, sizeof(*quota));
	for (i = 0; i < QUOTA_KEYS; i++) {
		uint64_t value = keys[i].value;

		if (get)
			get(from, keys[i].name, &value);
		if (value > keys[i].most) {
			log_warning("%s: %llu is more than can be served: %llu", keys[i].name,
				    (unsigned long long)value, (unsigned long long)keys[i].most);
			value = keys[i].most;
		}
		memcpy((char *)quota + keys[i].where, &value, sizeof(value));
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
