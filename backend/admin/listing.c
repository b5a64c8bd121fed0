// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * listing.c - see listing.h: writing and reading the text.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "admin/listing.h"

enum kind { TEXT, NUMBER32, NUMBER64, FLAG };

static const struct field {
	const char *key;
	enum kind kind;
	size_t where, size;
} fields[] = {
#define FIELD(key, kind, member) \
	{ key, kind, offsetof(struct listing, member), sizeof(((struct listing *)0)->member) }
	FIELD("domain", TEXT, domain),     FIELD("backend", NUMBER32, backend),
	FIELD("hca", TEXT, hca),           FIELD("port", NUMBER32, port),
	FIELD("state", TEXT, state),       FIELD("guest", TEXT, guest),
	FIELD("online", FLAG, online),     FIELD("max-mem-bytes", NUMBER64, max_mem_bytes),
	FIELD("worker", NUMBER32, worker), FIELD("failures", NUMBER32, failures),
	FIELD("error", TEXT, error),       FIELD("node-guid", TEXT, node_guid),
	FIELD("kernel", TEXT, kernel),     FIELD("personality", TEXT, personality),
	FIELD("imposed", TEXT, imposed),   FIELD("gid", TEXT, gid),
};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

static void write_text(FILE *to, const char *text)
{
	for (; *text; text++)
		fputc(isprint((unsigned char)*text) ? *text : '?', to);
}

static void write_field(const struct listing *listing, const struct field *field, FILE *to)
{
	const char *value = (const char *)listing + field->where;

	if (field->kind == TEXT && !*value)
		return;
	fprintf(to, "%s ", field->key);
	switch (field->kind) {
	case TEXT:
		write_text(to, value);
		break;
	case NUMBER32:
		fprintf(to, "%" PRIu32, *(const uint32_t *)value);
		break;
	case NUMBER64:
		fprintf(to, "%" PRIu64, *(const uint64_t *)value);
		break;
	case FLAG:
		fputc(*(const bool *)value ? '1' : '0', to);
		break;
	}
	fputc('\n', to);
}

void listing_write(const struct listing *listing, FILE *to)
{
	size_t i;

	fprintf(to, "vhca %u %u\n", listing->domid, listing->devid);
	for (i = 0; i < FIELDS; i++)
		write_field(listing, &fields[i], to);
}

static void parse_number(const struct field *field, void *to, const char *text)
{
	uint64_t value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno)
		return;
	if (field->kind == NUMBER64)
		*(uint64_t *)to = value;
	else if (field->kind == NUMBER32 && value <= UINT32_MAX)
		*(uint32_t *)to = value;
	else if (field->kind == FLAG)
		*(bool *)to = value == 1;
}

static void parse_text(const struct field *field, char *to, const char *text)
{
	size_t i;

	for (i = 0; i < field->size - 1 && text[i]; i++)
		to[i] = isprint((unsigned char)text[i]) ? text[i] : '?';
	to[i] = 0;
}

static void parse_line(struct listing *listing, char *line)
{
	char *key, *to;
	size_t i;

	if (*line == '\t') {
		if (!listing->status)
			listing->status = calloc(1, sizeof(*listing->status));
		if (listing->status)
			status_line(listing->status, line + 1);
		return;
	}
	key = strsep(&line, " ");
	for (i = 0; line && i < FIELDS; i++) {
		if (strcmp(key, fields[i].key))
			continue;
		to = (char *)listing + fields[i].where;
		if (fields[i].kind == TEXT)
			parse_text(&fields[i], to, line);
		else
			parse_number(&fields[i], to, line);
	}
}

/* With memory for as many as a power of two has. */
struct listing *listing_add(struct listing **listings, unsigned int *n)
{
	struct listing *one;

	if (!(*n & (*n - 1))) {
		one = realloc(*listings, (*n ? 2 * *n : 1) * sizeof(*one));
		if (!one)
			return NULL;
		*listings = one;
	}
	one = *listings + (*n)++;
	memset(one, 0, sizeof(*one));
	return one;
}

unsigned int listing_parse(struct listing **listings, char *text)
{
	struct listing *now = NULL;
	unsigned int n = 0, domid, devid;
	char *line;

	*listings = NULL;
	while ((line = strsep(&text, "\n"))) {
		if (sscanf(line, "vhca %u %u", &domid, &devid) == 2) {
			now = listing_add(listings, &n);
			if (!now)
				break;
			now->domid = domid;
			now->devid = devid;
		} else if (now) {
			parse_line(now, line);
		}
	}
	return n;
}

void listing_free(struct listing *listings, unsigned int n)
{
	while (n) {
		struct status_view *status = listings[--n].status;

		if (status)
			status_free(status);
		free(status);
	}
	free(listings);
}
