// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * limits.c - see limits.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "config/limits.h"
#include "config/number.h"
#include "config/rate.h"

#define PAGE 4096u /* no limit of bytes below this makes sense */
#define MIB (1ull << 20)
#define TIB (1ull << 40)

/*
 * The bounds: handles have 18 bits; a process has 65,530 mappings by default (vm.max_map_count),
 * and each umem takes one for every 1024 pages or less.
 */
static const struct limit_key keys[LIMITS] = {
	[LIMIT_CTX] = { "max-ctx", 128, 1, 4096, 0, LIMIT_NUMBER },
	[LIMIT_UAR] = { "max-uar", 512, 1, 4096, 0, LIMIT_NUMBER },
	[LIMIT_PD] = { "max-pd", 1024, 1, 16384, 0, LIMIT_NUMBER },
	[LIMIT_UMEM] = { "max-umem", 32768, 1, 49152, 0, LIMIT_NUMBER },
	[LIMIT_MR] = { "max-mr", 16384, 1, 49152, 0, LIMIT_NUMBER },
	[LIMIT_MW] = { "max-mw", 4096, 1, 32768, 0, LIMIT_NUMBER },
	[LIMIT_CQ] = { "max-cq", 4096, 1, 32768, 0, LIMIT_NUMBER },
	[LIMIT_SRQ] = { "max-srq", 1024, 1, 16384, 0, LIMIT_NUMBER },
	[LIMIT_QP] = { "max-qp", 4096, 1, 32768, 0, LIMIT_NUMBER },
	[LIMIT_AH] = { "max-ah", 65536, 1, 1u << 24, 0, LIMIT_NUMBER },
	[LIMIT_MCAST] = { "max-mcast", 256, 1, 4096, 0, LIMIT_NUMBER },
	[LIMIT_MEM_BYTES] = { "max-mem-bytes", 96 * MIB, PAGE, TIB, 0, LIMIT_BYTES },
	[LIMIT_MR_BYTES] = { "max-mr-bytes", TIB, PAGE, TIB, 0, LIMIT_BYTES },
	[LIMIT_SL] = { "sl", 16, 0, 15, 0, LIMIT_NUMBER },
	[LIMIT_QP_RATE] = { "qp-rate", 0, 2500, 800000, 2500, LIMIT_RATE },
	[LIMIT_RD_ATOMIC] = { "max-rd-atomic", 256, 1, 128, 1, LIMIT_NUMBER },
	[LIMIT_QP_WR] = { "max-qp-wr", UINT32_MAX, 16, 65536, 16, LIMIT_NUMBER },
	[LIMIT_TIMEOUT] = { "min-timeout", 0, 1, 31, 18, LIMIT_NUMBER },
	[LIMIT_RNR_TIMER] = { "min-rnr-timer", 0, 1, 31, 24, LIMIT_NUMBER },
	[LIMIT_UD] = { "ud", 1, 0, 1, 0, LIMIT_NUMBER },
};

const struct limit_key *limit_key(enum limit limit)
{
	return &keys[limit];
}

enum limit limit_find(const char *name)
{
	enum limit limit = 0;

	while (limit < LIMITS && strcmp(name, keys[limit].name))
		limit++;
	return limit;
}

bool limit_parse(enum limit limit, const char *text, uint64_t *value)
{
	const struct limit_key *key = &keys[limit];

	if (limit >= LIMIT_IMPOSED && !strcmp(text, LIMIT_ANY)) {
		*value = key->value;
		return true;
	}
	if (key->kind == LIMIT_RATE) {
		*value = rate_find(text);
		return *value;
	}
	return number_parse(text, key->kind == LIMIT_BYTES, value) && *value >= key->least &&
	       *value <= key->most;
}

void limit_format(char text[LIMIT_TEXT], enum limit limit, uint64_t value)
{
	if (value < keys[limit].least || value > keys[limit].most)
		snprintf(text, LIMIT_TEXT, LIMIT_ANY);
	else if (keys[limit].kind == LIMIT_RATE)
		snprintf(text, LIMIT_TEXT, "%s", rate_name(value) ?: "?");
	else
		snprintf(text, LIMIT_TEXT, "%" PRIu64, value);
}

void limits_format(char text[LIMITS_TEXT], limit_value *value, const void *from)
{
	char one[LIMIT_TEXT];
	enum limit limit;
	size_t used = 0;

	text[0] = 0;
	for (limit = LIMIT_IMPOSED; limit < LIMITS; limit++) {
		const struct limit_key *key = &keys[limit];

		if (value(from, limit) == key->value)
			continue;
		limit_format(one, limit, value(from, limit));
		used += snprintf(text + used, LIMITS_TEXT - used, "%s%s=%s", used ? "," : "",
				 key->name, one);
	}
}

static enum limit parse_item(const char *item, size_t length, uint64_t *value)
{
	char copy[LIMIT_TEXT + 16], *equals;
	enum limit limit;

	if (length >= sizeof(copy))
		return LIMITS;
	memcpy(copy, item, length);
	copy[length] = 0;
	equals = strchr(copy, '=');
	if (!equals)
		return LIMITS;
	*equals = 0;
	limit = limit_find(copy);
	if (limit < LIMIT_IMPOSED || limit == LIMITS || !limit_parse(limit, equals + 1, value))
		return LIMITS;
	return limit;
}

enum limit limits_next(const char **text, uint64_t *value)
{
	enum limit limit = LIMITS;
	size_t length;

	while (**text && limit == LIMITS) {
		length = strcspn(*text, ",");
		limit = parse_item(*text, length, value);
		*text += length + ((*text)[length] == ',');
	}
	return limit;
}
