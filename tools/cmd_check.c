// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cmd_check.c - xen-ib check: is this host ready?
 */
#include "check.h" /* first, as it has to be before other headers of Xen */

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/xl_cfg.h"
#include "hca/dma_check.h"
#include "json.h"
#include "xen/xenbus.h"

static unsigned int counts[CHECK_PROBLEM + 1];
static bool as_json;

static const char *const words[] = {
	[CHECK_OK] = "ok", [CHECK_WARNING] = "warning", [CHECK_PROBLEM] = "problem"
};

static void print_finding(enum check_result result, const char *what, const char *todo,
			  const char *text)
{
	counts[result]++;
	if (!as_json) {
		printf("%-8s %s: %s\n", words[result], what, text);
		if (todo)
			printf("         %s\n", todo);
		return;
	}
	json_open(NULL, '{');
	json_text("check", what);
	json_text("result", words[result]);
	json_text("text", text);
	json_text("todo", todo ?: "");
	json_close();
}

static check_fn *report_to = print_finding;

void check_report(enum check_result result, const char *what, const char *todo, const char *text,
		  ...)
{
	char line[512];
	va_list args;

	va_start(args, text);
	vsnprintf(line, sizeof(line), text, args);
	va_end(args);
	report_to(result, what, todo, line);
}

/* Words are separated by spaces; the value ends with its word. */
bool check_xen_option(const struct host *host, const char *name, char *value, size_t size)
{
	const char *word = host->command_line, *equals;
	bool found = false;

	for (; *word; word += strspn(word, " ")) {
		size_t length = strcspn(word, " ");

		equals = memchr(word, '=', length);
		if (equals && (size_t)(equals - word) == strlen(name) &&
		    !strncmp(word, name, equals - word)) {
			snprintf(value, size, "%.*s", (int)(word + length - equals - 1),
				 equals + 1);
			found = true;
		}
		word += length;
	}
	return found;
}

static unsigned int own_domain(void)
{
	struct xs_handle *xs = xs_open(0);
	uint64_t own = 0;

	if (xs)
		xb_read_number(xs, NULL, "domid", UINT16_MAX, &own);
	xs_close(xs);
	return own;
}

static void look_at_host(struct host *host, const struct options *options)
{
	struct vhcas vhcas;
	unsigned int i;

	memset(host, 0, sizeof(*host));
	host->options = options;
	host->pv = dma_domain_is_pv();
	host->own = own_domain();
	/* It complains where there is nothing to open. */
	host->xc = host->own || access("/dev/xen/privcmd", W_OK) ? NULL :
								   xc_interface_open(NULL, NULL, 0);
	if (host->xc && xc_version(host->xc, XENVER_commandline, host->command_line) < 0)
		host->command_line[0] = 0;
	host->command_line[sizeof(host->command_line) - 1] = 0;
	vhcas_from_xenstore(&vhcas, NULL);
	for (i = 0; i < vhcas.n; i++) {
		host->lends = host->lends || vhcas.list[i].backend != host->own;
		if (vhcas.list[i].backend == host->own && !strcmp(vhcas.list[i].kernel, "on"))
			snprintf(host->managed, sizeof(host->managed), "%s", vhcas.list[i].domain);
	}
	guests_find(&host->guests, vhcas.list, vhcas.n, config_places.dirs);
	vhcas_free(&vhcas);
}

void check_attached(const struct options *options, unsigned int domid, check_fn *fn)
{
	struct host host;

	look_at_host(&host, options);
	report_to = fn;
	check_memory_of(&host, domid);
	report_to = print_finding;
	guests_free(&host.guests);
	xc_interface_close(host.xc);
}

static int verdict(const struct options *options)
{
	if (counts[CHECK_PROBLEM])
		return TOOL_PROBLEMS;
	return counts[CHECK_WARNING] && options->strict ? TOOL_WARNINGS : TOOL_OK;
}

int cmd_check(const struct options *options, int argc, char **argv)
{
	struct host host;

	(void)argc;
	(void)argv;
	if (geteuid()) {
		complain("this host cannot be checked: you are not root");
		hint("run it as root: only root can see what it checks");
		return TOOL_FAILED;
	}
	as_json = options->json;
	memset(counts, 0, sizeof(counts));
	look_at_host(&host, options);
	if (as_json) {
		json_open(NULL, '{');
		json_open("checks", '[');
	}
	check_xen(&host);
	check_hcas(&host);
	check_management(&host);
	check_memory(&host);
	if (as_json) {
		json_close();
		json_number("warnings", counts[CHECK_WARNING]);
		json_number("problems", counts[CHECK_PROBLEM]);
		json_bool("ready", !counts[CHECK_PROBLEM]);
		json_close();
	} else {
		printf("\n%s: %u problems, %u warnings\n",
		       counts[CHECK_PROBLEM] ? "not ready" : "ready", counts[CHECK_PROBLEM],
		       counts[CHECK_WARNING]);
	}
	guests_free(&host.guests);
	xc_interface_close(host.xc);
	return verdict(options);
}
