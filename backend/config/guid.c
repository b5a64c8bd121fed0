// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * guid.c - see guid.h.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/guid.h"

#define DIGITS 16
#define PREFIX (0x02163eull << 40)
#define OWN_BITS ((1ull << 40) - 1)

/* FNV-1a, and a round that makes each bit depend on all of them. */
static uint64_t hash(const char *text)
{
	uint64_t sum = 0xcbf29ce484222325;

	for (; *text; text++)
		sum = (sum ^ (unsigned char)*text) * 0x100000001b3;
	sum = (sum ^ sum >> 33) * 0xff51afd7ed558ccd;
	return sum ^ sum >> 33;
}

uint64_t guid_make(const char *domain, unsigned int devid)
{
	char text[128];

	snprintf(text, sizeof(text), "%u/%s", devid, domain);
	return PREFIX | (hash(text) & OWN_BITS);
}

bool guid_parse(const char *text, uint64_t *guid)
{
	char digits[GUID_TEXT];
	unsigned int n = 0;
	bool colons = strlen(text) > DIGITS;

	for (; *text; text++) {
		if (colons && n && n % 4 == 0 && *text == ':' && text[1] != ':' && text[1])
			continue;
		if (n == DIGITS || !isxdigit((unsigned char)*text))
			return false;
		digits[n++] = *text;
	}
	digits[n] = 0;
	*guid = strtoull(digits, NULL, 16);
	return n == DIGITS && *guid;
}

void guid_format(char text[GUID_TEXT], uint64_t guid)
{
	snprintf(text, GUID_TEXT, "%016" PRIx64, guid);
}
