// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * limits.c - see limits.h.
 */
#include "config/limits.h"

#define MIB (1ull << 20)
#define TIB (1ull << 40)

/*
 * The bounds: handles have 18 bits; a process has 65,530 mappings by default (vm.max_map_count),
 * and each umem takes one for every 1024 pages or less.
 */
static const struct limit_key keys[LIMITS] = {
	[LIMIT_CTX] = { "max-ctx", 128, 4096 },
	[LIMIT_UAR] = { "max-uar", 512, 4096 },
	[LIMIT_PD] = { "max-pd", 1024, 16384 },
	[LIMIT_UMEM] = { "max-umem", 32768, 49152 },
	[LIMIT_MR] = { "max-mr", 16384, 49152 },
	[LIMIT_MW] = { "max-mw", 4096, 32768 },
	[LIMIT_CQ] = { "max-cq", 4096, 32768 },
	[LIMIT_SRQ] = { "max-srq", 1024, 16384 },
	[LIMIT_QP] = { "max-qp", 4096, 32768 },
	[LIMIT_AH] = { "max-ah", 65536, 1u << 24 },
	[LIMIT_MCAST] = { "max-mcast", 256, 4096 },
	[LIMIT_MEM_BYTES] = { "max-mem-bytes", 96 * MIB, TIB },
	[LIMIT_MR_BYTES] = { "max-mr-bytes", TIB, TIB },
};

const struct limit_key *limit_key(enum limit limit)
{
	return &keys[limit];
}
