// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Configuration space: what is there, what may be written, and what a write does. */
#include <string.h>

#include <linux/pci_regs.h>

#include "bus/pci.h"
#include "hca.h"
#include "ifc.h"

#define VENDOR_MELLANOX 0x15b3
#define DEVICE_CONNECTX5 0x1017
#define SUBSYSTEM_ID 0x0007
#define CLASS_INFINIBAND 0x020700

/* Where a ConnectX-5 has its capabilities. */
#define CAP_PM 0x40
#define CAP_EXP 0x60
#define CAP_MSIX 0x9c
#define CAP_VSC 0xc0

/* Registers of the vendor specific capability (driver: lib/pci_vsc.c). */
#define VSC_LENGTH 0x18
#define VSC_CTRL 0x04
#define VSC_COUNTER 0x08
#define VSC_SEMAPHORE 0x0c
#define VSC_ADDRESS 0x10
#define VSC_DATA 0x14
#define VSC_SPACE_MASK 0xffffu
#define VSC_SPACE_SEMAPHORES 0x0au
#define VSC_STATUS_OK (1u << 29) /* status, bits 31-29: 0 means that there is no such space */
#define VSC_FLAG (1u << 31)
#define VSC_ADDRESS_MASK 0x3fffffffu

static void put8(struct pci *pci, uint32_t off, uint8_t v)
{
	pci->config[off] = v;
}

static void put16(struct pci *pci, uint32_t off, uint16_t v)
{
	v = htole16(v);
	memcpy(pci->config + off, &v, sizeof(v));
}

static void put32(struct pci *pci, uint32_t off, uint32_t v)
{
	v = htole32(v);
	memcpy(pci->config + off, &v, sizeof(v));
}

static uint16_t get16(const struct pci *pci, uint32_t off)
{
	uint16_t v;

	memcpy(&v, pci->config + off, sizeof(v));
	return le16toh(v);
}

static void reset_header(struct pci *pci)
{
	put16(pci, PCI_VENDOR_ID, VENDOR_MELLANOX);
	put16(pci, PCI_DEVICE_ID, DEVICE_CONNECTX5);
	put16(pci, PCI_STATUS, PCI_STATUS_CAP_LIST);
	put32(pci, PCI_CLASS_REVISION, CLASS_INFINIBAND << 8);
	put32(pci, PCI_BASE_ADDRESS_0,
	      PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH);
	put16(pci, PCI_SUBSYSTEM_VENDOR_ID, VENDOR_MELLANOX);
	put16(pci, PCI_SUBSYSTEM_ID, SUBSYSTEM_ID);
	put8(pci, PCI_CAPABILITY_LIST, CAP_EXP);
}

static void cap_header(struct pci *pci, uint8_t at, uint8_t id, uint8_t next)
{
	put8(pci, at + PCI_CAP_LIST_ID, id);
	put8(pci, at + PCI_CAP_LIST_NEXT, next);
}

static void reset_express(struct pci *pci)
{
	cap_header(pci, CAP_EXP, PCI_CAP_ID_EXP, CAP_MSIX);
	put16(pci, CAP_EXP + PCI_EXP_FLAGS, PCI_EXP_TYPE_ENDPOINT << 4 | 2);
	put32(pci, CAP_EXP + PCI_EXP_DEVCAP,
	      PCI_EXP_DEVCAP_FLR | PCI_EXP_DEVCAP_RBER | PCI_EXP_DEVCAP_EXT_TAG |
		      PCI_EXP_DEVCAP_L0S | PCI_EXP_DEVCAP_L1 | 2 /* 512-byte payloads */);
	/* Relaxed ordering, no snoop, read requests of 512 bytes. */
	put16(pci, CAP_EXP + PCI_EXP_DEVCTL,
	      PCI_EXP_DEVCTL_RELAX_EN | PCI_EXP_DEVCTL_NOSNOOP_EN | PCI_EXP_DEVCTL_READRQ_512B);
	put32(pci, CAP_EXP + PCI_EXP_LNKCAP,
	      PCI_EXP_LNKCAP_SLS_8_0GB | 16 << 4 | PCI_EXP_LNKCAP_ASPMS);
	put16(pci, CAP_EXP + PCI_EXP_LNKSTA,
	      PCI_EXP_LNKSTA_CLS_8_0GB | 16 << PCI_EXP_LNKSTA_NLW_SHIFT | PCI_EXP_LNKSTA_SLC);
	put32(pci, CAP_EXP + PCI_EXP_DEVCAP2, PCI_EXP_DEVCAP2_COMP_TMOUT_DIS | 0xf);
	put32(pci, CAP_EXP + PCI_EXP_LNKCAP2,
	      PCI_EXP_LNKCAP2_SLS_2_5GB | PCI_EXP_LNKCAP2_SLS_5_0GB | PCI_EXP_LNKCAP2_SLS_8_0GB);
	put16(pci, CAP_EXP + PCI_EXP_LNKCTL2, PCI_EXP_LNKCTL2_TLS_8_0GT);
}

void pci_reset(struct pci *pci)
{
	memset(pci, 0, sizeof(*pci));
	reset_header(pci);
	reset_express(pci);

	cap_header(pci, CAP_MSIX, PCI_CAP_ID_MSIX, CAP_VSC);
	put16(pci, CAP_MSIX + PCI_MSIX_FLAGS, HCA_MSIX_VECTORS - 1);
	put32(pci, CAP_MSIX + PCI_MSIX_TABLE, HCA_MSIX_TABLE); /* in BAR 0 */
	put32(pci, CAP_MSIX + PCI_MSIX_PBA, HCA_MSIX_PBA);

	cap_header(pci, CAP_VSC, PCI_CAP_ID_VNDR, CAP_PM);
	put8(pci, CAP_VSC + PCI_CAP_FLAGS, VSC_LENGTH);

	cap_header(pci, CAP_PM, PCI_CAP_ID_PM, 0);
	put16(pci, CAP_PM + PCI_PM_PMC, 3); /* version */
	put16(pci, CAP_PM + PCI_PM_CTRL, PCI_PM_CTRL_NO_SOFT_RESET);
}

/* Bits that keep what is written to them; all others are read only, or handled apart. */
static const struct {
	uint16_t off;
	uint32_t mask;
} writable[] = {
	{ PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_PARITY |
			       PCI_COMMAND_SERR | PCI_COMMAND_INTX_DISABLE },
	{ PCI_CACHE_LINE_SIZE, 0xff },
	{ PCI_BASE_ADDRESS_0, ~(HCA_BAR0_SIZE - 1) },
	{ PCI_BASE_ADDRESS_1, 0xffffffff },
	{ PCI_INTERRUPT_LINE, 0xff },
	{ CAP_PM + PCI_PM_CTRL, PCI_PM_CTRL_STATE_MASK },
	{ CAP_EXP + PCI_EXP_DEVCTL, 0x7fff },
	{ CAP_EXP + PCI_EXP_LNKCTL,
	  PCI_EXP_LNKCTL_ASPMC | PCI_EXP_LNKCTL_RCB | PCI_EXP_LNKCTL_CCC | PCI_EXP_LNKCTL_ES },
	{ CAP_EXP + PCI_EXP_DEVCTL2,
	  PCI_EXP_DEVCTL2_COMP_TIMEOUT | PCI_EXP_DEVCTL2_COMP_TMOUT_DIS },
	{ CAP_EXP + PCI_EXP_LNKCTL2, PCI_EXP_LNKCTL2_TLS },
	{ CAP_MSIX + PCI_MSIX_FLAGS, PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL },
};

/* Which bits of the byte at off may be written. */
static uint8_t byte_mask(uint32_t off)
{
	for (size_t i = 0; i < sizeof(writable) / sizeof(writable[0]); i++) {
		if (off >= writable[i].off && off < writable[i].off + 4u)
			return (uint8_t)(writable[i].mask >> 8 * (off - writable[i].off));
	}
	return 0;
}

/* A semaphore, and the gateway's own: taken by writing anything to 0, given back by writing 0. */
static void semaphore_write(uint32_t *semaphore, uint32_t v)
{
	if (!*semaphore || !v)
		*semaphore = v;
}

static void vsc_access(struct pci *pci, uint32_t v)
{
	uint32_t at = (v & VSC_ADDRESS_MASK) / 4;
	bool known = pci->vsc.space == VSC_SPACE_SEMAPHORES && at < PCI_SEMAPHORES;

	if (v & VSC_FLAG) { /* a write; the flag goes when it is done */
		if (known)
			semaphore_write(&pci->vsc.semaphores[at], pci->vsc.data);
		pci->vsc.address = v & VSC_ADDRESS_MASK;
	} else { /* a read; the flag comes when it is done */
		pci->vsc.data = known ? pci->vsc.semaphores[at] : 0;
		pci->vsc.address = (v & VSC_ADDRESS_MASK) | VSC_FLAG;
	}
}

static void vsc_write(struct pci *pci, uint32_t reg, uint32_t v)
{
	switch (reg) {
	case VSC_CTRL:
		pci->vsc.space = v & VSC_SPACE_MASK;
		break;
	case VSC_SEMAPHORE:
		semaphore_write(&pci->vsc.semaphore, v);
		break;
	case VSC_ADDRESS:
		vsc_access(pci, v);
		break;
	case VSC_DATA:
		pci->vsc.data = v;
		break;
	default:
		break;
	}
}

/* Shows the gateway's registers where they are read. The counter gives each reader another value. */
static void vsc_show(struct pci *pci)
{
	uint32_t status = pci->vsc.space == VSC_SPACE_SEMAPHORES ? VSC_STATUS_OK : 0;

	put32(pci, CAP_VSC + VSC_CTRL, pci->vsc.space | status);
	put32(pci, CAP_VSC + VSC_COUNTER, pci->vsc.counter);
	put32(pci, CAP_VSC + VSC_SEMAPHORE, pci->vsc.semaphore);
	put32(pci, CAP_VSC + VSC_ADDRESS, pci->vsc.address);
	put32(pci, CAP_VSC + VSC_DATA, pci->vsc.data);
}

static bool touches(uint32_t off, uint32_t len, uint32_t at, uint32_t size)
{
	return off < at + size && at < off + len;
}

void pci_config_read(struct pci *pci, uint32_t off, void *buf, uint32_t len)
{
	if (touches(off, len, CAP_VSC + VSC_COUNTER, 4) && !++pci->vsc.counter)
		pci->vsc.counter = 1; /* 0 is "free" where it is used as an owner */
	vsc_show(pci);
	memcpy(buf, pci->config + off, len);
}

enum pci_effect pci_config_write(struct pci *pci, uint32_t off, const void *buf, uint32_t len)
{
	const uint32_t devctl = CAP_EXP + PCI_EXP_DEVCTL + 1; /* the byte with Initiate FLR */
	const uint8_t *b = buf;

	if (len == 4 && !(off & 3) && touches(off, len, CAP_VSC + 4, VSC_LENGTH - 4)) {
		uint32_t v;

		memcpy(&v, b, sizeof(v));
		vsc_write(pci, off - CAP_VSC, le32toh(v));
		return PCI_NONE;
	}
	for (uint32_t i = 0; i < len; i++) {
		uint8_t mask = byte_mask(off + i);

		pci->config[off + i] = (uint8_t)((pci->config[off + i] & ~mask) | (b[i] & mask));
	}
	if (touches(off, len, devctl, 1) && (b[devctl - off] & PCI_EXP_DEVCTL_BCR_FLR >> 8))
		return PCI_FLR;
	return PCI_NONE;
}

bool pci_bus_master(const struct pci *pci)
{
	return get16(pci, PCI_COMMAND) & PCI_COMMAND_MASTER;
}

bool pci_memory_enabled(const struct pci *pci)
{
	return (get16(pci, PCI_COMMAND) & PCI_COMMAND_MEMORY) &&
	       !(get16(pci, CAP_PM + PCI_PM_CTRL) & PCI_PM_CTRL_STATE_MASK);
}

bool pci_msix_enabled(const struct pci *pci)
{
	return get16(pci, CAP_MSIX + PCI_MSIX_FLAGS) & PCI_MSIX_FLAGS_ENABLE;
}

bool pci_msix_masked(const struct pci *pci)
{
	return get16(pci, CAP_MSIX + PCI_MSIX_FLAGS) & PCI_MSIX_FLAGS_MASKALL;
}
