/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * forge_handles: every command that names an object, with the name replaced.
 */
#ifndef FORGE_HANDLES_H
#define FORGE_HANDLES_H

#include <errno.h>
#include <stddef.h>

#include "forge.h"

/* A command that works on the set as it is; member: the handle to replace. */
struct handle_user {
	const char *name;
	int (*use)(int fd, const struct uabi_set *set);
	size_t member;
};

extern const struct handle_user handle_users[];
extern const size_t handle_user_count;

uint32_t *handle_in(struct uabi_set *set, const struct handle_user *user);

/* The command with this handle is refused as one that the file does not have. */
void handle_refused(struct forge *f, const struct handle_user *user, uint32_t handle,
		    const char *kind);

#endif
