/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * queue_os.h - what ../provider/queue/ needs of its surroundings, in the kernel. The provider has
 * one for user space.
 */
#ifndef XENIB_QUEUE_OS_H
#define XENIB_QUEUE_OS_H

#include <asm/barrier.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/io.h>
#include <linux/spinlock.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/xarray.h>

/*
 * Queues are posted to and polled in any context. Who takes the outermost lock turns interrupts off
 * (spin_lock_irqsave()); those inside of it are taken here.
 */
struct xenib_lock {
	spinlock_t spin; /* of what the struct that it is in says */
};

/* A macro, so that each kind of lock is a class of its own to lockdep. */
#define xenib_lock_init(lock) spin_lock_init(&(lock)->spin)

static inline void xenib_lock(struct xenib_lock *lock)
{
	spin_lock(&lock->spin);
}

static inline void xenib_unlock(struct xenib_lock *lock)
{
	spin_unlock(&lock->spin);
}

/*
 * From the number in a CQE to the QP. Who polls has interrupts off and so is a reader of RCU: a QP
 * that has left the table is freed a grace period later.
 */
struct xenib_qp_table {
	struct xarray qps;
};

static inline struct xenib_qp_queues *xenib_qp_table_find(struct xenib_qp_table *table, u32 uidx)
{
	return xa_load(&table->qps, uidx);
}

/* A store to a register of the HCA, after all stores to memory before it */
static inline void xenib_mmio_write64(void __iomem *to, __be64 value)
{
	/* What the register tells the HCA to read is written. */
	wmb();
	__raw_writeq((__force u64)value, to);
}

/* Copies a block of 64 bytes to registers, in the order of addresses. */
static inline void xenib_mmio_copy_block(void __iomem *to, const void *from)
{
	__iowrite64_copy(to, from, 8);
}

/* Locks, and begins stores to write-combining memory. */
static inline void xenib_wc_lock(struct xenib_lock *lock)
{
	spin_lock(&lock->spin);
	/* As before any register. */
	wmb();
}

/* Ends stores to write-combining memory; in the lock, or the HCA could see a later one first. */
static inline void xenib_wc_flush(void)
{
	/* Empties the buffers of write combining. */
	wmb();
}

#endif
