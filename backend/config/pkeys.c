// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * pkeys.c - see pkeys.h.
 */
#include <stdio.h>
#include <string.h>

#include "config/pkeys.h"

static const char *take_index(const char *text, unsigned int *index)
{
	const char *start = text;

	for (*index = 0; *text >= '0' && *text <= '9'; text++) {
		*index = *index * 10 + (*text - '0');
		if (*index >= PKEYS_MAX)
			return NULL;
	}
	return text == start ? NULL : text;
}

static const char *take_range(const char *text, struct pkeys *pkeys)
{
	unsigned int first, last;

	text = take_index(text, &first);
	last = first;
	if (text && *text == '-')
		text = take_index(text + 1, &last);
	if (!text || first > last)
		return NULL;
	for (; first <= last; first++)
		pkeys->bits[first / 64] |= 1ull << first % 64;
	return text;
}

bool pkeys_parse(const char *text, struct pkeys *pkeys)
{
	memset(pkeys, 0, sizeof(*pkeys));
	pkeys->given = true;
	do {
		text = take_range(text, pkeys);
	} while (text && *text++ == '+');
	return text && !text[-1];
}

void pkeys_format(char text[PKEYS_TEXT], const struct pkeys *pkeys)
{
	unsigned int first, last;
	size_t used = 0;

	text[0] = 0;
	for (first = 0; first < PKEYS_MAX; first = last + 1) {
		last = first;
		if (!pkeys_has(pkeys, first))
			continue;
		while (pkeys_has(pkeys, last + 1))
			last++;
		used += snprintf(text + used, PKEYS_TEXT - used, last > first ? "%s%u-%u" : "%s%u",
				 used ? "+" : "", first, last);
	}
}

bool pkeys_has(const struct pkeys *pkeys, uint32_t index)
{
	if (!pkeys->given)
		return true;
	return index < PKEYS_MAX && pkeys->bits[index / 64] >> index % 64 & 1;
}
