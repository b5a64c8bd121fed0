// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The vfio-user server: registers, configuration space, memory, resets. */
#include <errno.h>
#include <sys/mman.h>

#include "vfio_client.h"

TEST(the_bar_is_read_and_written)
{
	struct write8 r = { { 0x1000, VFIO_PCI_BAR0_REGION_INDEX, 8 }, { 0 } };
	uint8_t data[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

	fresh();
	hello();
	CHECK_EQ(region_write(VFIO_PCI_BAR0_REGION_INDEX, 0x10800, data, 8), 0);
	CHECK_EQ(bar_writes, 0); /* memory space is not enabled */
	CHECK_EQ(call(VFU_REGION_READ, &r, sizeof(r.access)), 0);
	CHECK_EQ(r.data[0], 0xff);
	enable();
	CHECK_EQ(region_write(VFIO_PCI_BAR0_REGION_INDEX, 0x10800, data, 8), 0);
	CHECK_EQ(bar_writes, 1);
	CHECK_EQ(last_off, 0x10800);
	CHECK(!memcmp(last_data, data, 8));
	r.access.offset = 0x1000;
	CHECK_EQ(call(VFU_REGION_READ, &r, sizeof(r.access)), 0);
	CHECK_EQ(r.data[7], 7);

	CHECK_EQ(region_write(VFIO_PCI_BAR0_REGION_INDEX, HCA_BAR0_SIZE - 4, data, 8), EINVAL);
	CHECK_EQ(region_write(VFIO_PCI_BAR0_REGION_INDEX, UINT64_MAX - 3, data, 8), EINVAL);
	CHECK_EQ(region_write(1, 0, data, 8), EINVAL);
	CHECK_EQ(region_write(77, 0, data, 8), EINVAL);
	r.access = (struct vfu_region_access){ 0, VFIO_PCI_BAR0_REGION_INDEX, VFU_MAX_DATA + 1 };
	CHECK_EQ(call(VFU_REGION_READ, &r, sizeof(r.access)), EINVAL);
	r.access.count = 0;
	CHECK_EQ(call(VFU_REGION_READ, &r, sizeof(r.access)), EINVAL);
	r.access.count = 4; /* but 8 bytes follow */
	CHECK_EQ(call(VFU_REGION_WRITE, &r, sizeof(r)), EINVAL);
	CHECK_EQ(bar_writes, 1);
	done();
}

TEST(multiple_writes_are_all_or_nothing)
{
	struct {
		uint64_t count;
		struct vfu_multi_write w[3];
	} m = { 3,
		{ { 0x10800, 0, 8, { 1 } }, { 0x10900, 0, 4, { 2 } }, { 0x10a00, 0, 8, { 3 } } } };

	fresh();
	hello();
	enable();
	CHECK_EQ(call(VFU_REGION_WRITE_MULTI, &m, sizeof(m)), 0);
	CHECK_EQ(bar_writes, 3);
	CHECK_EQ(last_off, 0x10a00);
	m.count = 3;
	m.w[2].count = 9;
	CHECK_EQ(call(VFU_REGION_WRITE_MULTI, &m, sizeof(m)), EINVAL);
	m.w[2].count = 8;
	m.count = 4;
	CHECK_EQ(call(VFU_REGION_WRITE_MULTI, &m, sizeof(m)), EINVAL);
	m.count = UINT64_MAX / 24 + 2;
	CHECK_EQ(call(VFU_REGION_WRITE_MULTI, &m, sizeof(m)), EINVAL);
	CHECK_EQ(bar_writes, 3);
	done();
}

TEST(memory_is_mapped_and_goes_with_the_machine)
{
	struct vfu_dma_map map = { 32, 3, 0x1000, 0x100000, 0x2000 };
	struct vfu_dma_unmap unmap = { 24, 0, 0x100000, 0x2000 };
	unsigned int before, during;
	int fd = memfd_create("ram", MFD_CLOEXEC);
	uint32_t v = 7;

	REQUIRE(fd >= 0);
	REQUIRE_EQ(ftruncate(fd, 0x10000), 0);
	fresh();
	hello();
	before = open_fds();
	CHECK_EQ(call_fds(VFU_DMA_MAP, &map, sizeof(map), &fd, 1), 0);
	CHECK_EQ(dma_read(hca.dma, 0x100000, &v, 4), -EFAULT); /* not a bus master */
	enable();
	CHECK_EQ(dma_read(hca.dma, 0x100000, &v, 4), 0);
	CHECK_EQ(v, 0);
	CHECK_EQ(call_fds(VFU_DMA_MAP, &map, sizeof(map), &fd, 1), EEXIST);
	map.flags = 8;
	CHECK_EQ(call_fds(VFU_DMA_MAP, &map, sizeof(map), &fd, 1), EINVAL);
	map = (struct vfu_dma_map){ 32, 3, 0, 0x800000, 0x20000 };
	CHECK_EQ(call_fds(VFU_DMA_MAP, &map, sizeof(map), &fd, 1), EINVAL); /* beyond the file */
	CHECK_EQ(call(VFU_DMA_MAP, &map, sizeof(map)), 0); /* no memory behind it */
	during = open_fds();
	CHECK_EQ(before, during);

	CHECK_EQ(call(VFU_DMA_UNMAP, &unmap, sizeof(unmap)), 0);
	CHECK_EQ(unmap.size, 0x2000);
	CHECK_EQ(dma_read(hca.dma, 0x100000, &v, 4), -EFAULT);
	CHECK_EQ(call(VFU_DMA_UNMAP, &unmap, sizeof(unmap)), 0);
	unmap = (struct vfu_dma_unmap){ 24, VFIO_DMA_UNMAP_FLAG_ALL, 0x1000, 0 };
	CHECK_EQ(call(VFU_DMA_UNMAP, &unmap, sizeof(unmap)), EINVAL);
	map = (struct vfu_dma_map){ 32, 3, 0, 0x100000, 0x10000 };
	CHECK_EQ(call_fds(VFU_DMA_MAP, &map, sizeof(map), &fd, 1), 0);
	CHECK_EQ(dma_read(hca.dma, 0x100000, &v, 4), 0);

	resets = 0;
	close(client);
	turns();
	CHECK_EQ(resets, 1);
	CHECK(!vfio_user_connected(server));
	dma_enable(hca.dma, true);
	CHECK_EQ(dma_read(hca.dma, 0x100000, &v, 4), -EFAULT);
	plug();
	hello();
	CHECK_EQ(config_read(PCI_COMMAND, 2), 0);
	close(fd);
	done();
}

TEST(reset_and_flr)
{
	uint16_t devctl = PCI_EXP_DEVCTL_BCR_FLR;

	fresh();
	hello();
	enable();
	resets = 0;
	CHECK_EQ(call(VFU_RESET, NULL, 0), 0);
	CHECK_EQ(resets, 1);
	CHECK_EQ(config_read(PCI_COMMAND, 2), 0);
	enable();
	CHECK_EQ(config_read(PCI_COMMAND, 2), PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	CHECK_EQ(region_write(VFIO_PCI_CONFIG_REGION_INDEX, 0x68, &devctl, 2), 0);
	CHECK_EQ(resets, 2);
	CHECK_EQ(config_read(PCI_COMMAND, 2), 0);
	CHECK_EQ(config_read(0x68, 2) & PCI_EXP_DEVCTL_BCR_FLR, 0);
	done();
}
