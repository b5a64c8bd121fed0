// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * spec.c - see spec.h. The text comes from files and commands of root, but it is often wrong.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "config/guid.h"
#include "config/number.h"
#include "config/spec.h"

#define SHOWN 32 /* so much of a text is shown in an error */
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

struct parser {
	struct vhca_config *config;
	bool only_limits; /* that are imposed on QPs */
	bool port;        /* given */
	char *why;
	size_t size;
};

__attribute__((format(printf, 2, 3))) static int refuse(struct parser *p, const char *format, ...)
{
	va_list args;
	char *c;

	va_start(args, format);
	vsnprintf(p->why, p->size, format, args);
	va_end(args);
	for (c = p->why; p->size && *c; c++)
		if (!isascii(*c) || !isprint(*c))
			*c = '?';
	return -EINVAL;
}

static int twice(struct parser *p, const char *key)
{
	return refuse(p, "%s is given twice", key);
}

static int parse_name(struct parser *p, const char *key, const char *value, const char *letters,
		      char *name)
{
	if (*name)
		return twice(p, key);
	if (!*value || strlen(value) >= CONFIG_NAME_MAX || value[0] == '.' ||
	    value[strspn(value, letters)])
		return refuse(p, "%s=%.*s: not a name", key, SHOWN, value);
	strcpy(name, value);
	return 0;
}

/* A decimal number in a range. */
static int parse_number(struct parser *p, const char *key, const char *value, uint64_t least,
			uint64_t most, uint64_t *number)
{
	if (number_parse(value, false, number) && *number >= least && *number <= most)
		return 0;
	return refuse(p, "%s=%.*s: a number from %" PRIu64 " to %" PRIu64, key, SHOWN, value, least,
		      most);
}

static int refuse_limit(struct parser *p, enum limit limit, const char *value)
{
	const struct limit_key *key = limit_key(limit);
	const char *any = limit >= LIMIT_IMPOSED ? ", or any" : "";

	if (key->kind == LIMIT_RATE)
		return refuse(
			p, "%s=%.*s: a static rate of InfiniBand, such as 2.5G, 10G, 25G or 100G%s",
			key->name, SHOWN, value, any);
	return refuse(p, "%s=%.*s: %s from %" PRIu64 " to %" PRIu64 "%s", key->name, SHOWN, value,
		      key->kind == LIMIT_BYTES ? "bytes, or K, M, G or T of them," : "a number",
		      key->least, key->most, any);
}

static int parse_limit(struct parser *p, enum limit limit, const char *value)
{
	if (p->config->limit[limit].given)
		return twice(p, limit_key(limit)->name);
	p->config->limit[limit].given = true;
	return limit_parse(limit, value, &p->config->limit[limit].value) ?
		       0 :
		       refuse_limit(p, limit, value);
}

static int parse_port(struct parser *p, const char *value)
{
	uint64_t number;

	if (p->port)
		return twice(p, "port");
	if (parse_number(p, "port", value, 1, 254, &number))
		return -EINVAL;
	p->port = true;
	p->config->port = number;
	return 0;
}

static int parse_devid(struct parser *p, const char *value)
{
	uint64_t number;

	if (p->config->devid >= 0)
		return twice(p, "devid");
	if (parse_number(p, "devid", value, 0, CONFIG_VHCAS - 1, &number))
		return -EINVAL;
	p->config->devid = number;
	return 0;
}

static int parse_choice(struct parser *p, enum choice choice, const char *value)
{
	struct choices *choices = &p->config->choices;

	if (choices->of[choice].given)
		return twice(p, choice_key(choice));
	choices->of[choice].given = true;
	if (choice_parse(choice, value, &choices->of[choice].value))
		return 0;
	return refuse(p, "%s=%.*s: %s", choice_key(choice), SHOWN, value, choice_words(choice));
}

static int parse_guid(struct parser *p, const char *value)
{
	if (p->config->guid)
		return twice(p, "guid");
	if (guid_parse(value, &p->config->guid))
		return 0;
	return refuse(p, "guid=%.*s: 16 hexadecimal digits, not all 0", SHOWN, value);
}

static int parse_pkeys(struct parser *p, const char *value)
{
	if (p->config->pkeys.given)
		return twice(p, CONFIG_PKEYS);
	if (pkeys_parse(value, &p->config->pkeys))
		return 0;
	return refuse(p, CONFIG_PKEYS "=%.*s: indices below %u, such as 0+2+4-7", SHOWN, value,
		      PKEYS_MAX);
}

static int parse_services(struct parser *p, const char *value)
{
	if (p->config->services.n)
		return twice(p, CONFIG_SERVICE);
	if (services_parse(value, &p->config->services))
		return 0;
	return refuse(p, CONFIG_SERVICE "=%.*s: up to %u ids, such as 0x1000000+0x1000001", SHOWN,
		      value, SERVICES_MAX);
}

static int parse_key(struct parser *p, const char *key, const char *value)
{
	const enum limit limit = limit_find(key);
	const enum choice choice = choice_find(key);

	if (limit < LIMITS && (limit >= LIMIT_IMPOSED || !p->only_limits))
		return parse_limit(p, limit, value);
	if (p->only_limits)
		return refuse(p,
			      "'%.*s' is none of the keys that can change while a vHCA is in use",
			      SHOWN, key);
	if (choice < CHOICES)
		return parse_choice(p, choice, value);
	if (!strcmp(key, "hca"))
		return parse_name(p, key, value, LETTERS "0123456789_-.", p->config->hca);
	if (!strcmp(key, "backend"))
		return parse_name(p, key, value, LETTERS "0123456789_-.+:@", p->config->backend);
	if (!strcmp(key, "port"))
		return parse_port(p, value);
	if (!strcmp(key, "devid"))
		return parse_devid(p, value);
	if (!strcmp(key, "guid"))
		return parse_guid(p, value);
	if (!strcmp(key, CONFIG_PKEYS))
		return parse_pkeys(p, value);
	if (!strcmp(key, CONFIG_SERVICE))
		return parse_services(p, value);
	return refuse(p, "unknown key '%.*s'", SHOWN, key);
}

/* In place: without blanks at both ends. */
static char *trim(char *text)
{
	char *end;

	text += strspn(text, " \t");
	end = text + strlen(text);
	while (end > text && (end[-1] == ' ' || end[-1] == '\t'))
		*--end = 0;
	return text;
}

static int parse_item(struct parser *p, char *item)
{
	char *equals = strchr(item, '=');

	if (!equals)
		return refuse(p, "'%.*s' is not KEY=VALUE", SHOWN, trim(item));
	*equals = 0;
	return parse_key(p, trim(item), trim(equals + 1));
}

static int parse_items(struct parser *p, const char *spec)
{
	char copy[CONFIG_SPEC_MAX], *rest = copy, *item;

	memset(p->config, 0, sizeof(*p->config));
	p->config->port = 1;
	p->config->devid = -1;
	choices_init(&p->config->choices);
	if (strlen(spec) >= sizeof(copy))
		return refuse(p, "longer than %zu characters", sizeof(copy) - 1);
	strcpy(copy, spec);
	while ((item = strsep(&rest, ",")))
		if (parse_item(p, item))
			return -EINVAL;
	return 0;
}

/* What is a part of the fabric's management. */
static int check_management(struct parser *p)
{
	const struct choices *choices = &p->config->choices;

	if (choices->of[CHOICE_KERNEL].value == KERNEL_ON)
		return 0;
	if (choices->of[CHOICE_GID].value == GID_ALIAS)
		return refuse(p, "gid=alias needs kernel=on");
	return p->config->services.n ? refuse(p, CONFIG_SERVICE " needs kernel=on") : 0;
}

int config_parse_spec(const char *spec, struct vhca_config *config, char *why, size_t size)
{
	struct parser p = { .config = config, .why = why, .size = size };

	if (parse_items(&p, spec))
		return -EINVAL;
	if (!config->hca[0])
		return refuse(&p, "hca is missing");
	return check_management(&p);
}

int config_parse_limits(const char *limits, struct vhca_config *config, char *why, size_t size)
{
	struct parser p = { .config = config, .only_limits = true, .why = why, .size = size };

	return parse_items(&p, limits);
}
