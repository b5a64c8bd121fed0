// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The configuration space as a PCI core and the mlx5 driver's gateway code see it. */
#include <linux/pci_regs.h>

#include "bus/pci.h"
#include "hca.h"
#include "unit.h"

static struct pci pci;

static uint32_t get(uint32_t off, uint32_t len)
{
	uint32_t v = 0;

	pci_config_read(&pci, off, &v, len);
	return v;
}

static enum pci_effect set(uint32_t off, uint32_t v, uint32_t len)
{
	return pci_config_write(&pci, off, &v, len);
}

static uint32_t find_cap(uint32_t id)
{
	uint32_t at = get(PCI_CAPABILITY_LIST, 1);

	for (int i = 0; at && i < 48; i++) {
		if (get(at, 1) == id)
			return at;
		at = get(at + 1, 1);
	}
	return 0;
}

TEST(is_a_connectx5)
{
	pci_reset(&pci);
	CHECK_EQ(get(PCI_VENDOR_ID, 4), 0x101715b3);
	CHECK_EQ(get(PCI_CLASS_DEVICE, 2), 0x0207);
	CHECK_EQ(get(PCI_INTERRUPT_PIN, 1), 0);
	CHECK(find_cap(PCI_CAP_ID_EXP));
	CHECK(find_cap(PCI_CAP_ID_MSIX));
	CHECK(find_cap(PCI_CAP_ID_PM));
	CHECK(find_cap(PCI_CAP_ID_VNDR));
	CHECK(get(find_cap(PCI_CAP_ID_EXP) + PCI_EXP_DEVCAP, 4) & PCI_EXP_DEVCAP_FLR);
	CHECK_EQ(get(find_cap(PCI_CAP_ID_MSIX) + PCI_MSIX_FLAGS, 2), HCA_MSIX_VECTORS - 1);
	CHECK_EQ(get(0x100, 4), 0);
}

TEST(bar_sizing)
{
	pci_reset(&pci);
	set(PCI_BASE_ADDRESS_0, 0xffffffff, 4);
	set(PCI_BASE_ADDRESS_1, 0xffffffff, 4);
	set(PCI_BASE_ADDRESS_2, 0xffffffff, 4);
	CHECK_EQ(get(PCI_BASE_ADDRESS_0, 4), 0xfe00000c);
	CHECK_EQ(get(PCI_BASE_ADDRESS_1, 4), 0xffffffff);
	CHECK_EQ(get(PCI_BASE_ADDRESS_2, 4), 0);
	set(PCI_ROM_ADDRESS, 0xffffffff, 4);
	CHECK_EQ(get(PCI_ROM_ADDRESS, 4), 0);
}

TEST(read_only_bits_stay)
{
	static uint8_t ones[256];
	uint8_t before[256], after[256];

	memset(ones, 0xff, sizeof(ones));
	pci_reset(&pci);
	pci_config_read(&pci, 0, before, sizeof(before));
	CHECK_EQ(pci_config_write(&pci, 0, ones, sizeof(ones)), PCI_FLR);
	pci_config_read(&pci, 0, after, sizeof(after));
	CHECK(!memcmp(before, after, 4));
	CHECK_EQ(get(PCI_COMMAND, 2), 0x546);
	CHECK_EQ(get(PCI_STATUS, 2), PCI_STATUS_CAP_LIST);
	CHECK_EQ(get(PCI_CLASS_REVISION, 4), 0x02070000);
	CHECK_EQ(get(find_cap(PCI_CAP_ID_MSIX) + PCI_MSIX_TABLE, 4), HCA_MSIX_TABLE);
}

TEST(bits_of_bytes_and_words)
{
	uint32_t msix;

	pci_reset(&pci);
	set(PCI_COMMAND, PCI_COMMAND_MEMORY, 1);
	CHECK(pci_memory_enabled(&pci));
	CHECK(!pci_bus_master(&pci));
	set(PCI_COMMAND + 1, PCI_COMMAND_INTX_DISABLE >> 8, 1);
	CHECK_EQ(get(PCI_COMMAND, 2), PCI_COMMAND_MEMORY | PCI_COMMAND_INTX_DISABLE);
	set(PCI_COMMAND, PCI_COMMAND_MASTER | PCI_COMMAND_MEMORY, 4);
	CHECK(pci_bus_master(&pci));
	msix = find_cap(PCI_CAP_ID_MSIX);
	set(msix, (uint32_t)(PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL) << 16, 4);
	CHECK(pci_msix_enabled(&pci));
	CHECK(pci_msix_masked(&pci));
	set(msix + 3, PCI_MSIX_FLAGS_ENABLE >> 8, 1);
	CHECK(pci_msix_enabled(&pci));
	CHECK(!pci_msix_masked(&pci));
	set(find_cap(PCI_CAP_ID_PM) + PCI_PM_CTRL, 3, 2);
	CHECK(!pci_memory_enabled(&pci)); /* D3hot */
	set(find_cap(PCI_CAP_ID_PM) + PCI_PM_CTRL, 0, 2);
	CHECK(pci_memory_enabled(&pci));
	CHECK(get(find_cap(PCI_CAP_ID_PM) + PCI_PM_CTRL, 2) & PCI_PM_CTRL_NO_SOFT_RESET);
}

TEST(flr_is_one_bit)
{
	uint32_t devctl;

	pci_reset(&pci);
	devctl = find_cap(PCI_CAP_ID_EXP) + PCI_EXP_DEVCTL;
	CHECK_EQ(set(devctl, 0x7fff, 2), PCI_NONE);
	CHECK_EQ(get(devctl, 2), 0x7fff);
	CHECK_EQ(set(devctl, 0x8000, 2), PCI_FLR);
	CHECK_EQ(get(devctl, 2), 0);
	CHECK_EQ(set(devctl + 1, 0x80, 1), PCI_FLR);
	CHECK_EQ(set(devctl, 0xff, 1), PCI_NONE);
	CHECK_EQ(set(devctl + 2, 0xffff, 2), PCI_NONE);
}

/* As lib/pci_vsc.c does it. */
#define CTRL 4
#define COUNTER 8
#define SEMAPHORE 12
#define ADDRESS 16
#define DATA 20
#define FLAG 0x80000000u

static uint32_t vsc;

static bool gateway_lock(void)
{
	uint32_t counter;

	if (get(vsc + SEMAPHORE, 4))
		return false;
	counter = get(vsc + COUNTER, 4);
	set(vsc + SEMAPHORE, counter, 4);
	return get(vsc + SEMAPHORE, 4) == counter;
}

static bool set_space(uint16_t space)
{
	set(vsc + CTRL, (get(vsc + CTRL, 4) & 0xffff0000) | space, 4);
	return get(vsc + CTRL, 4) >> 29;
}

static uint32_t gateway_read(uint32_t address)
{
	set(vsc + ADDRESS, address, 4);
	REQUIRE(get(vsc + ADDRESS, 4) & FLAG);
	return get(vsc + DATA, 4);
}

static void gateway_write(uint32_t address, uint32_t v)
{
	set(vsc + DATA, v, 4);
	set(vsc + ADDRESS, address | FLAG, 4);
	REQUIRE(!(get(vsc + ADDRESS, 4) & FLAG));
}

TEST(the_gateway_has_semaphores_and_no_dump)
{
	pci_reset(&pci);
	vsc = find_cap(PCI_CAP_ID_VNDR);
	REQUIRE(vsc);
	CHECK(gateway_lock());
	CHECK(!gateway_lock());
	CHECK(!set_space(7)); /* register dump */
	CHECK(set_space(0xa));
	CHECK_EQ(gateway_read(0x20), 0);
	gateway_write(0x20, 0x1234);
	CHECK_EQ(gateway_read(0x20), 0x1234);
	gateway_write(0x20, 0x5678); /* taken */
	CHECK_EQ(gateway_read(0x20), 0x1234);
	gateway_write(0x20, 0);
	CHECK_EQ(gateway_read(0x20), 0);
	gateway_write(0x3ffffffc, 1);
	CHECK_EQ(gateway_read(0x3ffffffc), 0);
	set(vsc + SEMAPHORE, 0, 4);
	CHECK(gateway_lock());
	CHECK(get(vsc + COUNTER, 4) != get(vsc + COUNTER, 4));
	CHECK_EQ(get(vsc + 2, 1), 0x18);
}
