/* SPDX-License-Identifier: GPL-2.0 */
/*
 * reads.h - where those WRs of a send queue have their memory that read from the other end, by RDMA
 * or atomics. The queue itself has that too, but there the backend can write.
 *
 * What was read is copied to the kernel's memory when the WR's completion is polled, or that of a
 * later one, if it has none of its own. Some consumers use it then, and end its mapping later, as
 * the NFS server does.
 */
#ifndef XENIB_KERNEL_READS_H
#define XENIB_KERNEL_READS_H

#include <rdma/ib_verbs.h>

struct xenib_pool;

/* An element */
struct xenib_kread {
	u64 addr;
	u32 length;
	u32 number; /* of the WR in the queue, free running */
};

struct xenib_kreads {
	struct xenib_pool *pool;
	struct xenib_kread *ring; /* in the order of WRs; NULL: the QP reads nothing */
	u32 mask;
	u32 head; /* free running; written with the send queue locked */
	u32 tail; /* free running; written with the CQ locked */
};

/**
 * xenib_kreads_alloc() - for a queue of so many WRs of so many elements: no more memory than the
 * queue itself. xenib_kreads_free() also after an error.
 */
int xenib_kreads_alloc(struct xenib_kreads *reads, struct xenib_pool *pool, u32 max_wr,
		       u32 max_sge);

void xenib_kreads_free(struct xenib_kreads *reads);

/** xenib_kreads_note() - a WR that reads; once it is certain that it is posted. */
void xenib_kreads_note(struct xenib_kreads *reads, u32 number, const struct ib_send_wr *wr);

/** xenib_kreads_copy() - see xenib_kreads_take(). */
bool xenib_kreads_copy(struct xenib_kreads *reads, u32 number);

/**
 * xenib_kreads_take() - the WR with that number, and all before it, are done: what they have read
 * is copied. Before others are posted in their place.
 *
 * Return: whether there was anything to be copied.
 */
static inline bool xenib_kreads_take(struct xenib_kreads *reads, u32 number)
{
	if (likely(READ_ONCE(reads->head) == reads->tail))
		return false;
	return xenib_kreads_copy(reads, number);
}

/** xenib_kreads_reset() - there are none. With the CQ locked, and nobody posting. */
static inline void xenib_kreads_reset(struct xenib_kreads *reads)
{
	reads->tail = reads->head;
}

#endif
