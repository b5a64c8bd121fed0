/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * mad_bytes.h - numbers of a MAD, which are big endian at any place. Has nothing of the kernel:
 * the parsers that use it run in unit tests and fuzzers as well.
 */
#ifndef XEN_IBGSI_MAD_BYTES_H
#define XEN_IBGSI_MAD_BYTES_H

#include <linux/types.h>

static inline __u16 get_16(const __u8 *at)
{
	return at[0] << 8 | at[1];
}

static inline __u32 get_32(const __u8 *at)
{
	return (__u32)get_16(at) << 16 | get_16(at + 2);
}

static inline __u64 get_64(const __u8 *at)
{
	return (__u64)get_32(at) << 32 | get_32(at + 4);
}

static inline void put_16(__u8 *at, __u16 value)
{
	at[0] = value >> 8;
	at[1] = value;
}

static inline void put_32(__u8 *at, __u32 value)
{
	put_16(at, value >> 16);
	put_16(at + 2, value);
}

#endif
