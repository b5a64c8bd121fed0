// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Queue memory by page list. */
#include <errno.h>
#include <stdlib.h>

#include "bus/dma.h"
#include "ifc.h"
#include "objects/wqbuf.h"

#define PAGE_SHIFT_MIN 12

int wqbuf_init(struct wqbuf *buf, const void *be64_pages, uint32_t count, uint8_t page_shift,
	       uint32_t offset, uint64_t need)
{
	const uint8_t *list = be64_pages;
	uint64_t page_size;

	memset(buf, 0, sizeof(*buf));
	if (page_shift < PAGE_SHIFT_MIN || page_shift > WQBUF_PAGE_SHIFT_MAX)
		return -EINVAL;
	page_size = 1ull << page_shift;
	if (!need || offset >= page_size || need > UINT64_MAX / 2 ||
	    offset + need > (uint64_t)count << page_shift)
		return -EINVAL;
	count = (offset + need + page_size - 1) >> page_shift;

	buf->pages = malloc(count * sizeof(*buf->pages));
	if (!buf->pages)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		buf->pages[i] = be64_at(list + 8 * i);
		if (buf->pages[i] & (page_size - 1))
			goto err_free;
	}
	buf->count = count;
	buf->page_shift = page_shift;
	buf->offset = offset;
	return 0;

err_free:
	wqbuf_fini(buf);
	return -EINVAL;
}

void wqbuf_fini(struct wqbuf *buf)
{
	free(buf->pages);
	memset(buf, 0, sizeof(*buf));
}

/* Where byte off of the queue lies, and how many bytes follow it in its page. */
static int locate(const struct wqbuf *buf, uint64_t off, uint64_t *iova, size_t *left)
{
	uint64_t page_size = 1ull << buf->page_shift;
	uint64_t index;

	off += buf->offset;
	index = off >> buf->page_shift;
	if (index >= buf->count)
		return -EFAULT;
	*iova = buf->pages[index] + (off & (page_size - 1));
	*left = page_size - (off & (page_size - 1));
	return 0;
}

/* Copies to the queue (to_queue) or from it; data is not written to unless it is the destination. */
static int copy(const struct wqbuf *buf, struct dma_space *dma, uint64_t off, uint8_t *data,
		size_t len, bool to_queue)
{
	while (len) {
		uint64_t iova;
		size_t n;
		int ret = locate(buf, off, &iova, &n);

		if (ret)
			return ret;
		n = n < len ? n : len;
		ret = to_queue ? dma_write(dma, iova, data, n) : dma_read(dma, iova, data, n);
		if (ret)
			return ret;
		data += n;
		off += n;
		len -= n;
	}
	return 0;
}

int wqbuf_read(const struct wqbuf *buf, struct dma_space *dma, uint64_t off, void *dst, size_t len)
{
	return copy(buf, dma, off, dst, len, false);
}

int wqbuf_write(const struct wqbuf *buf, struct dma_space *dma, uint64_t off, const void *src,
		size_t len)
{
	return copy(buf, dma, off, (uint8_t *)src, len, true);
}

void *wqbuf_ptr(const struct wqbuf *buf, struct dma_space *dma, uint64_t off, size_t len,
		unsigned int prot)
{
	uint64_t iova;
	size_t left;

	if (locate(buf, off, &iova, &left) || left < len)
		return NULL;
	return dma_ptr(dma, iova, len, prot);
}
