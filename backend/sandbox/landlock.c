// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * landlock.c - Landlock: which files a process may still open. What it has open it keeps.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/sandbox.h"

#define READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define DEVICE \
	(LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | \
	 LANDLOCK_ACCESS_FS_IOCTL_DEV)
#define REPLACE \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE | \
	 LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REMOVE_FILE)
/* What makes sense of a file that is no folder. */
#define OF_FILES \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | \
	 LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_TRUNCATE | \
	 LANDLOCK_ACCESS_FS_IOCTL_DEV)

/* All that this version of the kernel's interface can forbid. */
static struct landlock_ruleset_attr all_of(int version)
{
	struct landlock_ruleset_attr attr = {
		.handled_access_fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1,
	};

	if (version >= 2)
		attr.handled_access_fs |= LANDLOCK_ACCESS_FS_REFER;
	if (version >= 3)
		attr.handled_access_fs |= LANDLOCK_ACCESS_FS_TRUNCATE;
	if (version >= 4)
		attr.handled_access_net = LANDLOCK_ACCESS_NET_BIND_TCP |
					  LANDLOCK_ACCESS_NET_CONNECT_TCP;
	if (version >= 5)
		attr.handled_access_fs |= LANDLOCK_ACCESS_FS_IOCTL_DEV;
	if (version >= 6)
		attr.scoped = LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | LANDLOCK_SCOPE_SIGNAL;
	return attr;
}

static uint64_t access_of(const struct sandbox_path *path)
{
	switch (path->use) {
	case SANDBOX_DEVICE:
		return DEVICE;
	case SANDBOX_REPLACE:
		return REPLACE;
	default:
		return READ;
	}
}

static int allow(int ruleset, const struct sandbox_path *path, uint64_t handled)
{
	struct landlock_path_beneath_attr rule = {
		.allowed_access = access_of(path) & handled,
		.parent_fd = open(path->path, O_PATH | O_CLOEXEC),
	};
	struct stat st;
	int err = 0;

	if (rule.parent_fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!fstat(rule.parent_fd, &st) && !S_ISDIR(st.st_mode))
		rule.allowed_access &= OF_FILES;
	if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0))
		err = -errno;
	close(rule.parent_fd);
	return err;
}

int sandbox_restrict_paths(const struct sandbox_path *paths, unsigned int n)
{
	struct landlock_ruleset_attr attr;
	int version, ruleset, err = 0;
	unsigned int i;

	version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	if (version < 0)
		return errno == ENOSYS ? -EOPNOTSUPP : -errno;
	attr = all_of(version);
	/* An older kernel takes a longer structure than its own, if the rest is zero. */
	ruleset = syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (ruleset < 0)
		return -errno;
	for (i = 0; !err && i < n; i++)
		err = allow(ruleset, &paths[i], attr.handled_access_fs);
	if (!err && syscall(SYS_landlock_restrict_self, ruleset, 0))
		err = -errno;
	close(ruleset);
	return err;
}
