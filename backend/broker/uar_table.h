/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * uar_table.h - what UARs a UAR pool has (see uar_pool.h), in memory that supervisor and broker share, and
 * systemd keeps. The broker writes the entries. A daemon that is upgraded finds the table of the old one, so
 * its layout has to stay.
 */
#ifndef XEN_IB_BROKER_UAR_TABLE_H
#define XEN_IB_BROKER_UAR_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#define UAR_TABLE_ENTRIES 4096u

struct uar_entry {
	uint32_t index;
	uint32_t type; /* enum xen_vhca_uar_type */
	uint64_t frame;
	uint64_t gfn;     /* where it is mapped, of an auto-translated guest */
	uint32_t allowed; /* the guest has the right to map it */
	uint32_t in_use;  /* by a UAR object of the worker that is connected */
};

struct uar_table {
	uint32_t count;
	uint32_t held_by; /* by the supervisor: the file that reserves the pages of a stale pool, or 0 (supervisor/uar_store.h) */
	struct uar_entry entry[UAR_TABLE_ENTRIES];
};

/* uar_table_valid - whether this can be a table at all: what others wrote is not indexed blindly. */
bool uar_table_valid(const struct uar_table *table);

/* uar_table_full - there is no room for another one. */
bool uar_table_full(const struct uar_table *table);

/* uar_table_add - a UAR that has just been allocated; its entry. There must be room. */
struct uar_entry *uar_table_add(struct uar_table *table, uint32_t index, uint32_t type,
				uint64_t frame);

/* uar_table_at - the UAR that an auto-translated guest has at a gfn, or NULL. */
struct uar_entry *uar_table_at(struct uar_table *table, uint64_t gfn);

#endif
