// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * family.c - see family.h, and what of hca.h is the same for all families.
 */
#include <errno.h>
#include <string.h>

#include "hca/family.h"
#include "hca/sysfs.h"
#include "hca/uverbs.h"
#include "util/log.h"

#define PAGE_BYTES 4096u

static const struct hca_family *const families[] = {
	&hca_family_mlx5,
};

#define FAMILIES (sizeof(families) / sizeof(families[0]))

static const struct hca_family *find(const char *driver)
{
	unsigned int i;

	for (i = 0; i < FAMILIES; i++)
		if (!strcmp(families[i]->driver, driver))
			return families[i];
	return NULL;
}

const struct hca_family *hca_family(const char *name, int *err)
{
	const struct hca_family *family = NULL;
	char driver[64];

	*err = hca_sysfs_driver(name, driver, sizeof(driver));
	if (*err)
		return NULL;
	family = find(driver);
	if (!family)
		*err = -EPROTONOSUPPORT;
	return family;
}

const struct hca_family *hca_family_of_pool(int pool)
{
	char driver[64];

	return hca_sysfs_driver_of_file(pool, driver, sizeof(driver)) ? NULL : find(driver);
}

static bool has_id(const struct hca_family *family, unsigned int vendor, unsigned int device)
{
	const struct hca_pci_ids *ids;

	for (ids = family->pci_ids; ids->vendor; ids++)
		if (ids->vendor == vendor && device >= ids->first && device <= ids->last)
			return true;
	return false;
}

const struct hca_family *hca_family_of_pci(unsigned int vendor, unsigned int device)
{
	unsigned int i;

	for (i = 0; i < FAMILIES; i++)
		if (has_id(families[i], vendor, device))
			return families[i];
	return NULL;
}

int hca_uar_frames(const struct hca_family *family, const char *name, struct hca_uar_frames *frames)
{
	uint64_t bar0, bytes;
	int err;

	err = hca_sysfs_bar0(name, &bar0, &bytes);
	if (err)
		return err;
	frames->base = bar0 / PAGE_BYTES;
	frames->first = frames->base + family->first_uar_page;
	frames->end = (bar0 + bytes) / PAGE_BYTES;
	return 0;
}

struct hca *hca_open(const char *name, unsigned int port, uint32_t spread)
{
	const struct hca_family *family;
	struct hca *hca = NULL;
	int err;

	family = hca_family(name, &err);
	if (family)
		err = family->open(name, port, spread, &hca);
	if (!err)
		return hca;
	log_error("HCA %s: %s", name,
		  err == -EPROTONOSUPPORT ? "its driver is not supported" : strerror(-err));
	return NULL;
}

int hca_uar_pool_open(const char *name)
{
	return uverbs_open(name);
}

int hca_uar_alloc(int pool, uint32_t type, uint32_t *index, uint32_t *handle)
{
	const struct hca_family *family = hca_family_of_pool(pool);

	return family ? family->uar_alloc(pool, type, index, handle) : -ENODEV;
}

int hca_uar_free(int pool, uint32_t handle)
{
	const struct hca_family *family = hca_family_of_pool(pool);

	return family ? family->uar_free(pool, handle) : -ENODEV;
}

bool hca_uar_pool_alive(int pool)
{
	const struct hca_family *family = hca_family_of_pool(pool);

	return family && family->uar_pool_alive(pool);
}
