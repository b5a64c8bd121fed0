// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * tool.c - see tool.h: the command line.
 */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "admin/control.h"
#include "json.h"
#include "tool.h"

#define COMMON "hjS"

const struct command commands[] = {
	{ "attach", "DOMAIN SPEC", "w", 2, 2,
	  "Give a running domain a vHCA, and wait until the guest uses it.\n"
	  "SPEC is a string as in vhca=[] of an xl configuration: hca=mlx5_0,port=1,max-qp=256,...\n",
	  cmd_attach },
	{ "detach", "DOMAIN DEV", "wf", 2, 2,
	  "Take vHCA number DEV from a domain, and wait until all its resources are released.\n"
	  "Programs that use it get errors and IBV_EVENT_DEVICE_FATAL.\n",
	  cmd_detach },
	{ "set", "DOMAIN [DEV] KEY=VALUE,...", "w", 2, 3,
	  "Change what is imposed on the QPs of a vHCA, and wait until that is in force.\n"
	  "Keys: sl, qp-rate, max-rd-atomic, max-qp-wr, min-timeout, min-rnr-timer, ud; the value \"any\" ends it.\n"
	  "It holds for what programs set from then on: connections that there are go on as they are.\n",
	  cmd_set },
	{ "list", "[DOMAIN]", "", 0, 1,
	  "List the vHCAs, one per line. Works without the daemon too.\n", cmd_list },
	{ "show", "[DOMAIN [DEV]]", "", 0, 2,
	  "Show details of vHCAs: use and limits, processes, commands, refusals, latencies.\n",
	  cmd_show },
	{ "top", "", "ndo", 0, 0, "Show the load of each vHCA repeatedly.\n", cmd_top },
	{ "metrics", "", "", 0, 0, "Print all counters in Prometheus' text format.\n",
	  cmd_metrics },
	{ "check", "", "s", 0, 0,
	  "Check whether this host is ready, with a remedy for each problem.\n"
	  "Exit status: 0 ready, 6 problems, 7 warnings (with --strict), 1 it could not look.\n",
	  cmd_check },
	{ "export", "DOMAIN|UUID", "", 1, 1,
	  "Print what vHCAs a domain has, or had when it was last suspended, for xen-ib import on the\n"
	  "host where it is restored. Works without the daemon.\n",
	  cmd_export },
	{ "import", "", "", 0, 0,
	  "Read from standard input what vHCAs a domain has when it is restored here. Works without the daemon.\n",
	  cmd_import },
	{ "report", "", "", 0, 0,
	  "Print all that a bug report needs of this host, without secrets. Works without the daemon.\n",
	  cmd_report },
	{ 0 },
};

static const struct option long_options[] = {
	{ "help", no_argument, NULL, 'h' },
	{ "json", no_argument, NULL, 'j' },
	{ "socket", required_argument, NULL, 'S' },
	{ "version", no_argument, NULL, 'V' },
	{ "wait", required_argument, NULL, 'w' },
	{ "force", no_argument, NULL, 'f' },
	{ "strict", no_argument, NULL, 's' },
	{ "count", required_argument, NULL, 'n' },
	{ "delay", required_argument, NULL, 'd' },
	{ "order", required_argument, NULL, 'o' },
	{ NULL, 0, NULL, 0 },
};

static const char *option_help(char option)
{
	switch (option) {
	case 'w':
		return "  -w, --wait SECONDS    wait at most that long (30); 0: do not wait\n";
	case 'f':
		return "  -f, --force           do not wait for the guest to let go of the device\n";
	case 's':
		return "  -s, --strict          exit with 7 if there are only warnings\n";
	case 'n':
		return "  -n, --count COUNT     end after that many rounds\n";
	case 'd':
		return "  -d, --delay SECONDS   time between two rounds (2)\n";
	case 'o':
		return "  -o, --order KEY       sort by commands (a second, default) or bytes (pinned)\n";
	default:
		return "";
	}
}

static void usage(FILE *to, const struct command *command)
{
	const struct command *each;
	const char *option;

	if (command) {
		fprintf(to, "usage: xen-ib %s [OPTION]...%s%s\n\n%s\n", command->name,
			*command->arguments ? " " : "", command->arguments, command->help);
		for (option = command->options; *option; option++)
			fputs(option_help(*option), to);
	} else {
		fputs("usage: xen-ib COMMAND [OPTION]... [ARGUMENT]...\n\n"
		      "Manage the virtual InfiniBand HCAs (vHCAs) of this host's guests.\n\n",
		      to);
		for (each = commands; each->name; each++)
			fprintf(to, "  %-8s %-16s %.*s\n", each->name, each->arguments,
				(int)strcspn(each->help, "\n"), each->help);
		fputs("\n'xen-ib COMMAND --help' and xen-ib(8) explain each command.\n\n", to);
	}
	fputs("  -j, --json            print JSON, for programs; errors too\n"
	      "  -S, --socket PATH     the daemon's control socket (" CONTROL_SOCKET ")\n"
	      "  -h, --help            print this text\n",
	      to);
	if (!command)
		fputs("  -V, --version         print the version\n"
		      "\n"
		      "Exit status: 0 success, 1 refused or failed, 2 wrong usage, 3 the daemon does not run,\n"
		      "4 no such domain or vHCA, 5 not finished within --wait; check: 6 problems, 7 warnings.\n",
		      to);
}

/* What is wrong, until it is told as JSON. */
static struct {
	bool json;
	char error[512], hint[512];
} complaint;

static void say(const char *what, char kept[512], const char *format, va_list args)
{
	if (complaint.json) {
		if (!*kept)
			vsnprintf(kept, sizeof(complaint.error), format, args);
		return;
	}
	fprintf(stderr, "xen-ib: %s", what);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

void complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("error: ", complaint.error, format, args);
	va_end(args);
}

void hint(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("  ", complaint.hint, format, args);
	va_end(args);
}

static void tell_complaint(void)
{
	if (!*complaint.error)
		return;
	json_to(stderr);
	json_open(NULL, '{');
	json_text("error", complaint.error);
	json_text("hint", complaint.hint);
	json_close();
}

bool parse_number(const char *text, uint64_t most, uint64_t *number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*number = strtoull(text, &end, 10);
	return !errno && !*end && *number <= most;
}

const char *text_of_bytes(char text[TEXT_MAX], uint64_t bytes)
{
	static const char units[] = " KMGTPE";
	double value = bytes;
	unsigned int unit = 0;

	for (; value >= 1024 && units[unit + 1]; unit++)
		value /= 1024;
	if (unit)
		snprintf(text, TEXT_MAX, "%.1f %ciB", value, units[unit]);
	else
		snprintf(text, TEXT_MAX, "%llu B", (unsigned long long)bytes);
	return text;
}

const char *text_of_ns(char text[TEXT_MAX], uint64_t ns)
{
	if (ns < 10000)
		snprintf(text, TEXT_MAX, "%.1f us", ns / 1e3);
	else if (ns < 1000000)
		snprintf(text, TEXT_MAX, "%.0f us", ns / 1e3);
	else if (ns < 1000000000)
		snprintf(text, TEXT_MAX, "%.1f ms", ns / 1e6);
	else
		snprintf(text, TEXT_MAX, "%.1f s", ns / 1e9);
	return text;
}

static bool take_value(struct options *options, int option, const char *value)
{
	uint64_t number;
	char *end;

	switch (option) {
	case 'w':
	case 'n':
		if (!parse_number(value, 1000000, &number))
			return false;
		*(option == 'w' ? &options->wait : &options->count) = number;
		return true;
	case 'd':
		options->delay = strtod(value, &end);
		return !*end && options->delay >= 0.1 && options->delay <= 3600;
	case 'o':
		options->by_bytes = !strcmp(value, "bytes");
		return options->by_bytes || !strcmp(value, "commands");
	default:
		options->socket = value;
		return true;
	}
}

/* An option that getopt does not take; word is the last one it looked at. */
static void complain_of_option(int option, const char *word)
{
	if (option == ':')
		complain("-%c wants a value", optopt);
	else if (!optopt)
		complain("there is no option %s", word);
	else if (strstr(word, "="))
		complain("-%c takes no value", optopt);
	else
		complain("there is no option -%c", optopt);
}

/* Returns -1, or the exit status if it is all that there is to do. */
static int take_option(struct options *options, const struct command *command, int option,
		       const char *word)
{
	const bool unknown = option == '?' || option == ':';

	if (unknown || (!strchr(COMMON, option) && !strchr(command->options, option))) {
		if (unknown)
			complain_of_option(option, word);
		else
			complain("%s takes no -%c", command->name, option);
		hint("see: xen-ib %s --help", command->name);
		return TOOL_USAGE;
	}
	switch (option) {
	case 'h':
		usage(stdout, command);
		return TOOL_OK;
	case 'j':
		options->json = complaint.json = true;
		break;
	case 'f':
		options->force = true;
		break;
	case 's':
		options->strict = true;
		break;
	default:
		if (take_value(options, option, optarg))
			break;
		complain("-%c: '%s' is no value for it", option, optarg);
		hint("see: xen-ib %s --help", command->name);
		return TOOL_USAGE;
	}
	return -1;
}

static const struct command *find_command(const char *name)
{
	const struct command *command;

	for (command = commands; command->name; command++)
		if (!strcmp(command->name, name))
			return command;
	return NULL;
}

static int run_command(const struct command *command, struct options *options, int argc,
		       char **argv)
{
	int option, result;

	while ((option = getopt_long(argc, argv, ":hjS:Vw:fsn:d:o:", long_options, NULL)) != -1) {
		result = take_option(options, command, option, argv[optind - 1]);
		if (result >= 0)
			return result;
	}
	argc -= optind;
	argv += optind;
	if (argc >= command->least && argc <= command->most)
		return command->run(options, argc, argv);
	complain("usage: xen-ib %s [OPTION]... %s", command->name, command->arguments);
	return TOOL_USAGE;
}

static int run(int argc, char **argv, const char *release)
{
	struct options options = {
		.socket = CONTROL_SOCKET, .release = release, .wait = 30, .delay = 2
	};
	const struct command *command;

	if (argc < 2) {
		usage(stderr, NULL);
		return TOOL_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		usage(stdout, NULL);
		return TOOL_OK;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("xen-ib %s\n", release);
		return TOOL_OK;
	}
	command = find_command(argv[1]);
	if (!command) {
		complain("there is no command '%s'", argv[1]);
		hint("see: xen-ib --help");
		return TOOL_USAGE;
	}
	optind = 0; /* anew, for tests */
	return run_command(command, &options, argc - 1, argv + 1);
}

/* What is wrong with the words before it is JSON, too. */
static bool wants_json(char **words)
{
	for (; *words && strcmp(*words, "--"); words++)
		if (!strcmp(*words, "--json") || !strcmp(*words, "-j"))
			return true;
	return false;
}

int tool_run(int argc, char **argv, const char *release)
{
	int result;

	memset(&complaint, 0, sizeof(complaint));
	complaint.json = wants_json(argv);
	result = run(argc, argv, release);
	if (fflush(stdout) || ferror(stdout)) {
		complain("writing: %s", strerror(errno));
		result = result ?: TOOL_FAILED;
	}
	tell_complaint();
	return result;
}
