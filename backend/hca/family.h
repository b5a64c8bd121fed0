/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * family.h - families of HCAs: those with one kernel driver and one programming interface.
 *
 * A family is a file that defines a struct hca_family, and a line of the table in family.c. An HCA's
 * family is found by the driver of its PCI function.
 */
#ifndef XEN_IB_HCA_FAMILY_H
#define XEN_IB_HCA_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

#include "hca/hca.h"

/* PCI functions of a vendor, by their device ids. */
struct hca_pci_ids {
	uint16_t vendor, first, last;
};

struct hca_family {
	const char *name;   /* for people: "mlx5" */
	const char *driver; /* of the PCI function, as sysfs has it: "mlx5_core" */

	/* What the driver takes, up to an entry of vendor 0. Doorbell pages of all of these are in BAR 0. */
	const struct hca_pci_ids *pci_ids;
	/* The first page of BAR 0 that can be one. In those before is what would give the HCA away. */
	uint32_t first_uar_page;

	/* As hca_open(): 0 or -errno. */
	int (*open)(const char *name, unsigned int port, uint32_t spread, struct hca **hca);
	/* As hca_uar_alloc(), hca_uar_free() and hca_uar_pool_alive(). */
	int (*uar_alloc)(int pool, uint32_t type, uint32_t *index, uint32_t *handle);
	int (*uar_free)(int pool, uint32_t handle);
	bool (*uar_pool_alive)(int pool);
};

/* Each is in the file of its name. */
extern const struct hca_family hca_family_mlx5;

/*
 * hca_family - the family of an RDMA device. NULL with *err: -EPROTONOSUPPORT: its driver is of none
 * that is known; or another -errno.
 */
const struct hca_family *hca_family(const char *name, int *err);

/* hca_family_of_pool - the family of an open uverbs device; NULL: the HCA is gone, or of none that is known. */
const struct hca_family *hca_family_of_pool(int pool);

/* hca_family_of_pci - the family whose driver takes a PCI function, or NULL. */
const struct hca_family *hca_family_of_pci(unsigned int vendor, unsigned int device);

/* Machine frames of an HCA's BAR 0: the one that is its page 0; of those where doorbell pages can be. */
struct hca_uar_frames {
	uint64_t base;
	uint64_t first, end;
};

/* hca_uar_frames - 0 or -errno. */
int hca_uar_frames(const struct hca_family *family, const char *name,
		   struct hca_uar_frames *frames);

#endif
