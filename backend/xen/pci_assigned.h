/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * pci_assigned.h - where the doorbell pages of HCAs can be that were given to a domain (pci=[] in its
 * configuration): as xenstore names the functions, and sysfs their BARs. That is BAR 0 of an mlx5
 * HCA without its first pages, where the initialization segment is, from which it can be taken over;
 * nothing of other BARs, and nothing of other devices.
 */
#ifndef XEN_IB_XEN_PCI_ASSIGNED_H
#define XEN_IB_XEN_PCI_ASSIGNED_H

#include <stdbool.h>
#include <stdint.h>

#define PCI_ASSIGNED_NODES "/local/domain/0/backend/pci" /* where it changes */
#define PCI_ASSIGNED_RANGES 64                           /* what is more is not seen */

struct xs_handle;

struct pci_assigned {
	unsigned int n;
	struct pci_range {
		uint64_t first, last; /* frames */
	} range[PCI_ASSIGNED_RANGES];
};

extern const char *pci_assigned_sysfs; /* another one than /sys/bus/pci/devices in tests */

/* pci_assigned_read - of a domain, as it is now. xl changes several nodes at once, so they are read in a transaction. */
void pci_assigned_read(struct pci_assigned *assigned, struct xs_handle *xs, unsigned int domid);

/* pci_assigned_has - whether a doorbell page can be there. */
bool pci_assigned_has(const struct pci_assigned *assigned, uint64_t frame);

#endif
