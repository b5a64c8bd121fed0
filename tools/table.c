// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * table.c - see table.h.
 */
#include <err.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

struct table {
	unsigned int indent, columns, n; /* n: cells, with the titles */
	bool right[TABLE_COLUMNS];
	int width[TABLE_COLUMNS];
	char **cells;
};

static void add(struct table *t, char *text)
{
	int *width = &t->width[t->n % t->columns], length;

	if (!(t->n & (t->n - 1)))
		t->cells = realloc(t->cells, (t->n ? 2 * t->n : 1) * sizeof(t->cells[0]));
	if (!t->cells || !text)
		errx(EXIT_FAILURE, "no memory");
	length = strlen(text);
	if (length > *width)
		*width = length;
	t->cells[t->n++] = text;
}

static unsigned int count_words(const char *text)
{
	unsigned int n = 1;

	while ((text = strchr(text, ' '))) {
		text++;
		n++;
	}
	return n;
}

struct table *table_new(const char *titles, unsigned int indent)
{
	struct table *t = calloc(1, sizeof(*t));
	char *copy = strdup(titles), *rest = copy, *title;
	unsigned int i;

	if (!t || !copy)
		errx(EXIT_FAILURE, "no memory");
	t->indent = indent;
	t->columns = count_words(titles);
	for (i = 0; (title = strsep(&rest, " ")) && i < TABLE_COLUMNS; i++) {
		t->right[i] = *title == '>';
		add(t, strdup(title + t->right[i]));
	}
	free(copy);
	return t;
}

void table_cell(struct table *t, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	add(t, text);
}

/* With the space before it. Nothing stands at the end of a line but text. */
static void print_cell(const struct table *t, unsigned int column, const char *text)
{
	if (column == t->columns - 1 && !*text)
		return;
	if (column)
		fputs("  ", stdout);
	if (t->right[column])
		printf("%*s", t->width[column], text);
	else if (column < t->columns - 1)
		printf("%-*s", t->width[column], text);
	else
		fputs(text, stdout);
}

void table_print(struct table *t)
{
	unsigned int i, column;

	for (i = 0; i < t->n; i++) {
		column = i % t->columns;
		printf("%*s", column ? 0 : (int)t->indent, "");
		print_cell(t, column, t->cells[i]);
		if (column == t->columns - 1)
			putchar('\n');
		free(t->cells[i]);
	}
	free(t->cells);
	free(t);
}
