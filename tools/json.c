// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * json.c - see json.h. Libraries for this keep a tree of what is to be written; here it is known in order.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "json.h"

#define DEPTH 16

static FILE *to;
static char ends[DEPTH];
static bool any[DEPTH]; /* has a value already */
static unsigned int depth;

static void write_string(const char *text)
{
	putc('"', to);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putc('\\', to);
		if (*text >= ' ' && *text <= '~')
			putc(*text, to);
		else
			fprintf(to, "\\u%04x", (unsigned char)*text);
	}
	putc('"', to);
}

static void begin(const char *key)
{
	if (!depth)
		return;
	if (any[depth - 1])
		putc(',', to);
	any[depth - 1] = true;
	fprintf(to, "\n%*s", 2 * depth, "");
	if (key) {
		write_string(key);
		fputs(": ", to);
	}
}

void json_to(FILE *file)
{
	assert(!depth);
	to = file;
}

void json_open(const char *key, char bracket)
{
	assert(depth < DEPTH);
	if (!to)
		to = stdout;
	begin(key);
	putc(bracket, to);
	ends[depth] = bracket == '{' ? '}' : ']';
	any[depth++] = false;
	if (depth == 1 && bracket == '{')
		json_number("schema", JSON_SCHEMA);
}

void json_close(void)
{
	assert(depth);
	depth--;
	if (any[depth])
		fprintf(to, "\n%*s", 2 * depth, "");
	putc(ends[depth], to);
	if (depth)
		return;
	putc('\n', to);
	to = NULL;
}

void json_text(const char *key, const char *text)
{
	begin(key);
	write_string(text);
}

void json_number(const char *key, uint64_t number)
{
	begin(key);
	fprintf(to, "%" PRIu64, number);
}

void json_real(const char *key, double number)
{
	begin(key);
	fprintf(to, "%.3f", number);
}

void json_bool(const char *key, bool value)
{
	begin(key);
	fputs(value ? "true" : "false", to);
}
