/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * vfio-user on the wire (QEMU's docs/interop/vfio-user.rst, version 0.0 and the parts of 0.1
 * that QEMU sends), host byte order; and what is shared by the two halves of the server: the
 * connection (vfio_user.c) and the commands (vfio_user_cmd.c).
 */
#ifndef HCA_VFIO_USER_MSG_H
#define HCA_VFIO_USER_MSG_H

#include <stddef.h>
#include <stdint.h>

#include "bus/msix.h"
#include "bus/pci.h"
#include "hca.h"

enum vfu_command {
	VFU_VERSION = 1,
	VFU_DMA_MAP = 2,
	VFU_DMA_UNMAP = 3,
	VFU_GET_INFO = 4,
	VFU_GET_REGION_INFO = 5,
	VFU_GET_REGION_IO_FDS = 6,
	VFU_GET_IRQ_INFO = 7,
	VFU_SET_IRQS = 8,
	VFU_REGION_READ = 9,
	VFU_REGION_WRITE = 10,
	VFU_RESET = 13,
	VFU_REGION_WRITE_MULTI = 15,
};

#define VFU_FLAG_TYPE 0xfu /* 0: command, 1: reply */
#define VFU_FLAG_REPLY 0x1u
#define VFU_FLAG_NO_REPLY 0x10u
#define VFU_FLAG_ERROR 0x20u

struct vfu_header {
	uint16_t id, command;
	uint32_t size; /* with the header */
	uint32_t flags, error;
};

struct vfu_version {
	uint16_t major, minor;
	/* capabilities follow, as JSON text with its NUL */
};

struct vfu_dma_map {
	uint32_t argsz, flags;
	uint64_t offset, address, size;
};

struct vfu_dma_unmap {
	uint32_t argsz, flags;
	uint64_t address, size;
};

struct vfu_region_access {
	uint64_t offset;
	uint32_t region, count;
	/* data follows */
};

#define VFU_MULTI_DATA 8u
#define VFU_MULTI_MAX 200u
struct vfu_multi_write {
	uint64_t offset;
	uint32_t region, count;
	uint8_t data[VFU_MULTI_DATA];
};

struct vfu_region_io_fds {
	uint32_t argsz, flags, index, count;
};

/* What a message may hold, and how much of it a region access may carry. */
#define VFU_MAX_FDS 16u
#define VFU_MAX_DATA 65536u
#define VFU_MAX_MESSAGE (VFU_MAX_DATA + 64u)

/* A command in work. */
struct vfu_msg {
	struct vfu_header header;
	const uint8_t *payload; /* not aligned */
	uint32_t len;
	int *fds; /* whoever keeps one puts -1 in its place; the others are closed */
	unsigned int fd_count;
	uint8_t *reply; /* room for VFU_MAX_DATA and what goes before the data */
	uint32_t reply_len;
};

struct vfu_function {
	struct hca *hca;
	struct pci pci;
	struct msix msix;
	bool negotiated; /* VERSION has been agreed on */
};

/*
 * Executes a command: 0, or -errno for the reply. -EPROTO: the client is not to be trusted
 * any more.
 */
int vfu_execute(struct vfu_function *f, struct vfu_msg *msg);

/* Registers, configuration space, vectors and the HCA as at power-on; memory and eventfds stay. */
void vfu_function_reset(struct vfu_function *f);

#endif
