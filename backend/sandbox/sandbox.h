/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * sandbox.h - takes from a process all that it does not need, for good.
 *
 * A guest talks to its worker. If it ever found a way to make the worker do what it wants, it
 * should have won nothing but its own vHCA. So a worker that has opened what only root may open
 * enters a sandbox:
 *
 *   user         another one than root, no group beside its own, no capability
 *   limits       no core files, files that cannot be written to if the log is no file, no more
 *                address space than its guest may have it map
 *   files        Landlock: the HCA's uverbs device, and what sysfs says of it; nothing else
 *   system calls seccomp: those that the daemon uses. The others fail with EPERM; some that no
 *                honest process of ours could get to (exec, ptrace, mount ...) kill it
 *
 * Pinning memory needs no capability: the kernel asks for CAP_IPC_LOCK only above RLIMIT_MEMLOCK,
 * which is lifted here, because what a guest may pin is counted in vhca/quota.h.
 *
 * uverbs refuses files that were opened under other credentials, and each thread that changes its
 * own gets a new set of them. So this is done while there is one thread, and before the HCA is
 * opened.
 */
#ifndef XEN_IB_SANDBOX_SANDBOX_H
#define XEN_IB_SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SANDBOX_USER "xen-ib"

struct sandbox_user {
	uid_t uid;
	gid_t gid;
};

/* sandbox_find_user - 0, -ENOENT: there is no user SANDBOX_USER, or another -errno. */
int sandbox_find_user(struct sandbox_user *user);

/*
 * sandbox_prepare - for the supervisor, once: whether workers can be confined, or need not be
 * (@waived). False, with a line in the log, if neither.
 */
bool sandbox_prepare(bool waived);

/*
 * sandbox_limit_memory - for a worker, before it enters: it can have mapped so many bytes of a guest
 * at once, beside what it is made of, whatever it says to its broker. 0 or -errno.
 */
int sandbox_limit_memory(uint64_t bytes);

/* sandbox_waived - in a worker: it stays root. */
bool sandbox_waived(void);

enum sandbox_role {
	SANDBOX_WORKER,
	SANDBOX_BROKER, /* see broker/client.h: stays root, without a capability */
};

/* What may be opened: a file, or a folder with all below it. */
struct sandbox_path {
	const char *path;
	enum { SANDBOX_READ, SANDBOX_DEVICE, SANDBOX_REPLACE } use;
};

/*
 * sandbox_enter - while there is one thread. There is no way back: after an error the process is
 * somewhere on the way, and has to end.
 * @user:  whom to become; NULL: the user stays
 * @paths: n of them. One that does not exist is left out.
 * 0 or -errno, with the step that failed in why[size].
 */
int sandbox_enter(enum sandbox_role role, const struct sandbox_user *user,
		  const struct sandbox_path *paths, unsigned int n, char *why, size_t size);

/*
 * sandbox_no_more_processes - for a worker that has its mm pin: no process is started any more. So
 * nothing of it can live on when it is killed. 0 or -errno.
 */
int sandbox_no_more_processes(void);

/* The parts of sandbox_enter(). */

/* -EOPNOTSUPP: the kernel has no Landlock, or it is switched off. */
int sandbox_restrict_paths(const struct sandbox_path *paths, unsigned int n);
int sandbox_restrict_calls(enum sandbox_role role);

#endif
