// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * json.c - see json.h. Libraries for this keep a tree of what is to be written; here it is known in order.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "json.h"

#define DEPTH 16

static char ends[DEPTH];
static bool any[DEPTH]; /* has a value already */
static unsigned int depth;

static void write_string(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		if (*text >= ' ' && *text <= '~')
			putchar(*text);
		else
			printf("\\u%04x", (unsigned char)*text);
	}
	putchar('"');
}

static void begin(const char *key)
{
	if (!depth)
		return;
	if (any[depth - 1])
		putchar(',');
	any[depth - 1] = true;
	printf("\n%*s", 2 * depth, "");
	if (key) {
		write_string(key);
		fputs(": ", stdout);
	}
}

void json_open(const char *key, char bracket)
{
	assert(depth < DEPTH);
	begin(key);
	putchar(bracket);
	ends[depth] = bracket == '{' ? '}' : ']';
	any[depth++] = false;
}

void json_close(void)
{
	assert(depth);
	depth--;
	if (any[depth])
		printf("\n%*s", 2 * depth, "");
	putchar(ends[depth]);
	if (!depth)
		putchar('\n');
}

void json_text(const char *key, const char *text)
{
	begin(key);
	write_string(text);
}

void json_number(const char *key, uint64_t number)
{
	begin(key);
	printf("%" PRIu64, number);
}

void json_real(const char *key, double number)
{
	begin(key);
	printf("%.3f", number);
}

void json_bool(const char *key, bool value)
{
	begin(key);
	fputs(value ? "true" : "false", stdout);
}
