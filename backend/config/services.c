// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * services.c - see services.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/services.h"

#define DIGITS 16

static const char *take_id(const char *text, uint64_t *id)
{
	size_t n;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		text += 2;
	n = strspn(text, "0123456789abcdefABCDEF");
	if (!n || n > DIGITS)
		return NULL;
	*id = strtoull(text, NULL, 16);
	return *id ? text + n : NULL;
}

static bool has(const struct services *services, uint64_t id)
{
	unsigned int i;

	for (i = 0; i < services->n; i++)
		if (services->id[i] == id)
			return true;
	return false;
}

bool services_parse(const char *text, struct services *services)
{
	uint64_t id;

	memset(services, 0, sizeof(*services));
	do {
		text = take_id(text, &id);
		if (!text || services->n == SERVICES_MAX || has(services, id))
			return false;
		services->id[services->n++] = id;
	} while (*text++ == '+');
	return !text[-1];
}

void services_format(char text[SERVICES_TEXT], const struct services *services)
{
	size_t used = 0;
	unsigned int i;

	for (i = 0; i < services->n; i++)
		used += snprintf(text + used, SERVICES_TEXT - used, "%s0x%" PRIx64, i ? "+" : "",
				 services->id[i]);
}
