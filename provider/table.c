// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * table.c - user indices, see table.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "table.h"

void xenib_qp_table_init(struct xenib_qp_table *table)
{
	pthread_mutex_init(&table->lock, NULL);
}

void xenib_qp_table_exit(struct xenib_qp_table *table)
{
	uint32_t i;

	for (i = 0; i < XENIB_TABLE_SIZE; i++)
		free(table->leaf[i]);
	pthread_mutex_destroy(&table->lock);
}

static uint32_t free_slot(const struct xenib_qp_leaf *leaf)
{
	uint32_t i = 0;

	while (leaf->qp[i])
		i++;
	return i;
}

static int add_locked(struct xenib_qp_table *table, struct xenib_qp_queues *qp, uint32_t *uidx)
{
	struct xenib_qp_leaf *leaf;
	uint32_t i, j;

	/* The last leaf stays empty: XENIB_NO_UIDX is in it. */
	for (i = 0; i < XENIB_TABLE_SIZE - 1; i++) {
		leaf = table->leaf[i];
		if (!leaf || leaf->used < XENIB_TABLE_SIZE)
			break;
	}
	if (i == XENIB_TABLE_SIZE - 1)
		return ENOMEM;

	if (!leaf) {
		leaf = calloc(1, sizeof(*leaf));
		if (!leaf)
			return ENOMEM;
		__atomic_store_n(&table->leaf[i], leaf, __ATOMIC_RELEASE);
	}

	j = free_slot(leaf);
	leaf->used++;
	__atomic_store_n(&leaf->qp[j], qp, __ATOMIC_RELEASE);
	*uidx = i << XENIB_TABLE_BITS | j;
	return 0;
}

int xenib_qp_table_add(struct xenib_qp_table *table, struct xenib_qp_queues *qp, uint32_t *uidx)
{
	int err;

	pthread_mutex_lock(&table->lock);
	err = add_locked(table, qp, uidx);
	pthread_mutex_unlock(&table->lock);
	return err;
}

void xenib_qp_table_remove(struct xenib_qp_table *table, uint32_t uidx)
{
	struct xenib_qp_leaf *leaf = table->leaf[uidx >> XENIB_TABLE_BITS];

	pthread_mutex_lock(&table->lock);
	__atomic_store_n(&leaf->qp[uidx & (XENIB_TABLE_SIZE - 1)], NULL, __ATOMIC_RELEASE);
	leaf->used--;
	pthread_mutex_unlock(&table->lock);
}
