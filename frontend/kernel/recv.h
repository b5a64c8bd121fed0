/* SPDX-License-Identifier: GPL-2.0 */
/*
 * recv.h - where the receive WRs of a queue have their memory. The queue itself has that too, but
 * there the backend can write.
 *
 * A message is copied to the kernel's memory when it is polled. Some consumers look for it there
 * without a word to the DMA API, as the NVMe target does for the data of small writes.
 */
#ifndef XENIB_KERNEL_RECV_H
#define XENIB_KERNEL_RECV_H

#include <rdma/ib_verbs.h>

struct xenib_pool;

struct xenib_krecvs {
	struct xenib_pool *pool;
	u32 max_sge;
	u32 *rooms;          /* bytes that each has room for, at the index of its WQE */
	struct ib_sge *sges; /* max_sge of each */
};

/** xenib_krecvs_alloc() - xenib_krecvs_free() also after an error. */
int xenib_krecvs_alloc(struct xenib_krecvs *recvs, struct xenib_pool *pool, u32 wqes, u32 max_sge);

void xenib_krecvs_free(struct xenib_krecvs *recvs);

/** xenib_krecvs_note() - a WR with max_sge elements at most, whose WQE has that index. */
void xenib_krecvs_note(struct xenib_krecvs *recvs, u32 index, const struct ib_recv_wr *wr);

/**
 * xenib_krecvs_take() - a message has come by it, which is copied. Before the index is used again.
 * @skip: octets at its begin that the HCA has left as they were: of a datagram without a GRH the
 *        place of that
 * @bytes: any value; 0: there is nothing to be copied
 *
 * Return: false if it had no room for so many.
 */
bool xenib_krecvs_take(const struct xenib_krecvs *recvs, u32 index, u32 skip, u32 bytes);

#endif
