// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_defaults.c - the default of each limit is the one that people are told.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/limits.h"

/* The default of each limit, as people are told it. */
static void check_default(const char *file, const char *begin, const char *end,
			  const struct limit_key *key)
{
	char text[65536] = "", item[64], value[LIMIT_TEXT], number[32];
	FILE *from = fopen(file, "re");
	unsigned int power;
	char *at, *told;

	if (!from || !fread(text, 1, sizeof(text) - 1, from) || !feof(from))
		abort();
	fclose(from);
	snprintf(item, sizeof(item), begin, key->name);
	for (power = 0; power < 4 && !(key->value >> 10 * power & 1023); power++)
		;
	if (key->kind == LIMIT_BYTES)
		snprintf(value, sizeof(value), "%" PRIu64 "%s", key->value >> 10 * power,
			 (const char *const[]){ "", "K", "M", "G", "T" }[power]);
	else
		limit_format(value, limit_find(key->name), key->value);
	snprintf(number, sizeof(number), end, value);
	at = strstr(text, item);
	told = at ? strstr(at, number) : NULL;
	if (told && told < strchr(at + strlen(item), '\n'))
		return;
	fprintf(stderr, "%s: the default of %s is not%s\n", file, key->name, number);
	abort();
}

int main(void)
{
	unsigned int i;

	for (i = 0; i < LIMITS; i++) {
		check_default("../docs/configuration.md", "\n| `%s` |", " | %s |\n", limit_key(i));
		check_default("../docs/man/xen-ib-vhca.5", "\n.It Cm %s\n", "; %s.\n",
			      limit_key(i));
	}
	return EXIT_SUCCESS;
}
