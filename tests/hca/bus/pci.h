/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The configuration space of a ConnectX-5: header, one BAR, power management, PCI Express,
 * MSI-X, and the vendor specific capability (the gateway through which the driver takes
 * semaphores; its register dump is not offered).
 */
#ifndef HCA_PCI_H
#define HCA_PCI_H

#include <stdbool.h>
#include <stdint.h>

#define PCI_CONFIG_SIZE 4096u
#define PCI_SEMAPHORES 64u

struct pci {
	uint8_t config[PCI_CONFIG_SIZE];
	struct {
		uint32_t space, counter, semaphore, address, data;
		uint32_t semaphores[PCI_SEMAPHORES];
	} vsc;
};

/* Power-on, and what a reset comes back to. */
void pci_reset(struct pci *pci);

/* off + len must lie in the configuration space. */
void pci_config_read(struct pci *pci, uint32_t off, void *buf, uint32_t len);

/* What a write may set off beside a change of what is read. */
enum pci_effect { PCI_NONE, PCI_FLR };
enum pci_effect pci_config_write(struct pci *pci, uint32_t off, const void *buf, uint32_t len);

bool pci_bus_master(const struct pci *pci);
bool pci_memory_enabled(const struct pci *pci); /* Memory Space Enable, and in D0 */
bool pci_msix_enabled(const struct pci *pci);
bool pci_msix_masked(const struct pci *pci);

#endif
