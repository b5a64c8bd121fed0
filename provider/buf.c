// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * buf.c - queue buffers, see buf.h.
 */
#include <errno.h>
#include <sys/mman.h>

#include <infiniband/driver.h>

#include "buf.h"

int xenib_buf_alloc(struct xenib_buf *buf, size_t size)
{
	void *addr;
	int err;

	size = (size + XENIB_PAGE_SIZE - 1) & ~(size_t)(XENIB_PAGE_SIZE - 1);
	addr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (addr == MAP_FAILED)
		return errno;

	err = ibv_dontfork_range(addr, size);
	if (err) {
		munmap(addr, size);
		return err;
	}

	buf->addr = addr;
	buf->size = size;
	return 0;
}

void xenib_buf_free(struct xenib_buf *buf)
{
	if (!buf->addr)
		return;

	ibv_dofork_range(buf->addr, buf->size);
	munmap(buf->addr, buf->size);
	buf->addr = NULL;
}
