/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * forge: a process that attacks through the guest kernel's verbs interface, with numbers, addresses and messages that no
 * library would send.
 *
 * What is refused must be refused with an error that says why; a comment at each group tells which ones, and where they
 * come from: "the core" is the kernel's RDMA core, "the driver" xen-ibfront. After each attempt another process, which
 * has the device open as well, must still work.
 */
#ifndef FORGE_H
#define FORGE_H

#include "beside.h"
#include "uabi.h"

struct forge {
	const char *device;
	int fd;
	struct uabi_set set; /* what the attacker rightly has */
	struct beside beside;
};

/* Opens the device, makes the attacker's objects, starts the process beside. Ends the case if it is another driver's. */
void forge_begin(struct forge *f);

/* As forge_begin(), for what is only in the messages of one personality. */
void forge_begin_xenib(struct forge *f);
void forge_begin_mlx5(struct forge *f);

/* What the attacker rightly has still works, and can be taken down. */
void forge_end(struct forge *f);

/* Another context of this process. */
int forge_open(const struct forge *f);

/* The attempt was refused with one of these errors, and the process beside goes on. */
void forge_refused_at(const char *file, int line, struct forge *f, int ret, const char *what,
		      const int *errors);
#define REFUSED(f, ret, what, ...) \
	forge_refused_at(__FILE__, __LINE__, f, ret, what, (const int[]){ __VA_ARGS__, 0 })

/* As forge_refused_at(), without a look at the process beside: for many attempts of one kind. */
void forge_refused_quick_at(const char *file, int line, int ret, const char *what,
			    const int *errors);
#define REFUSED_QUICK(ret, what, ...) \
	forge_refused_quick_at(__FILE__, __LINE__, ret, what, (const int[]){ __VA_ARGS__, 0 })

extern const struct check_table forge_handles, forge_process, forge_addresses, forge_sizes,
	forge_memory, forge_mmap, forge_buffers, forge_ioctl, forge_races, forge_random, forge_mlx5,
	forge_resize;

#endif
