/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * pass_fds.h - any message with any number of descriptors: what no honest peer of the holder sends.
 */
#ifndef XEN_IB_PASS_FDS_H
#define XEN_IB_PASS_FDS_H

#include <stddef.h>
#include <sys/types.h>

#define PASS_FDS_MOST 32

/* pass_fds - sends size bytes and n_fds times fd, without waiting. As sendmsg(). */
ssize_t pass_fds(int sock, const void *data, size_t size, int fd, unsigned int n_fds);

#endif
