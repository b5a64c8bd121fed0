// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * sandbox.c - see sandbox.h. The order: limits and identity need root, Landlock needs
 * no_new_privs, and after seccomp nothing of this can be called any more.
 */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cap-ng.h>

#include "sandbox/sandbox.h"
#include "util/log.h"

int sandbox_find_user(struct sandbox_user *user)
{
	struct passwd *entry;

	errno = 0;
	entry = getpwnam(SANDBOX_USER);
	if (!entry)
		return errno ? -errno : -ENOENT;
	if (!entry->pw_uid)
		return -EINVAL;
	*user = (struct sandbox_user){ entry->pw_uid, entry->pw_gid };
	return 0;
}

/* Workers are started by exec. */
#define WAIVED "XENIB_UNCONFINED"

bool sandbox_waived(void)
{
	return getenv(WAIVED);
}

bool sandbox_prepare(bool waived)
{
	struct sandbox_user user;
	int err;

	if (waived) {
		log_warning("workers stay root, without a sandbox (--unconfined)");
		return !setenv(WAIVED, "1", 1);
	}
	unsetenv(WAIVED);
	err = sandbox_find_user(&user);
	if (!err)
		return true;
	log_error("user " SANDBOX_USER ", which workers run as: %s (run systemd-sysusers, or start "
		  "with --unconfined)",
		  strerror(-err));
	return false;
}

static int limit(int what, rlim_t most)
{
	const struct rlimit both = { most, most };

	return setrlimit(what, &both) ? -errno : 0;
}

/* Programs, libraries, stacks, and what malloc() sets apart for each thread; used it is not. */
#define OWN_MEMORY (2ull << 30)

int sandbox_limit_memory(uint64_t bytes)
{
	return limit(RLIMIT_AS, OWN_MEMORY + bytes);
}

/* As far as is allowed: one that may not raise it was started with what it is to have. */
static int lift(int what)
{
	struct rlimit both;

	if (!limit(what, RLIM_INFINITY))
		return 0;
	if (getrlimit(what, &both))
		return -errno;
	return limit(what, both.rlim_max);
}

/* A log that is a file grows by what the process itself writes. */
static bool logs_to_file(void)
{
	struct stat st;

	return !fstat(STDERR_FILENO, &st) && S_ISREG(st.st_mode);
}

static int set_limits(enum sandbox_role role)
{
	int err;

	err = limit(RLIMIT_CORE, 0);
	if (!err && role == SANDBOX_WORKER && !logs_to_file())
		err = limit(RLIMIT_FSIZE, 0);
	return err ? err : lift(RLIMIT_MEMLOCK);
}

/*
 * The kernel takes all capabilities from one that stops being root, but not those that it could
 * still be given. Without CAP_SETPCAP those cannot be taken away; then they are of no use either,
 * because of no_new_privs.
 */
static int drop_privileges(const struct sandbox_user *user)
{
	bool bounding = capng_have_capability(CAPNG_EFFECTIVE, CAP_SETPCAP);

	capng_clear(CAPNG_SELECT_ALL);
	if (!user)
		return capng_apply(bounding ? CAPNG_SELECT_ALL : CAPNG_SELECT_CAPS) ? -EPERM : 0;
	return capng_change_id(user->uid, user->gid,
			       CAPNG_DROP_SUPP_GRP | (bounding ? CAPNG_CLEAR_BOUNDING : 0)) ?
		       -EPERM :
		       0;
}

static int restrict_paths(const struct sandbox_path *paths, unsigned int n)
{
	int err = sandbox_restrict_paths(paths, n);

	if (err != -EOPNOTSUPP)
		return err;
	log_warning("this kernel has no Landlock: only permissions protect files");
	return 0;
}

int sandbox_enter(enum sandbox_role role, const struct sandbox_user *user,
		  const struct sandbox_path *paths, unsigned int n, char *why, size_t size)
{
	const char *step = "limits";
	int err;

	err = set_limits(role);
	if (err)
		goto out;
	step = "user and capabilities";
	err = drop_privileges(user);
	if (err)
		goto out;
	step = "no_new_privs";
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0)) {
		err = -errno;
		goto out;
	}
	step = "Landlock";
	err = restrict_paths(paths, n);
	if (err)
		goto out;
	step = "seccomp";
	err = sandbox_restrict_calls(role);
out:
	if (err)
		snprintf(why, size, "sandbox, %s: %s", step, strerror(-err));
	return err;
}
