/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * table.h - from a CQE to its QP: the user index, a number of 24 bits that this library gives to a
 * QP and that the HCA repeats in each of its CQEs.
 *
 * Looking up takes no lock and is safe for any number, also one that was never given. A QP leaves
 * the table with the locks of its CQs held, so who polls one of them never sees it go.
 */
#ifndef XENIB_TABLE_H
#define XENIB_TABLE_H

#include <pthread.h>
#include <stdint.h>

#define XENIB_TABLE_BITS 12
#define XENIB_TABLE_SIZE (1u << XENIB_TABLE_BITS)

/* The HCA's "no user index": for an SRQ, whose CQEs carry the index of the QP. */
#define XENIB_NO_UIDX 0xffffffu

struct xenib_qp_queues;

struct xenib_qp_leaf {
	struct xenib_qp_queues *qp[XENIB_TABLE_SIZE];
	uint32_t used;
};

struct xenib_qp_table {
	pthread_mutex_t lock;
	struct xenib_qp_leaf *leaf[XENIB_TABLE_SIZE]; /* made on first use, then kept */
};

void xenib_qp_table_init(struct xenib_qp_table *table);
void xenib_qp_table_exit(struct xenib_qp_table *table);

/**
 * xenib_qp_table_add() - gives qp a number.
 *
 * Return: 0, or errno; ENOMEM also if there are no more numbers.
 */
int xenib_qp_table_add(struct xenib_qp_table *table, struct xenib_qp_queues *qp, uint32_t *uidx);

/** xenib_qp_table_remove() - takes a number back. */
void xenib_qp_table_remove(struct xenib_qp_table *table, uint32_t uidx);

/** xenib_qp_table_find() - the QP with this number, or NULL. */
static inline struct xenib_qp_queues *xenib_qp_table_find(const struct xenib_qp_table *table,
							  uint32_t uidx)
{
	const struct xenib_qp_leaf *leaf;

	leaf = __atomic_load_n(&table->leaf[(uidx >> XENIB_TABLE_BITS) & (XENIB_TABLE_SIZE - 1)],
			       __ATOMIC_ACQUIRE);
	if (!leaf)
		return NULL;
	return __atomic_load_n(&leaf->qp[uidx & (XENIB_TABLE_SIZE - 1)], __ATOMIC_ACQUIRE);
}

#endif
