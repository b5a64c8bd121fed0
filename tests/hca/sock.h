/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Listening on a path. */
#ifndef HCA_SOCK_H
#define HCA_SOCK_H

#include <sys/types.h>
#include <sys/un.h>

#define SOCK_PATH_MAX sizeof(((struct sockaddr_un *)0)->sun_path)

/*
 * A listening stream socket (non-blocking, close-on-exec) at path with the permissions mode. A
 * socket that is there already is replaced, any other file is not. The descriptor or -errno
 * (-ENAMETOOLONG if path does not fit SOCK_PATH_MAX).
 */
int sock_listen(const char *path, mode_t mode);

#endif
