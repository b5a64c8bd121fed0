// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * dma_check.c - see dma_check.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "hca/dma_check.h"
#include "hca/sysfs.h"

#define GUEST_TYPE "/sys/hypervisor/guest_type"
#define COVERED "/sys/module/xen_ibdma/parameters/devices"

bool dma_domain_is_pv(void)
{
	char type[16] = "";
	FILE *file = fopen(GUEST_TYPE, "re");

	if (!file)
		return true;
	if (!fgets(type, sizeof(type), file))
		type[0] = 0;
	fclose(file);
	return strcmp(type, "PVH\n") && strcmp(type, "HVM\n");
}

/* The module lists the functions whose segments are limited now, one in a line. */
static bool is_covered(const char *pci_name)
{
	FILE *file = fopen(COVERED, "re");
	bool covered = false;
	char line[64];

	if (!file)
		return false;
	while (!covered && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = 0;
		covered = !strcmp(line, pci_name);
	}
	fclose(file);
	return covered;
}

int dma_check(const char *ibdev, char *why, size_t size)
{
	char pci_name[64];
	int err;

	if (!dma_domain_is_pv())
		return 0;
	err = hca_sysfs_pci_name(ibdev, pci_name, sizeof(pci_name));
	if (err) {
		snprintf(why, size, "HCA %s: %s", ibdev, strerror(-err));
		return err;
	}
	if (is_covered(pci_name))
		return 0;
	snprintf(why, size,
		 "HCA %s (%s) would corrupt guest memory: this is a PV dom0, and the module "
		 "xen-ibdma is not loaded or does not cover it (modprobe xen-ibdma)",
		 ibdev, pci_name);
	return -EPERM;
}
