/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The memory of the machine an HCA is plugged into, as that machine has mapped it.
 *
 * QEMU hands over RAM as file descriptors (VFIO_USER_DMA_MAP). All reads and writes of the
 * model go through here, so nothing outside of what is mapped can be touched.
 */
#ifndef HCA_DMA_H
#define HCA_DMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dma_space;

enum { DMA_PROT_READ = 1, DMA_PROT_WRITE = 2 };

struct dma_space *dma_space_new(void);
void dma_space_free(struct dma_space *dma);

#define DMA_PAGE_SIZE 4096u
#define DMA_MAX_REGIONS 16384u

/*
 * Maps [iova, iova + size) to fd at offset. Takes no ownership of fd (it may be closed
 * afterwards). With fd -1 the range is known, but accesses to it fail (a ROM, say). -EEXIST on
 * overlap, -EINVAL on wrap-around, misalignment or a file that is too short, -ENOSPC past
 * DMA_MAX_REGIONS, or what mmap says.
 */
int dma_map(struct dma_space *dma, uint64_t iova, uint64_t size, int fd, uint64_t offset,
	    unsigned int prot);
/* As dma_map(), on memory of the caller: for tests and fuzzers. */
int dma_map_memory(struct dma_space *dma, uint64_t iova, uint64_t size, void *memory,
		   unsigned int prot);
/* Removes every region inside of [iova, iova + size). -ENOENT if there is none, -EINVAL if one sticks out. */
int dma_unmap(struct dma_space *dma, uint64_t iova, uint64_t size);
void dma_unmap_all(struct dma_space *dma);
/* Off: every access fails, whatever is mapped (Bus Master Enable of the function is clear). On at first. */
void dma_enable(struct dma_space *dma, bool on);

/* Copies. 0, or -EFAULT with nothing promised about dst. A range may span regions. */
int dma_read(struct dma_space *dma, uint64_t iova, void *dst, size_t len);
int dma_write(struct dma_space *dma, uint64_t iova, const void *src, size_t len);

/*
 * The address of [iova, iova + len), if it lies in one region that allows prot; else NULL.
 * Good until the next return to the event loop, never to be kept. The machine's CPUs write
 * this memory at any time: read once, then check.
 */
void *dma_ptr(struct dma_space *dma, uint64_t iova, size_t len, unsigned int prot);

/* Bytes read and written by the HCA since creation or reset, for the counters. */
struct dma_stats {
	uint64_t reads, read_bytes, writes, write_bytes, faults;
};
const struct dma_stats *dma_stats(const struct dma_space *dma);
void dma_stats_reset(struct dma_space *dma);

#endif
