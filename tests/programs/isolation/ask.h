/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * ask: what a program in a guest cannot know, and the machine that runs the tests can: the daemon's counters, the HCA's
 * doorbells. A question is a line "@ask QUESTION" of output, the answer what comes on standard input up to a line ".". See
 * tests/programs/isolation/answering, which is on the other side.
 */
#ifndef ASK_H
#define ASK_H

#include <stdbool.h>

/* Takes --answers out of the arguments: somebody answers. */
void ask_setup(int *argc, char **argv);
bool ask_possible(void);

/* The answer, to be freed. Ends the case as skipped if nobody answers, as failed if the answer breaks off. */
char *ask(const char *question);

#endif
