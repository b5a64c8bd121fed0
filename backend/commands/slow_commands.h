/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * slow_commands.h - a few threads for commands that take long.
 */
#ifndef XEN_IB_COMMANDS_SLOW_COMMANDS_H
#define XEN_IB_COMMANDS_SLOW_COMMANDS_H

struct cmd;
struct pool;

/* pool_new - run is called in one of the threads for each command. NULL: no memory, no threads. */
struct pool *pool_new(unsigned int threads, void (*run)(struct cmd *cmd, void *context),
		      void *context);

/* pool_free - lets the commands that wait or run come to their end first. NULL is fine. */
void pool_free(struct pool *pool);

/* pool_submit - the command belongs to the pool until pool_take() returns it. */
void pool_submit(struct pool *pool, struct cmd *cmd);

/* pool_take - a command that has come to its end, NULL if there is none. */
struct cmd *pool_take(struct pool *pool);

/* pool_fd - readable once a command has come to its end; pool_take() until NULL clears it. */
int pool_fd(const struct pool *pool);

#endif
