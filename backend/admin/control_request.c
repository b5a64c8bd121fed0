// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * control_request.c - reading a request: see control.h.
 */
#include <stdlib.h>
#include <string.h>

#include "admin/control.h"

#define NO_SPEC ~0u

static const struct verb {
	const char *name;
	enum control_verb verb;
	unsigned int least, most; /* words that follow: domain, devid or spec, force or spec */
} verbs[] = {
	{ "version", CONTROL_VERSION, 0, 0 }, { "list", CONTROL_LIST, 0, 2 },
	{ "show", CONTROL_SHOW, 0, 2 },       { "attach", CONTROL_ATTACH, 2, 2 },
	{ "detach", CONTROL_DETACH, 2, 3 },   { "metrics", CONTROL_METRICS, 0, 0 },
	{ "set", CONTROL_SET, 3, 3 },
};

static bool take_devid(struct control_request *req, const char *word)
{
	unsigned long read;
	char *end;

	if (*word < '0' || *word > '9')
		return false;
	read = strtoul(word, &end, 10);
	req->devid = read;
	req->has_devid = true;
	return !*end && read <= 0xffff;
}

/* Printable text that is not empty. */
static bool take_text(char *to, size_t size, const char *text)
{
	size_t length = strlen(text), i;

	if (!length || length >= size)
		return false;
	for (i = 0; i < length; i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	memcpy(to, text, length + 1);
	return true;
}

static const struct verb *find_verb(const char *word)
{
	size_t i;

	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (word && !strcmp(word, verbs[i].name))
			return &verbs[i];
	return NULL;
}

/* The spec is all that is left of the line, as it may have spaces. */
bool control_parse(struct control_request *req, char *line)
{
	const struct verb *verb = find_verb(strsep(&line, " "));
	unsigned int n, spec;
	bool good;

	memset(req, 0, sizeof(*req));
	if (!verb)
		return false;
	req->verb = verb->verb;
	spec = verb->verb == CONTROL_ATTACH ? 1 : verb->verb == CONTROL_SET ? 2 : NO_SPEC;
	for (n = 0; line; n++) {
		if (n == verb->most)
			return false;
		if (n == spec)
			return take_text(req->spec, sizeof(req->spec), line);
		if (n == 0)
			good = take_text(req->domain, sizeof(req->domain), strsep(&line, " "));
		else if (n == 1)
			good = take_devid(req, strsep(&line, " "));
		else
			good = req->force = !strcmp(strsep(&line, " "), "force");
		if (!good)
			return false;
	}
	return n >= verb->least;
}

const char *control_error_word(enum control_error error)
{
	static const char *const words[] = {
		[CONTROL_OK] = "ok",
		[CONTROL_REFUSED] = "refused",
		[CONTROL_USAGE] = "usage",
		[CONTROL_NOT_FOUND] = "not-found",
	};

	return words[error];
}
