// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cmd_export.c - xen-ib export, xen-ib import: what a domain has, for the host to which it goes. Both work
 * without the daemon.
 */
#include "check.h" /* first, as it has to be before other headers of Xen */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xenstore.h>

#include "config/saved.h"
#include "json.h"
#include "xen/attach.h"
#include "xen/attached.h"

static void print_json(const struct saved *saved)
{
	unsigned int i;

	json_open(NULL, '{');
	json_text("uuid", saved->uuid);
	json_text("domain", saved->name);
	json_open("vhcas", '[');
	for (i = 0; i < saved->specs.n; i++)
		json_text(NULL, saved->specs.spec[i]);
	json_close();
	json_close();
}

static int print(const struct options *options, struct saved *saved)
{
	if (options->json)
		print_json(saved);
	else
		saved_print(stdout, saved);
	config_file_free(&saved->specs);
	return TOOL_OK;
}

/* Of a domain that is saved, or was some time. */
static int export_stored(const struct options *options, const char *uuid)
{
	struct saved saved;
	char why[512];

	switch (saved_load(SAVED_DIR, uuid, &saved, why, sizeof(why))) {
	case 0:
		return print(options, &saved);
	case -ENOENT:
		complain("nothing is known of a domain %s", uuid);
		hint("a domain that runs is named by its name or number");
		return TOOL_NOT_FOUND;
	default:
		complain("%s", why);
		return TOOL_FAILED;
	}
}

static int export_domain(const struct options *options, const char *name)
{
	struct xs_handle *xs = xs_open(0);
	struct saved saved;
	int domid;

	if (!xs) {
		complain("xenstore: %s", strerror(errno));
		return TOOL_FAILED;
	}
	domid = attach_domain(xs, 0, name);
	if (domid < 0 || !attached_read(xs, domid, &saved)) {
		xs_close(xs);
		complain("there is no domain %s", name);
		hint("see: xl list");
		return TOOL_NOT_FOUND;
	}
	xs_close(xs);
	return print(options, &saved);
}

int cmd_export(const struct options *options, int argc, char **argv)
{
	(void)argc;
	return saved_uuid(argv[0]) ? export_stored(options, argv[0]) :
				     export_domain(options, argv[0]);
}

/* Up to one character more than what is allowed, which then is refused. */
static int read_input(char text[SAVED_TEXT_MAX + 1], size_t *length)
{
	*length = fread(text, 1, SAVED_TEXT_MAX + 1, stdin);
	if (!ferror(stdin))
		return TOOL_OK;
	complain("standard input: %s", strerror(errno));
	return TOOL_FAILED;
}

int cmd_import(const struct options *options, int argc, char **argv)
{
	char text[SAVED_TEXT_MAX + 1], why[256];
	struct saved saved;
	size_t length;
	int err;

	(void)options;
	(void)argc;
	(void)argv;
	if (read_input(text, &length))
		return TOOL_FAILED;
	if (saved_parse(text, length, &saved, why, sizeof(why))) {
		complain("standard input: %s", why);
		hint("it is to be what xen-ib export printed");
		return TOOL_FAILED;
	}
	err = saved_store(SAVED_DIR, &saved);
	if (err)
		complain("%s/%s: %s", SAVED_DIR, saved.uuid, strerror(-err));
	config_file_free(&saved.specs);
	return err ? TOOL_FAILED : TOOL_OK;
}
