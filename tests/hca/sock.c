// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Listening on a path: what the vfio-user server and the control socket have in common. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sock.h"

#define BACKLOG 8

int sock_listen(const char *path, mode_t mode)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct stat st;
	mode_t mask;
	int fd, ret;

	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	strcpy(addr.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (!lstat(path, &st) && S_ISSOCK(st.st_mode))
		unlink(path);
	mask = umask(0777 & ~mode);
	ret = bind(fd, (struct sockaddr *)&addr, sizeof(addr));
	umask(mask);
	if (ret || listen(fd, BACKLOG)) {
		ret = -errno;
		close(fd);
		return ret;
	}
	return fd;
}
