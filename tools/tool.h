/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * tool.h - what the subcommands of xen-ib share: options, exit statuses, messages.
 */
#ifndef XEN_IB_TOOL_H
#define XEN_IB_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit statuses. */
enum tool_exit {
	TOOL_OK = 0,
	TOOL_FAILED = 1, /* refused, or it did not work */
	TOOL_USAGE = 2,
	TOOL_NO_DAEMON = 3,
	TOOL_NOT_FOUND = 4, /* no such domain or vHCA */
	TOOL_TIMEOUT = 5,
	TOOL_PROBLEMS = 6, /* check: this host is not ready */
	TOOL_WARNINGS = 7, /* check --strict: it is, with warnings */
};

struct options {
	const char *socket; /* of the daemon */
	const char *release;
	bool json, force, strict;
	bool by_bytes;      /* top: order */
	unsigned int wait;  /* seconds */
	unsigned int count; /* top: 0 is for ever */
	double delay;       /* top: seconds */
};

/* A subcommand. */
struct command {
	const char *name;
	const char *arguments; /* for the usage: "DOMAIN SPEC" */
	const char *options;   /* the short names of those it takes, beside those that all take */
	int least, most;       /* arguments */
	const char *help;
	/* Returns the exit status. argv has the arguments alone. */
	int (*run)(const struct options *options, int argc, char **argv);
};

/* The subcommands, up to one without a name. */
extern const struct command commands[];

int cmd_attach(const struct options *options, int argc, char **argv); /* cmd_attach.c */
int cmd_detach(const struct options *options, int argc, char **argv);
int cmd_set(const struct options *options, int argc, char **argv); /* cmd_set.c */
int cmd_list(const struct options *options, int argc, char **argv);
int cmd_show(const struct options *options, int argc, char **argv);
int cmd_top(const struct options *options, int argc, char **argv);
int cmd_metrics(const struct options *options, int argc, char **argv);
int cmd_check(const struct options *options, int argc, char **argv);
int cmd_export(const struct options *options, int argc, char **argv); /* cmd_export.c */
int cmd_import(const struct options *options, int argc, char **argv);
int cmd_report(const struct options *options, int argc, char **argv);

/* tool_run - a whole command line; argv[0] is the program's name. Returns the exit status. */
int tool_run(int argc, char **argv, const char *release);

/*
 * complain - a line on standard error: "xen-ib: error: ..."; hint: what to do about it, in a line below. With --json
 * the first of each are kept, and become an object there when the command is through.
 */
__attribute__((format(printf, 1, 2))) void complain(const char *format, ...);
__attribute__((format(printf, 1, 2))) void hint(const char *format, ...);

/* parse_number - a decimal number up to most, and nothing else. */
bool parse_number(const char *text, uint64_t most, uint64_t *number);

/* Texts for people; each returns text. "1.5 MiB"; "12 us". */
#define TEXT_MAX 32
const char *text_of_bytes(char text[TEXT_MAX], uint64_t bytes);
const char *text_of_ns(char text[TEXT_MAX], uint64_t ns);

#endif
