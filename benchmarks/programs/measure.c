// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * measure.c - see measure.h.
 */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "measure.h"

/* Options of a program that are numbers, and what getopt_long() calls the first of them. */
#define MOST_NUMBERS 6
#define FIRST_NUMBER 256

void die(const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(EXIT_FAILURE);
}

double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

void series_init(struct series *s, const char *name)
{
	memset(s, 0, sizeof(*s));
	s->name = name;
}

void series_add(struct series *s, double us)
{
	if (s->count == s->room) {
		s->room = s->room ? 2 * s->room : 64;
		s->us = realloc(s->us, s->room * sizeof(*s->us));
		if (!s->us)
			die("no memory");
	}
	s->us[s->count++] = us;
}

void series_move(struct series *to, struct series *from)
{
	size_t i;

	for (i = 0; i < from->count; i++)
		series_add(to, from->us[i]);
	from->count = 0;
}

void series_free(struct series *s)
{
	free(s->us);
	series_init(s, s->name);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void series_print(struct series *s, unsigned long x)
{
	if (!s->count)
		return;
	qsort(s->us, s->count, sizeof(*s->us), compare);
	printf("%s %lu %.3f %.3f %.3f\n", s->name, x, s->us[s->count / 2],
	       s->us[(s->count * 99 + 99) / 100 - 1], s->us[s->count - 1]);
	fflush(stdout);
	MARK(MARK_REPORT, s->name, x);
	s->count = 0;
}

struct ibv_context *open_device(const char *name)
{
	struct ibv_context *ctx = NULL;
	struct ibv_device **list;
	int i, count;

	list = ibv_get_device_list(&count);
	if (!list)
		die("no list of RDMA devices: %s", strerror(errno));
	for (i = 0; i < count && !ctx; i++)
		if (!name || !strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	ibv_free_device_list(list);
	if (!ctx)
		die("cannot open %s", name ? name : "any RDMA device");
	return ctx;
}

static unsigned long number(const char *text, const struct number_option *option)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || end == text || *end || value < option->least || value > option->most) {
		fprintf(stderr, "%s: --%s wants a number from %lu to %lu, not '%s'\n",
			program_invocation_short_name, option->name, option->least, option->most,
			text);
		exit(2);
	}
	return value;
}

const char *read_options(int argc, char **argv, const char *usage,
			 const struct number_option *numbers)
{
	struct option options[MOST_NUMBERS + 3] = {
		{ "device", required_argument, NULL, 'd' },
		{ "help", no_argument, NULL, 'h' },
	};
	const char *device = NULL;
	int o, i;

	for (i = 0; numbers[i].name && i < MOST_NUMBERS; i++)
		options[2 + i] = (struct option){ numbers[i].name, required_argument, NULL,
						  FIRST_NUMBER + i };
	while ((o = getopt_long(argc, argv, "d:h", options, NULL)) != -1) {
		switch (o) {
		case 'd':
			device = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(EXIT_SUCCESS);
		case '?':
			fputs(usage, stderr);
			exit(2);
		default:
			*numbers[o - FIRST_NUMBER].value =
				number(optarg, &numbers[o - FIRST_NUMBER]);
		}
	}
	if (optind < argc) {
		fputs(usage, stderr);
		exit(2);
	}
	return device;
}
