/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory keys: what an lkey or rkey allows, and the way from a virtual address to the machine's memory. */
#ifndef HCA_MKEY_H
#define HCA_MKEY_H

#include "objects/obj.h"

enum mkey_mode { MKEY_PA = 0, MKEY_MTT = 1, MKEY_KLM = 2, MKEY_KSM = 3 };

enum {
	MKEY_LOCAL_READ = 1,
	MKEY_LOCAL_WRITE = 2,
	MKEY_REMOTE_READ = 4,
	MKEY_REMOTE_WRITE = 8,
	MKEY_REMOTE_ATOMIC = 16,
};

/* An entry of the translation table: MTT uses address alone, whose bits below a page are ignored. */
struct mkey_entry {
	uint64_t address;
	uint32_t key, bytes; /* KLM, KSM (which ignores bytes) */
	uint64_t offset;     /* KLM: what is before it; kept by mkey_index() */
};

struct mkey {
	struct obj obj; /* id is the index: key >> 8 */
	enum mkey_mode mode;
	uint8_t variant; /* low 8 bits of the key */
	uint8_t access;
	bool free; /* not usable until a UMR says so */
	bool umr_enabled;
	bool remote_invalidate; /* en_rinval */
	bool length64;          /* the whole address space */
	uint32_t qpn;           /* 0xffffff: any QP */
	uint32_t pd;
	uint64_t start, length;
	uint8_t page_shift;
	uint32_t capacity;        /* entries the table may hold, fixed at creation */
	uint32_t count;           /* entries allocated */
	struct mkey_entry *table; /* owned; MTT tables use .address only */
};

/* On whose behalf memory is accessed: a QP, or what it receives into (an SRQ has a PD of its own). */
struct mkey_user {
	struct hca *hca;
	uint32_t pd, qpn;
	bool reserved_lkey;
	bool any_pd; /* the kernel's QP for UMR, which is in no PD */
};

/* Why an access was refused. */
enum mkey_status {
	MKEY_OK,
	MKEY_BAD_KEY, /* no such key, wrong variant, free */
	MKEY_BAD_PD,
	MKEY_BAD_QP, /* key bound to another QP */
	MKEY_BAD_BOUNDS,
	MKEY_BAD_ACCESS,
	MKEY_BAD_DMA, /* the page is not the machine's memory, or an indirection is broken */
};

/*
 * Checks the right to [va, va + len) under key; need is a set of MKEY_*. len 0 touches nothing
 * and is always allowed (IBTA 9.7.4.1.1: keys of zero-length operations are not checked).
 * What the entries of an indirect key point to is only found out by an access.
 */
enum mkey_status mkey_check(const struct mkey_user *user, uint32_t key, uint64_t va, uint32_t len,
			    unsigned int need);
/* Check and copy. On anything but MKEY_OK a part may have been copied. */
enum mkey_status mkey_read(const struct mkey_user *user, uint32_t key, uint64_t va, void *dst,
			   uint32_t len, unsigned int need);
enum mkey_status mkey_write(const struct mkey_user *user, uint32_t key, uint64_t va,
			    const void *src, uint32_t len, unsigned int need);
/*
 * 8-byte atomics on the machine's memory, in its CPUs' byte order: compare-and-swap, or
 * fetch-and-add. *old gets what was there. va must be a multiple of 8.
 */
enum mkey_status mkey_atomic(const struct mkey_user *user, uint32_t key, uint64_t va, bool compare,
			     uint64_t swap_or_add, uint64_t expected, uint64_t *old);
/*
 * Invalidation by a SEND from remote: afterwards key is free. PD (and QP, if the key is bound to
 * one) must agree, and the key must have been made for it (remote_invalidate).
 */
enum mkey_status mkey_invalidate(const struct mkey_user *user, uint32_t key);

/*
 * Makes the table count entries long, new ones zero; 0 frees it. -ENOMEM also when the tables of
 * this function's keys would take more than HCA_MKEY_TABLES bytes.
 */
int mkey_resize(struct mkey *mkey, uint32_t count);

/* Destruction, for destroy(). */
void mkey_destroy(struct mkey *mkey);

/* To be called when entries of the table have changed. */
void mkey_index(struct mkey *mkey);

/* The key that means "physical addresses" to kernel QPs (QUERY_SPECIAL_CONTEXTS resd_lkey). */
#define MKEY_RESERVED_LKEY 0x100u
/*
 * The key of no memory (QUERY_SPECIAL_CONTEXTS dump_fill_mkey), for data segments of any QP: what is read
 * by it is zeros, what is written to it is gone. No mkey has its index.
 */
#define MKEY_DUMP_FILL 0x200u
/* A data segment with this key ends a scatter list. */
#define MKEY_TERMINATE 0x100u

#endif
