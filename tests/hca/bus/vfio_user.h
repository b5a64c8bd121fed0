/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The bus of one function: a vfio-user server (QEMU's docs/interop/vfio-user.rst) on a UNIX
 * socket, with the function's configuration space and interrupt vectors.
 *
 * One machine at a time is plugged in; another one that connects meanwhile is turned away. When
 * the machine goes, or breaks the protocol, the function is reset and its memory dropped, and
 * the next one may come.
 */
#ifndef HCA_VFIO_USER_H
#define HCA_VFIO_USER_H

#include <stdbool.h>

struct hca;
struct loop;
struct vfio_user;

/*
 * Gives hca a bus (hca->bus, hca->msix). hca and loop must live longer than it. NULL if memory is
 * short.
 */
struct vfio_user *vfio_user_new(struct loop *loop, struct hca *hca);
/* Unplugs the machine, stops listening and removes the socket's path. */
void vfio_user_free(struct vfio_user *v);

/* Listens on path, which is replaced if it is a socket. 0 or -errno. */
int vfio_user_listen(struct vfio_user *v, const char *path);

/* Plugs in the machine at the other end of fd (a connected stream socket), and takes fd over. -EBUSY if there is one already. */
int vfio_user_adopt(struct vfio_user *v, int fd);
bool vfio_user_connected(const struct vfio_user *v);

#endif
