/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A queue's memory: a list of pages of the machine, of one size, read and written by offset. */
#ifndef HCA_WQBUF_H
#define HCA_WQBUF_H

#include <stddef.h>
#include <stdint.h>

struct dma_space;

struct wqbuf {
	uint64_t *pages; /* DMA addresses; owned */
	uint32_t count;
	uint8_t page_shift;
	uint32_t offset; /* where the queue starts in the first page */
};

#define WQBUF_PAGE_SHIFT_MAX 30

/*
 * Where a queue starts, as the contexts of CQs, QPs and SRQs say it: in units of 1/64 of a page.
 * A page size that wqbuf_init() is going to refuse is as good as any other here.
 */
static inline uint32_t wqbuf_offset(uint32_t page_offset, uint8_t page_shift)
{
	return page_shift > WQBUF_PAGE_SHIFT_MAX ? 0 : page_offset << (page_shift - 6);
}

/*
 * Takes count big-endian page addresses. need: bytes that the queue occupies; the list must
 * cover offset + need. -EINVAL (list too short, a page not aligned, page_shift not 12..30,
 * offset past the first page), -ENOMEM.
 */
int wqbuf_init(struct wqbuf *buf, const void *be64_pages, uint32_t count, uint8_t page_shift,
	       uint32_t offset, uint64_t need);
void wqbuf_fini(struct wqbuf *buf);

/* Copies at a byte offset in the queue, across pages. 0 or -EFAULT. */
int wqbuf_read(const struct wqbuf *buf, struct dma_space *dma, uint64_t off, void *dst, size_t len);
int wqbuf_write(const struct wqbuf *buf, struct dma_space *dma, uint64_t off, const void *src,
		size_t len);
/* Address of len bytes that do not cross a page, or NULL. As short-lived as dma_ptr()'s. */
void *wqbuf_ptr(const struct wqbuf *buf, struct dma_space *dma, uint64_t off, size_t len,
		unsigned int prot);

#endif
