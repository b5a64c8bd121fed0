/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * uverbs.h - the kernel's interface for verbs, without libibverbs.
 *
 * The daemon creates queues on memory that a guest can write. A user-space verbs library would keep
 * its own idea of those queues and look into them (libmlx5 does when a QP is destroyed), so none is
 * used: objects are made by the kernel's own ABI, which trusts no memory of its users. A process
 * that maps nothing of uverbs also has nothing that could hold the file open behind its back; see
 * worker/mm_pin.h for why that matters.
 */
#ifndef XEN_IB_HCA_UVERBS_H
#define XEN_IB_HCA_UVERBS_H

#include <stddef.h>
#include <stdint.h>

#define UVERBS_NAME_MAX 64

/*
 * uverbs_find - path of the uverbs device ("/dev/infiniband/uverbs0") of an RDMA device ("mlx5_0").
 * 0; -ENOENT; -EINVAL for a name that cannot be one.
 */
int uverbs_find(const char *ibdev, char *path, size_t size);

/* uverbs_open - opens it: a descriptor or -errno. There is no context on it yet. */
int uverbs_open(const char *ibdev);

/*
 * uverbs_context - makes the context of an open file. driver_id: enum rdma_driver_id; in, out: the
 * driver's structures. *vectors: how many completion vectors the device has. 0 or -errno: -EINVAL
 * if it has one already.
 */
int uverbs_context(int fd, uint32_t driver_id, const void *in, size_t in_len, void *out,
		   size_t out_len, uint32_t *vectors);

/* One message in either direction: the core's structure, and the driver's behind it. */
struct uverbs_msg {
	void *core;
	size_t core_len;
	void *driver;
	size_t driver_len;
};

/*
 * uverbs_write - a command of enum ib_uverbs_write_cmds. rsp may be NULL. Where there is a response
 * the first 8 bytes of req's core part are its address, which is filled in here. All lengths are
 * multiples of 4, and a message is at most 512 bytes. 0 or -errno. The descriptor must have been
 * opened by this process: the kernel refuses others.
 */
int uverbs_write(int fd, uint32_t command, const struct uverbs_msg *req,
		 const struct uverbs_msg *rsp);

/*
 * uverbs_write_ex - an extended command, of the core alone. All lengths are multiples of 8. rsp: what
 * the kernel has to say, zeroed where it says less; or NULL.
 */
int uverbs_write_ex(int fd, uint32_t command, const void *core, size_t core_len, void *rsp,
		    size_t rsp_len);

/* An attribute of an ioctl method. */
struct uverbs_arg {
	uint16_t id;
	uint16_t len;  /* 0: data is an object's id */
	uint64_t data; /* an address, or the value itself if len is 8 or less and it is an input */
};

/*
 * uverbs_ioctl - calls a method. An object that it makes has its id written to args[].data. 0 or
 * -errno.
 */
#define UVERBS_MAX_ARGS 16
int uverbs_ioctl(int fd, uint32_t driver_id, uint16_t object, uint16_t method,
		 struct uverbs_arg *args, unsigned int n);

#endif
