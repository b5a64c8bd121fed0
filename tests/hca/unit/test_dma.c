// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "bus/dma.h"
#include "unit.h"

#define RW (DMA_PROT_READ | DMA_PROT_WRITE)

static int memfd(size_t size)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	REQUIRE(fd >= 0);
	REQUIRE_EQ(ftruncate(fd, (off_t)size), 0);
	return fd;
}

TEST(maps_a_file_and_forgets_the_fd)
{
	struct dma_space *dma = dma_space_new();
	int fd = memfd(0x4000);
	char buf[8] = "";

	REQUIRE(dma);
	CHECK_EQ(pwrite(fd, "hello", 6, 0x1000), 6);
	CHECK_EQ(dma_map(dma, 0x100000, 0x2000, fd, 0x1000, RW), 0);
	CHECK_EQ(dma_read(dma, 0x100000, buf, 6), 0);
	CHECK(!strcmp(buf, "hello"));
	CHECK_EQ(dma_write(dma, 0x101ff8, "bye", 4), 0);
	CHECK_EQ(pread(fd, buf, 4, 0x2ff8), 4);
	CHECK(!strcmp(buf, "bye"));
	close(fd);
	CHECK_EQ(dma_unmap(dma, 0x100000, 0x2000), 0);
	CHECK_EQ(dma_read(dma, 0x100000, buf, 1), -EFAULT);
	dma_space_free(dma);
}

TEST(refuses_what_does_not_fit)
{
	struct dma_space *dma = dma_space_new();
	int fd = memfd(0x4000), p[2];

	REQUIRE(dma);
	REQUIRE_EQ(pipe(p), 0);
	CHECK_EQ(dma_map(dma, 0, 0, fd, 0, RW), -EINVAL);
	CHECK_EQ(dma_map(dma, 0x800, 0x1000, fd, 0, RW), -EINVAL);
	CHECK_EQ(dma_map(dma, 0x1000, 0x800, fd, 0, RW), -EINVAL);
	CHECK_EQ(dma_map(dma, 0x1000, 0x1000, fd, 0x10, RW), -EINVAL);
	CHECK_EQ(dma_map(dma, 0x1000, 0x5000, fd, 0, RW), -EINVAL);
	CHECK_EQ(dma_map(dma, 0x1000, 0x1000, fd, 0x4000, RW), -EINVAL);
	CHECK_EQ(dma_map(dma, 0x1000, 0x1000, fd, 0xfffffffffffff000, RW), -EINVAL);
	CHECK_EQ(dma_map(dma, 0xfffffffffffff000, 0x2000, fd, 0, RW), -EINVAL);
	CHECK_EQ(dma_map(dma, 0x1000, 0x1000, p[0], 0, RW), -EINVAL);
	CHECK_EQ(dma_map(dma, 0xfffffffffffff000, 0x1000, fd, 0, RW), 0);
	CHECK_EQ(dma_map(dma, 0x10000, 0x4000, fd, 0, RW), 0);
	CHECK_EQ(dma_map(dma, 0x13000, 0x1000, fd, 0, RW), -EEXIST);
	CHECK_EQ(dma_map(dma, 0xf000, 0x2000, fd, 0, RW), -EEXIST);
	CHECK_EQ(dma_map(dma, 0x14000, 0x1000, fd, 0, RW), 0);
	CHECK_EQ(dma_map(dma, 0xf000, 0x1000, fd, 0, RW), 0);
	dma_space_free(dma);
	close(fd);
	close(p[0]);
	close(p[1]);
}

TEST(unmaps_whole_regions_only)
{
	static uint8_t mem[0x3000];
	struct dma_space *dma = dma_space_new();
	uint8_t b;

	REQUIRE(dma);
	for (uint64_t i = 0; i < 3; i++)
		CHECK_EQ(dma_map_memory(dma, 0x1000 * (i + 1), 0x1000, mem + 0x1000 * i, RW), 0);
	CHECK_EQ(dma_unmap(dma, 0x1000, 0), -EINVAL);
	CHECK_EQ(dma_unmap(dma, 0x1000, 0x1800), -EINVAL);
	CHECK_EQ(dma_unmap(dma, 0x1800, 0x1800), -EINVAL);
	CHECK_EQ(dma_unmap(dma, 0x4000, 0x1000), -ENOENT);
	CHECK_EQ(dma_unmap(dma, 0, 0x1000), -ENOENT);
	CHECK_EQ(dma_unmap(dma, 0x2000, UINT64_MAX), -EINVAL);
	CHECK_EQ(dma_unmap(dma, 0x800, 0x2800), 0);
	CHECK_EQ(dma_read(dma, 0x1000, &b, 1), -EFAULT);
	CHECK_EQ(dma_read(dma, 0x2000, &b, 1), -EFAULT);
	CHECK_EQ(dma_read(dma, 0x3000, &b, 1), 0);
	dma_unmap_all(dma);
	CHECK_EQ(dma_read(dma, 0x3000, &b, 1), -EFAULT);
	dma_space_free(dma);
}

TEST(copies_span_regions_but_pointers_do_not)
{
	static uint8_t a[0x1000], b[0x1000];
	struct dma_space *dma = dma_space_new();
	uint8_t buf[32];

	REQUIRE(dma);
	CHECK_EQ(dma_map_memory(dma, 0x1000, 0x1000, a, RW), 0);
	CHECK_EQ(dma_map_memory(dma, 0x2000, 0x1000, b, RW), 0);
	memset(buf, 0x5a, sizeof(buf));
	CHECK_EQ(dma_write(dma, 0x1ff0, buf, 32), 0);
	CHECK_EQ(a[0xfff], 0x5a);
	CHECK_EQ(b[15], 0x5a);
	CHECK_EQ(b[16], 0);
	memset(buf, 0, sizeof(buf));
	CHECK_EQ(dma_read(dma, 0x1ff0, buf, 32), 0);
	CHECK_EQ(buf[31], 0x5a);
	CHECK(dma_ptr(dma, 0x1ff0, 16, DMA_PROT_READ) == a + 0xff0);
	CHECK(!dma_ptr(dma, 0x1ff0, 17, DMA_PROT_READ));
	CHECK_EQ(dma_read(dma, 0x2ff0, buf, 17), -EFAULT);
	CHECK_EQ(dma_read(dma, UINT64_MAX, buf, 2), -EFAULT);
	CHECK_EQ(dma_stats(dma)->faults, 3);
	CHECK_EQ(dma_stats(dma)->write_bytes, 32);
	dma_space_free(dma);
}

TEST(protection_is_kept)
{
	static uint8_t mem[0x1000];
	struct dma_space *dma = dma_space_new();
	uint8_t b = 1;

	REQUIRE(dma);
	CHECK_EQ(dma_map_memory(dma, 0x1000, 0x1000, mem, DMA_PROT_READ), 0);
	CHECK_EQ(dma_map(dma, 0x2000, 0x1000, -1, 0, RW), 0);
	CHECK_EQ(dma_write(dma, 0x1000, &b, 1), -EFAULT);
	CHECK_EQ(dma_read(dma, 0x1000, &b, 1), 0);
	CHECK(!dma_ptr(dma, 0x1000, 1, RW));
	CHECK_EQ(dma_read(dma, 0x2000, &b, 1), -EFAULT);
	CHECK_EQ(dma_map_memory(dma, 0x2000, 0x1000, mem, RW), -EEXIST);
	CHECK_EQ(dma_unmap(dma, 0x2000, 0x1000), 0);
	dma_enable(dma, false);
	CHECK_EQ(dma_read(dma, 0x1000, &b, 1), -EFAULT);
	CHECK(!dma_ptr(dma, 0x1000, 1, DMA_PROT_READ));
	dma_enable(dma, true);
	CHECK_EQ(dma_read(dma, 0x1000, &b, 1), 0);
	dma_space_free(dma);
}

TEST(the_number_of_regions_is_bounded)
{
	static uint8_t mem[0x1000];
	struct dma_space *dma = dma_space_new();
	uint64_t i;

	REQUIRE(dma);
	for (i = 0; i < DMA_MAX_REGIONS; i++)
		REQUIRE_EQ(dma_map_memory(dma, (i ^ 0x155) << 13, 0x1000, mem, RW), 0);
	CHECK_EQ(dma_map_memory(dma, i << 13, 0x1000, mem, RW), -ENOSPC);
	CHECK(dma_ptr(dma, 0x2000, 1, RW) == mem);
	CHECK(!dma_ptr(dma, 0x3000, 1, RW));
	dma_space_free(dma);
}
