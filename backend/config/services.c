// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * services.c - see services.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "config/services.h"

#define DIGITS 16

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 'a' ^ 'A';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static const char *take_id(const char *text, uint64_t *id)
{
	unsigned int n;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		text += 2;
	*id = 0;
	for (n = 0; digit(*text) >= 0; n++, text++) {
		if (n == DIGITS)
			return NULL;
		*id = *id << 4 | (uint64_t)digit(*text);
	}
	return *id ? text : NULL;
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
