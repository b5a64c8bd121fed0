// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_family.c - which family an HCA is of, and where its doorbell pages can be. sysfs tells what the
 * test wants.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "hca/family.h"
#include "hca/sysfs.h"
#include "unit/fakes/fixture.h"

#define FILE_OF_HCA 1000 /* descriptors that are none */
#define FILE_OF_NONE 1001

static const char *driver_name;
static int driver_err, bar_err;

static int tell_driver(char *driver, size_t size)
{
	snprintf(driver, size, "%s", driver_name);
	return driver_err;
}

int hca_sysfs_driver(const char *ibdev, char *driver, size_t size)
{
	CHECK(!strcmp(ibdev, "ibp1s0"));
	return tell_driver(driver, size);
}

int hca_sysfs_driver_of_file(int uverbs, char *driver, size_t size)
{
	CHECK(uverbs == FILE_OF_HCA || uverbs == FILE_OF_NONE);
	return uverbs == FILE_OF_HCA ? tell_driver(driver, size) : -ENOENT;
}

int hca_sysfs_bar0(const char *ibdev, uint64_t *address, uint64_t *bytes)
{
	CHECK(!strcmp(ibdev, "ibp1s0"));
	*address = 0xfe000000;
	*bytes = 0x40000;
	return bar_err;
}

/* Not asked here. */
int hca_sysfs_gid(const char *ibdev, unsigned int port, uint32_t index, uint8_t gid[16])
{
	(void)ibdev, (void)port, (void)index, (void)gid;
	abort();
}

int hca_sysfs_pkey(const char *ibdev, unsigned int port, uint32_t index, uint16_t *pkey)
{
	(void)ibdev, (void)port, (void)index, (void)pkey;
	abort();
}

static const struct hca_family *family(const char *driver, int *err)
{
	driver_name = driver;
	return hca_family("ibp1s0", err);
}

static void test_drivers(void)
{
	int err;

	CHECK(family("mlx5_core", &err) == &hca_family_mlx5 && !err &&
	      !strcmp(hca_family_mlx5.name, "mlx5"));
	CHECK(hca_family_of_pool(FILE_OF_HCA) == &hca_family_mlx5 &&
	      !hca_family_of_pool(FILE_OF_NONE));
	CHECK(!family("mlx5_cor", &err) && err == -EPROTONOSUPPORT && !family("mlx5_core2", &err));
	CHECK(!family("", &err) && err == -EPROTONOSUPPORT && !hca_family_of_pool(FILE_OF_HCA));
	CHECK(!hca_open("ibp1s0", 1, 0));
	driver_err = -ENOENT;
	CHECK(!family("mlx5_core", &err) && err == -ENOENT && !hca_family_of_pool(FILE_OF_HCA));
	CHECK(!hca_open("ibp1s0", 1, 0));
	driver_err = 0;
}

/* An HCA that is gone has no UARs. */
static void test_gone(void)
{
	uint32_t index, handle;

	driver_name = "mlx5_core";
	CHECK(hca_uar_alloc(FILE_OF_NONE, XEN_VHCA_UAR_NC, &index, &handle) == -ENODEV);
	CHECK(hca_uar_free(FILE_OF_NONE, 1) == -ENODEV && !hca_uar_pool_alive(FILE_OF_NONE));
	/* These come as far as the kernel. */
	CHECK(hca_uar_alloc(FILE_OF_HCA, XEN_VHCA_UAR_NC, &index, &handle) == -EBADF);
	CHECK(hca_uar_free(FILE_OF_HCA, 1) == -EBADF && !hca_uar_pool_alive(FILE_OF_HCA));
}

static void test_frames(void)
{
	struct hca_uar_frames frames;

	CHECK(!hca_uar_frames(&hca_family_mlx5, "ibp1s0", &frames));
	CHECK(frames.base == 0xfe000 && frames.first == 0xfe005 && frames.end == 0xfe040);
	bar_err = -ENODEV;
	CHECK(hca_uar_frames(&hca_family_mlx5, "ibp1s0", &frames) == -ENODEV);
}

/* More of these: test_pci_assigned.c. */
static void test_pci(void)
{
	CHECK(hca_family_of_pci(0x15b3, 0x1011) == &hca_family_mlx5 &&
	      hca_family_of_pci(0x15b3, 0xa2ff));
	CHECK(!hca_family_of_pci(0x15b3, 0x1010) && !hca_family_of_pci(0x8086, 0x1011) &&
	      !hca_family_of_pci(0, 0));
}

int main(void)
{
	log_setup("test", 0);
	test_drivers();
	test_gone();
	test_frames();
	test_pci();
	return EXIT_SUCCESS;
}
