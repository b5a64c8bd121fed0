// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ask.h"
#include "check.h"

static bool answered;

void ask_setup(int *argc, char **argv)
{
	int i;

	for (i = 1; i < *argc && strcmp(argv[i], "--answers"); i++)
		;
	if (i == *argc)
		return;
	answered = true;
	memmove(&argv[i], &argv[i + 1],
		(*argc - i) * sizeof(argv[0])); /* with the NULL at the end */
	--*argc;
}

bool ask_possible(void)
{
	return answered;
}

static bool ends_here(const char *text, size_t len)
{
	return len >= 2 && !memcmp(text + len - 2, ".\n", 2) && (len == 2 || text[len - 3] == '\n');
}

/* Octet by octet: each case is a process of its own, and none may read what is meant for the next. */
char *ask(const char *question)
{
	size_t len = 0, room = 4096;
	char *text = malloc(room);

	if (!answered)
		skip("\"%s\" wants an answer (--answers)", question);
	printf("@ask %s\n", question);
	fflush(stdout);
	while (!ends_here(text, len)) {
		if (len + 1 == room)
			text = realloc(text, room *= 2);
		if (!text || read(STDIN_FILENO, text + len, 1) != 1)
			break;
		len++;
	}
	require(text && ends_here(text, len), "an answer to \"%s\"", question);
	text[len - 2] = 0;
	return text;
}
