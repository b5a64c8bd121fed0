// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * number.c - see number.h.
 */
#include <ctype.h>
#include <string.h>

#include "config/number.h"

static const char *skip_digits(const char *text, uint64_t *number)
{
	uint64_t sum = 0;

	for (; isdigit((unsigned char)*text); text++)
		if (__builtin_mul_overflow(sum, 10, &sum) ||
		    __builtin_add_overflow(sum, (uint64_t)(*text - '0'), &sum))
			return NULL;
	*number = sum;
	return text;
}

/* 1, 2, 3, 4 for K, M, G, T; 0 for none. */
static unsigned int suffix(char c)
{
	static const char letters[] = "KMGT";
	const char *at = strchr(letters, toupper((unsigned char)c));

	return c && at ? at - letters + 1 : 0;
}

bool number_parse(const char *text, bool bytes, uint64_t *number)
{
	const char *end = skip_digits(text, number);
	unsigned int power;

	if (!end || end == text)
		return false;
	power = bytes ? suffix(*end) : 0;
	if (end[power ? 1 : 0] || *number > UINT64_MAX >> 10 * power)
		return false;
	*number <<= 10 * power;
	return true;
}
