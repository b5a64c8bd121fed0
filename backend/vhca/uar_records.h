/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * uar_records.h - what UARs a bank has (see uar.h), in memory that supervisor, holder and broker
 * share. The broker alone writes it; a worker has a copy. A daemon that is upgraded finds the
 * records of the old one, so their layout has to stay.
 */
#ifndef XEN_IB_VHCA_UAR_RECORDS_H
#define XEN_IB_VHCA_UAR_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#define UAR_BANK_RECORDS 4096u

struct uar_record {
	uint32_t index;
	uint32_t type;    /* enum xen_vhca_uar_type */
	uint64_t frame;
	uint64_t gfn;     /* where it is mapped or will be, of an auto-translated guest */
	uint32_t allowed; /* the guest has the right to map it */
	uint32_t in_use;  /* by a UAR object; in a worker's copy alone */
};

struct uar_records {
	uint32_t count;
	uint32_t reserved;
	struct uar_record record[UAR_BANK_RECORDS];
};

/* uar_records_valid - whether these can be records at all: what others wrote is not indexed blindly. */
bool uar_records_valid(const struct uar_records *records);

/* uar_records_full - there is no room for another one. */
bool uar_records_full(const struct uar_records *records);

/* uar_records_add - a UAR that has just been allocated. There must be room. */
void uar_records_add(struct uar_records *records, uint32_t index, uint32_t type, uint64_t frame);

/* uar_records_find - the UAR of a frame, or NULL: it is none of this bank's. */
struct uar_record *uar_records_find(struct uar_records *records, uint64_t frame);

/* uar_records_at - the UAR that an auto-translated guest has at a gfn, or NULL. */
struct uar_record *uar_records_at(struct uar_records *records, uint64_t gfn);

#endif
