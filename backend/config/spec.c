// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * spec.c - see spec.h. The text comes from files and commands of root, but it is often wrong.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "config/guid.h"
#include "config/spec.h"

#define PAGE 4096u /* no limit of bytes below this makes sense */
#define SHOWN 32   /* so much of a text is shown in an error */
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

struct parser {
	struct vhca_config *config;
	bool port, backend; /* given */
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

static const char *skip_digits(const char *text, uint64_t *number)
{
	uint64_t sum = 0;

	for (; isdigit((unsigned char)*text); text++)
		if (__builtin_mul_overflow(sum, 10, &sum) ||
		    __builtin_add_overflow(sum, (uint64_t)(*text - '0'), &sum))
			return NULL;
	*number = sum;
	return text;
}

/* 1, 2, 3, 4 for K, M, G, T; 0 for none. */
static unsigned int suffix(char c)
{
	static const char letters[] = "KMGT";
	const char *at = strchr(letters, toupper((unsigned char)c));

	return c && at ? at - letters + 1 : 0;
}

/* A decimal number in a range; one of bytes may end in K, M, G or T. */
static int parse_number(struct parser *p, const char *key, const char *value, bool bytes,
			uint64_t least, uint64_t most, uint64_t *number)
{
	const char *end = skip_digits(value, number);
	unsigned int power;

	if (!end || end == value)
		goto err;
	power = bytes ? suffix(*end) : 0;
	if (end[power ? 1 : 0] || *number > UINT64_MAX >> 10 * power)
		goto err;
	*number <<= 10 * power;
	if (*number >= least && *number <= most)
		return 0;
err:
	return refuse(p, "%s=%.*s: %s from %llu to %llu", key, SHOWN, value,
		      bytes ? "bytes, or K, M, G or T of them," : "a number",
		      (unsigned long long)least, (unsigned long long)most);
}

static int parse_limit(struct parser *p, unsigned int n, const char *value)
{
	const struct limit_key *key = limit_key(n);
	bool bytes = strstr(key->name, "-bytes");

	if (p->config->limit[n].given)
		return twice(p, key->name);
	p->config->limit[n].given = true;
	return parse_number(p, key->name, value, bytes, bytes ? PAGE : 1, key->most,
			    &p->config->limit[n].value);
}

static int parse_port(struct parser *p, const char *value)
{
	uint64_t number;

	if (p->port)
		return twice(p, "port");
	if (parse_number(p, "port", value, false, 1, 254, &number))
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
	if (parse_number(p, "devid", value, false, 0, CONFIG_VHCAS - 1, &number))
		return -EINVAL;
	p->config->devid = number;
	return 0;
}

const char *config_kernel_name(enum config_kernel kernel)
{
	static const char *const names[CONFIG_KERNELS] = {
		[CONFIG_KERNEL_OFF] = "off",
		[CONFIG_KERNEL_VERBS] = "verbs",
		[CONFIG_KERNEL_ON] = "on",
	};

	return names[kernel];
}

enum config_kernel config_kernel_find(const char *name)
{
	enum config_kernel kernel = 0;

	while (kernel < CONFIG_KERNELS && strcmp(name, config_kernel_name(kernel)))
		kernel++;
	return kernel;
}

static int parse_kernel(struct parser *p, const char *value)
{
	if (p->config->kernel_given)
		return twice(p, CONFIG_KERNEL);
	p->config->kernel_given = true;
	p->config->kernel = config_kernel_find(value);
	if (p->config->kernel < CONFIG_KERNELS)
		return 0;
	return refuse(p, CONFIG_KERNEL "=%.*s: off, verbs or on", SHOWN, value);
}

const char *config_personality_name(enum config_personality personality)
{
	static const char *const names[CONFIG_PERSONALITIES] = {
		[CONFIG_PERSONALITY_XENIB] = "xenib",
		[CONFIG_PERSONALITY_MLX5] = "mlx5",
	};

	return names[personality];
}

enum config_personality config_personality_find(const char *name)
{
	enum config_personality found = 0;

	while (found < CONFIG_PERSONALITIES && strcmp(name, config_personality_name(found)))
		found++;
	return found;
}

static int parse_personality(struct parser *p, const char *value)
{
	if (p->config->personality_given)
		return twice(p, CONFIG_PERSONALITY);
	p->config->personality_given = true;
	p->config->personality = config_personality_find(value);
	if (p->config->personality < CONFIG_PERSONALITIES)
		return 0;
	return refuse(p, CONFIG_PERSONALITY "=%.*s: xenib or mlx5", SHOWN, value);
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

static int parse_key(struct parser *p, const char *key, const char *value)
{
	unsigned int n;

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
	if (!strcmp(key, CONFIG_KERNEL))
		return parse_kernel(p, value);
	if (!strcmp(key, CONFIG_PERSONALITY))
		return parse_personality(p, value);
	for (n = 0; n < LIMITS; n++)
		if (!strcmp(key, limit_key(n)->name))
			return parse_limit(p, n, value);
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

int config_parse_spec(const char *spec, struct vhca_config *config, char *why, size_t size)
{
	struct parser p = { .config = config, .why = why, .size = size };
	char copy[CONFIG_SPEC_MAX], *rest = copy, *item;

	memset(config, 0, sizeof(*config));
	config->port = 1;
	config->devid = -1;
	config->kernel = CONFIG_KERNEL_ON;
	if (strlen(spec) >= sizeof(copy))
		return refuse(&p, "longer than %zu characters", sizeof(copy) - 1);
	strcpy(copy, spec);
	while ((item = strsep(&rest, ",")))
		if (parse_item(&p, item))
			return -EINVAL;
	return config->hca[0] ? 0 : refuse(&p, "hca is missing");
}
