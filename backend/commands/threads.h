/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * threads.h - a few threads that do commands.
 */
#ifndef XEN_IB_COMMANDS_THREADS_H
#define XEN_IB_COMMANDS_THREADS_H

#include <stdbool.h>

struct cmd;
struct cmd_threads;

/*
 * cmd_threads_new - n threads, or as many of them as there can be.
 * @run: called in one of them for each command, which then belongs to whoever gave it
 * Returns NULL if there is no memory or no thread.
 */
struct cmd_threads *cmd_threads_new(unsigned int n, void (*run)(struct cmd *cmd, void *context),
				    void *context);

/* cmd_threads_free - lets the commands that wait or run come to their end first. NULL is fine. */
void cmd_threads_free(struct cmd_threads *threads);

/* cmd_threads_submit - a thread does the command, once one is free. */
void cmd_threads_submit(struct cmd_threads *threads, struct cmd *cmd);

/* cmd_threads_offer - the same if a thread is free now, else false. */
bool cmd_threads_offer(struct cmd_threads *threads, struct cmd *cmd);

#endif
