// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * saved.c - see saved.h: the text.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "config/saved.h"

#define HEAD "xen-ib-vhcas 1"

bool saved_uuid(const char *text)
{
	static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
	size_t i;

	for (i = 0; form[i]; i++)
		if (form[i] == '-' ? text[i] != '-' :
				     !text[i] || !strchr("0123456789abcdef", text[i]))
			return false;
	return !text[i];
}

static bool is_plain(char c)
{
	return isascii(c) && (isalnum(c) || strchr("_-.+:@", c));
}

void saved_name(struct saved *saved, const char *name)
{
	size_t n = 0;

	for (; *name && n < sizeof(saved->name) - 1; name++)
		saved->name[n++] = is_plain(*name) ? *name : '_';
	saved->name[n] = 0;
}

void saved_print(FILE *to, const struct saved *saved)
{
	unsigned int i;

	fprintf(to, HEAD "\nuuid %s\n", saved->uuid);
	if (saved->name[0])
		fprintf(to, "name %s\n", saved->name);
	for (i = 0; i < saved->specs.n; i++)
		fprintf(to, "vhca %s\n", saved->specs.spec[i]);
	fputs("end\n", to);
}

struct parser {
	struct saved *saved;
	unsigned int line;
	bool end;
	char *why;
	size_t size;
};

__attribute__((format(printf, 2, 3))) static int refuse(struct parser *p, const char *format, ...)
{
	size_t used = snprintf(p->why, p->size, "line %u: ", p->line);
	va_list args;

	va_start(args, format);
	if (used < p->size)
		vsnprintf(p->why + used, p->size - used, format, args);
	va_end(args);
	return -EINVAL;
}

static int parse_uuid(struct parser *p, const char *uuid)
{
	if (p->saved->uuid[0] || !saved_uuid(uuid))
		return refuse(p, "not the UUID of a domain");
	strcpy(p->saved->uuid, uuid);
	return 0;
}

static int parse_vhca(struct parser *p, const char *spec)
{
	struct config_specs *specs = &p->saved->specs;
	struct vhca_config config;
	char why[192];

	if (specs->n == CONFIG_VHCAS)
		return refuse(p, "more than %u vHCAs", CONFIG_VHCAS);
	if (config_parse_spec(spec, &config, why, sizeof(why)))
		return refuse(p, "%s", why);
	specs->spec[specs->n] = strdup(spec);
	if (!specs->spec[specs->n])
		return refuse(p, "no memory");
	specs->n++;
	return 0;
}

static int parse_line(struct parser *p, const char *line)
{
	if (p->line == 1)
		return strcmp(line, HEAD) ? refuse(p, "it is not '" HEAD "'") : 0;
	if (p->end)
		return refuse(p, "something is behind the end");
	if (!strncmp(line, "uuid ", 5))
		return parse_uuid(p, line + 5);
	if (!strncmp(line, "name ", 5)) {
		saved_name(p->saved, line + 5);
		return 0;
	}
	if (!strncmp(line, "vhca ", 5))
		return parse_vhca(p, line + 5);
	p->end = !strcmp(line, "end");
	return p->end ? 0 : refuse(p, "not known");
}

static int parse_text(struct parser *p, char *text)
{
	char *line;
	int err;

	while ((line = strsep(&text, "\n"))) {
		if (!text)
			return *line ? refuse(p, "it does not end") : 0;
		p->line++;
		err = parse_line(p, line);
		if (err)
			return err;
	}
	return 0;
}

int saved_parse(const char *text, size_t length, struct saved *saved, char *why, size_t size)
{
	struct parser p = { .saved = saved, .why = why, .size = size };
	char *copy;
	int err;

	memset(saved, 0, sizeof(*saved));
	if (length > SAVED_TEXT_MAX || memchr(text, 0, length))
		return refuse(&p, "not such a text");
	copy = strndup(text, length);
	if (!copy)
		return refuse(&p, "no memory");
	err = parse_text(&p, copy);
	free(copy);
	if (!err && (!p.end || !saved->uuid[0]))
		err = refuse(&p, "the end, or the UUID, is missing");
	if (err)
		config_file_free(&saved->specs);
	return err;
}
