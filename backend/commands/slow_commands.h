/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * slow_commands.h - a few threads for commands that take long.
 */
#ifndef XEN_IB_COMMANDS_SLOW_COMMANDS_H
#define XEN_IB_COMMANDS_SLOW_COMMANDS_H

struct cmd;
struct slow_commands;

/* slow_commands_new - run is called in one of the threads for each command. NULL: no memory, no threads. */
struct slow_commands *slow_commands_new(unsigned int threads,
					void (*run)(struct cmd *cmd, void *context), void *context);

/* slow_commands_free - lets the commands that wait or run come to their end first. NULL is fine. */
void slow_commands_free(struct slow_commands *slow);

/* slow_commands_submit - the command belongs to the pool until slow_commands_take() returns it. */
void slow_commands_submit(struct slow_commands *slow, struct cmd *cmd);

/* slow_commands_take - a command that has come to its end, NULL if there is none. */
struct cmd *slow_commands_take(struct slow_commands *slow);

/* slow_commands_fd - readable once a command has come to its end; slow_commands_take() until NULL clears it. */
int slow_commands_fd(const struct slow_commands *slow);

#endif
