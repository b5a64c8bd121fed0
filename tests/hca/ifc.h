/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Reading and writing the big-endian bit fields of the mlx5 command interface.
 *
 * The layouts are the kernel's own linux/mlx5/mlx5_ifc.h (from the linux-headers
 * package): each field is an array member whose size in "bytes" is the field's
 * width in bits, and whose offset is the bit's distance from the start of the
 * structure, most significant bit of each 32-bit word first.
 */
#ifndef HCA_IFC_H
#define HCA_IFC_H

#include <endian.h>
#include <linux/types.h> /* __be16 and so on, as infiniband/mlx5dv.h has them */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What the kernel header expects of the kernel. */
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
#ifndef BIT
#define BIT(n) (1UL << (n))
#endif
#ifndef BIT_ULL
#define BIT_ULL(n) (1ULL << (n))
#endif
#define DECLARE_FLEX_ARRAY(type, name) type name[0]

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <linux/mlx5/mlx5_ifc.h>
#pragma GCC diagnostic pop

#define IFC_BITS(st, field) sizeof(((struct mlx5_ifc_##st##_bits *)0)->field)
#define IFC_OFF(st, field) offsetof(struct mlx5_ifc_##st##_bits, field)

/* Size of a layout in bytes, and the byte offset of a field in it. */
#define IFC_SIZE(st) (sizeof(struct mlx5_ifc_##st##_bits) / 8)
#define IFC_BYTE(st, field) (IFC_OFF(st, field) / 8)

/* Address of a byte-aligned member (a nested layout, an array of bytes). */
#define IFC_ADDR(st, p, field) ((uint8_t *)(p) + IFC_BYTE(st, field))

/* Value of a field of 1 to 32 bits that does not cross a word, or of 64 bits. */
#define IFC_GET(st, p, field) ifc_get((p), IFC_OFF(st, field), IFC_BITS(st, field))
#define IFC_SET(st, p, field, v) ifc_set((p), IFC_OFF(st, field), IFC_BITS(st, field), (v))

static inline uint32_t be32_at(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

static inline uint64_t be64_at(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return be64toh(v);
}

static inline uint16_t be16_at(const void *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return be16toh(v);
}

static inline void put_be16(void *p, uint16_t v)
{
	v = htobe16(v);
	memcpy(p, &v, sizeof(v));
}

static inline void put_be32(void *p, uint32_t v)
{
	v = htobe32(v);
	memcpy(p, &v, sizeof(v));
}

static inline void put_be64(void *p, uint64_t v)
{
	v = htobe64(v);
	memcpy(p, &v, sizeof(v));
}

static inline uint64_t ifc_get(const void *p, size_t off, size_t bits)
{
	const uint8_t *b = p;
	unsigned int shift;

	if (bits == 64)
		return be64_at(b + off / 8);
	shift = 32 - bits - (off & 31);
	return (be32_at(b + off / 32 * 4) >> shift) & (uint32_t)((1ull << bits) - 1);
}

static inline void ifc_set(void *p, size_t off, size_t bits, uint64_t v)
{
	uint8_t *b = p;
	unsigned int shift;
	uint32_t mask;

	if (bits == 64) {
		put_be64(b + off / 8, v);
		return;
	}
	shift = 32 - bits - (off & 31);
	mask = (uint32_t)((1ull << bits) - 1) << shift;
	b += off / 32 * 4;
	put_be32(b, (be32_at(b) & ~mask) | (((uint32_t)v << shift) & mask));
}

#endif
