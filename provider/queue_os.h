/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * queue_os.h - what queue/ needs of its surroundings, in user space. The names are the kernel's,
 * where it has them.
 */
#ifndef XENIB_QUEUE_OS_H
#define XENIB_QUEUE_OS_H

#include <assert.h>
#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <linux/types.h>

#include <util/compiler.h>
#include <util/mmio.h>
#include <util/udma_barrier.h>

#include "lock.h"
#include "table.h"

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#define cpu_to_be16(x) htobe16(x)
#define cpu_to_be32(x) htobe32(x)
#define cpu_to_be64(x) htobe64(x)
#define be16_to_cpu(x) be16toh(x)
#define be32_to_cpu(x) be32toh(x)

#define BIT(n) (1UL << (n))
#define BIT_ULL(n) (1ULL << (n))

/* Inlined also where the compiler would rather not: its arguments are mostly constants there. */
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))

/* Memory that another may read or write meanwhile is accessed exactly once. */
#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value) ((void)(*(volatile __typeof__(x) *)&(x) = (value)))

/* Between accesses to memory that the HCA reads, and to memory that it writes. */
#define dma_wmb() udma_to_device_barrier()
#define dma_rmb() udma_from_device_barrier()

#define __iomem

/* A store to a register of the HCA */
static inline void xenib_mmio_write64(void *to, __be64 value)
{
	mmio_write64_be(to, value);
}

/* Copies a block of 64 bytes to registers, in the order of addresses. */
static inline void xenib_mmio_copy_block(void *to, const void *from)
{
	mmio_memcpy_x64(to, from, 64);
}

/* Locks, and begins stores to write-combining memory. */
static inline void xenib_wc_lock(struct xenib_lock *lock)
{
	if (lock->shared)
		mmio_wc_spinlock(&lock->spin);
	else
		mmio_wc_start();
}

/* Ends stores to write-combining memory; in the lock, or the HCA could see a later one first. */
static inline void xenib_wc_flush(void)
{
	mmio_flush_writes();
}

#endif
