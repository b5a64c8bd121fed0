// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * xenbus.c - see xenbus.h.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/log.h"
#include "xen/xenbus.h"

static bool join(char *path, const char *dir, const char *key)
{
	if (!dir)
		return snprintf(path, XB_PATH_MAX, "%s", key) < XB_PATH_MAX;
	return snprintf(path, XB_PATH_MAX, "%s/%s", dir, key) < XB_PATH_MAX;
}

bool xb_read(struct xs_handle *xs, const char *dir, const char *key, char *value, size_t size)
{
	char path[XB_PATH_MAX], *text;
	unsigned int length;
	bool fits;

	if (!join(path, dir, key))
		return false;
	text = xs_read(xs, XBT_NULL, path, &length);
	if (!text)
		return false;
	fits = length < size && !memchr(text, 0, length);
	if (fits) {
		memcpy(value, text, length);
		value[length] = 0;
	}
	free(text);
	return fits;
}

bool xb_read_number(struct xs_handle *xs, const char *dir, const char *key, uint64_t most,
		    uint64_t *value)
{
	unsigned long long number;
	char text[24], *end;

	if (!xb_read(xs, dir, key, text, sizeof(text)) || text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno || *end || number > most)
		return false;
	*value = number;
	return true;
}

bool xb_number(const char *text, unsigned int *number)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (text[0] < '0' || text[0] > '9' || *end || value > 0xffff)
		return false;
	*number = value;
	return true;
}

bool xb_exists(struct xs_handle *xs, const char *path)
{
	char *text = xs_read(xs, XBT_NULL, path, NULL);

	free(text);
	return text;
}

/* One name for each number: no zeros before it. */
static bool read_name(const char *name, uint64_t *number)
{
	unsigned long long value;
	char *end;

	if (name[0] < '0' || name[0] > '9' || (name[0] == '0' && name[1]))
		return false;
	errno = 0;
	value = strtoull(name, &end, 10);
	*number = value;
	return !errno && !*end;
}

void xb_each(struct xs_handle *xs, const char *dir, xb_each_fn *fn, void *context)
{
	unsigned int n, i;
	uint64_t number;
	char **names;

	names = xs_directory(xs, XBT_NULL, dir, &n);
	for (i = 0; names && i < n; i++)
		if (read_name(names[i], &number))
			fn(context, number);
	free(names);
}

bool xb_write(struct xs_handle *xs, const char *dir, const char *key, const char *format, ...)
{
	char path[XB_PATH_MAX], value[512];
	va_list args;

	va_start(args, format);
	vsnprintf(value, sizeof(value), format, args);
	va_end(args);
	if (join(path, dir, key) && xs_write(xs, XBT_NULL, path, value, strlen(value)))
		return true;
	log_error("writing %s: %s", path, strerror(errno));
	return false;
}

enum xb_state xb_state(struct xs_handle *xs, const char *dir)
{
	uint64_t state;

	return xb_read_number(xs, dir, "state", XB_CLOSED, &state) ? (enum xb_state)state :
								     XB_UNKNOWN;
}

bool xb_set_state(struct xs_handle *xs, const char *dir, enum xb_state state)
{
	return xb_write(xs, dir, "state", "%u", state);
}

bool xb_drain(struct xs_handle *xs)
{
	bool any = false;
	char **event;

	while ((event = xs_check_watch(xs))) {
		free(event);
		any = true;
	}
	return any;
}
