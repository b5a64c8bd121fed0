// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The daemon's status file (backend/worker/status_write.h) against what the connection has seen.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hostile.h"

#define LOOK_US 100000

/* The lines that the daemon should have, in its order. */
static char *expected_lines(const struct vf_tally *tally)
{
	unsigned int op, status;
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	require(file, "memory");
	fprintf(file, "unknown %u\n", tally->unknown);
	for (op = 0; op < XEN_VHCA_OPS; op++) {
		if (tally->commands[op])
			fprintf(file, "command %s %u\n", vhca_op_name(op), tally->commands[op]);
		for (status = 0; status < XEN_VHCA_STATUSES; status++)
			if (tally->refused[op][status])
				fprintf(file, "refused %s %s %u\n", vhca_op_name(op),
					vhca_status_name(status), tally->refused[op][status]);
	}
	fclose(file);
	return text;
}

static bool is_counter(const char *line)
{
	return !strncmp(line, "unknown ", 8) || !strncmp(line, "command ", 8) ||
	       !strncmp(line, "refused ", 8);
}

/* Leaves the lines that are compared. */
static void keep_counters(char *text)
{
	char *from, *next, *to = text;

	for (from = text; *from; from = next) {
		next = strchrnul(from, '\n');
		next += *next == '\n';
		if (!is_counter(from))
			continue;
		memmove(to, from, next - from);
		to += next - from;
	}
	*to = 0;
}

static char *ask_status(const struct vfront *v)
{
	char question[32];

	snprintf(question, sizeof(question), "status %u", v->devid);
	return ask(question);
}

/* The daemon writes the file a few times a second. */
void hostile_counted(struct vfront *v)
{
	uint64_t until = now_ms() + opt.deadline_ms;
	char *is = NULL, *should;
	bool same;

	vf_collect(v, 0);
	if (!ask_possible())
		return;
	should = expected_lines(&v->tally);
	do {
		free(is);
		is = ask_status(v);
		keep_counters(is);
		same = !strcmp(is, should);
	} while (!same && now_ms() < until && !usleep(LOOK_US));
	check(same, "the daemon counted each command\n--- expected\n%s--- counted\n%s---", should,
	      is);
	free(is);
	free(should);
}

uint64_t hostile_number(struct vfront *v, const char *name)
{
	uint64_t number = 0;
	char *text, *line;
	char key[64];

	if (!ask_possible())
		return 0;
	text = ask_status(v);
	snprintf(key, sizeof(key), "\n%s ", name);
	line = strstr(text, key);
	require(line && sscanf(line + strlen(key), "%" SCNu64, &number) == 1,
		"the daemon counts '%s'\n%s", name, text);
	free(text);
	return number;
}

void hostile_rose(struct vfront *v, const char *name, uint64_t since, unsigned int by)
{
	uint64_t until = now_ms() + opt.deadline_ms, is;

	if (!ask_possible())
		return;
	do
		is = hostile_number(v, name);
	while (is < since + by && now_ms() < until && !usleep(LOOK_US));
	check(is >= since + by, "%s rose by %u (%" PRIu64 ", then %" PRIu64 ")", name, by, since,
	      is);
}
