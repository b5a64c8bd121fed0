/* SPDX-License-Identifier: GPL-2.0 */
/*
 * umem.h - memory of a process, or of the kernel, that the HCA is to use: pinned, granted, offered
 * to the backend as a umem; and arenas, umems in which queues and doorbell records are.
 */
#ifndef XENIB_UMEM_H
#define XENIB_UMEM_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <xen/grant_table.h>

#include "vhca_request.h"

struct device;
struct ib_umem;
struct mm_struct;
struct page;
struct xenib_dev;
struct xenib_context;
struct xenib_dmabuf;

struct xenib_umem {
	struct page **pages;         /* NULL: nothing here */
	size_t count;                /* of pages */
	struct ib_umem *ib;          /* the pins; NULL: the pages are the kernel's own, or */
	struct xenib_dmabuf *dmabuf; /* of this */
	void *kva;                   /* those in a row */
	grant_ref_t *refs;           /* of each page */
	bool read_only;
	bool refused;             /* the backend has said that it does not let the pages go */
	xen_vhca_handle_t handle; /* of the umem, once offered */
};

/*
 * Pins length bytes at addr of the calling process, and grants their pages. access: as for
 * ib_umem_get(); where it allows no writing the grants are read-only. Undone by
 * xenib_umem_release().
 */
int xenib_umem_pin(struct xenib_dev *dev, struct xenib_umem *umem, u64 addr, u64 length,
		   int access);

/* The same, of length bytes at offset of a dma-buf of the process. */
int xenib_umem_pin_dmabuf(struct xenib_dev *dev, struct xenib_umem *umem, int fd, u64 offset,
			  u64 length, int access);

/* Offers a pinned umem to the backend: all of it, or nothing. @only_mrs: no queue will be in it. */
int xenib_umem_offer(struct xenib_context *ctx, struct xenib_umem *umem, bool only_mrs);

/*
 * Ends all of it: the backend's umem if there is one, the grants, the pins. Only when no object
 * uses the umem any more.
 */
void xenib_umem_release(struct xenib_dev *dev, struct xenib_umem *umem);

/* Both of the first two, for queues: addr page aligned, or -EINVAL. */
int xenib_umem_create(struct xenib_context *ctx, struct xenib_umem *umem, u64 addr, u64 length);

/*
 * As much memory of the kernel's own, zeroed, at kva; granted and offered. Released as any other.
 */
int xenib_umem_create_kernel(struct xenib_context *ctx, struct xenib_umem *umem, size_t length,
			     bool only_mrs);

/* kernel/kmem.c: pages and their place in the kernel's memory, as umem has them. */
int xenib_kmem_alloc(struct xenib_umem *umem, size_t count);
void xenib_kmem_free(struct xenib_umem *umem);

/*
 * dmabuf.c: memory of dma-bufs. What one is made of is known to its exporter alone, which maps it
 * for a device. Here that device is one whose bus is the guest's own memory: its addresses name
 * pages, which are granted. Memory that is not RAM of the guest, but of a device, has none.
 */

/**
 * xenib_dmabuf_device_create() - the device that dma-bufs are mapped for.
 * @parent: the vHCA's
 *
 * Return: the device, to be ended by put_device(), or an ERR_PTR.
 */
struct device *xenib_dmabuf_device_create(struct device *parent);

/**
 * xenib_dmabuf_map() - maps a dma-buf of the calling process, which stays where it is until
 * xenib_dmabuf_unmap().
 *
 * Return: the mapping, or an ERR_PTR.
 */
struct xenib_dmabuf *xenib_dmabuf_map(struct device *dev, int fd);
void xenib_dmabuf_unmap(struct xenib_dmabuf *map);

/**
 * xenib_dmabuf_pages() - the pages of a part.
 * @pages: room for @count of them
 *
 * Return: 0, -EINVAL: the dma-buf has no such part, or it is not made of whole pages.
 */
int xenib_dmabuf_pages(const struct xenib_dmabuf *map, u64 first, size_t count,
		       struct page **pages);

/* The arenas of a context that objects share. */
struct xenib_arenas {
	struct mutex lock; /* of the list and the counts */
	struct list_head list;
};

struct xenib_arena {
	struct list_head list;
	struct mm_struct *mm; /* compared, never followed; the umem keeps it from being reused */
	u64 addr;
	u8 shift; /* log2 of its bytes; 0: one object's own, and not in the list */
	unsigned int users;
	struct xenib_umem umem;
};

/* Where an object has its queue, or its doorbell record. Without an arena: nowhere. */
struct xenib_arena_addr {
	struct xenib_arena *arena;
	u32 offset;
};

void xenib_arenas_init(struct xenib_arenas *arenas);

/*
 * A queue of length bytes at addr of the calling process (page aligned, or -EINVAL). shift: in an
 * arena of so many bytes (log2) that begins at a multiple of them (-EINVAL if it is not, or is too
 * small or too large); 0: in memory of its own. Returned by xenib_arena_addr_put().
 */
int xenib_buf_get(struct xenib_context *ctx, struct xenib_arena_addr *at, u64 addr, u64 length,
		  u8 shift);

/* The doorbell record at addr (8-aligned, or -EINVAL); shift as above, 0: the arena is its page. */
int xenib_dbr_get(struct xenib_context *ctx, struct xenib_arena_addr *at, u64 addr, u8 shift);

/*
 * A queue of length bytes and a doorbell record in memory of the kernel's own, which both are
 * returned to. Without a length there is no queue.
 */
int xenib_arena_create_kernel(struct xenib_context *ctx, struct xenib_arena_addr *buf,
			      struct xenib_arena_addr *dbr, size_t length);

/* Only when no object uses the place any more. */
void xenib_arena_addr_put(struct xenib_context *ctx, struct xenib_arena_addr *at);

/* Where the kernel has it. What is there is the process's, and may change at any time. */
void *xenib_arena_addr_kva(const struct xenib_arena_addr *at);

/* As the backend is told: all zero if it is nowhere. */
struct xen_vhca_umem_addr xenib_arena_addr_wire(const struct xenib_arena_addr *at);

#endif
