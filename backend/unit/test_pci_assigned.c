// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_pci_assigned.c - which I/O memory of a domain can be doorbell pages: no more than whole pages of
 * BAR 0 of its own mlx5 functions, and not the first of these, whatever stands in xenstore and sysfs.
 * Both are the test's.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/fakes/fake_store.h"
#include "unit/fakes/fixture.h"
#include "util/log.h"
#include "xen/pci_assigned.h"

#define PCI "/local/domain/0/backend/pci/3"
#define MEM " 0x0000000000040200\n"
#define MEM64 " 0x0000000000140204\n"
#define NO_BAR "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"

static char dir[] = "/tmp/xen-ib-assigned-XXXXXX";
static char sysfs[64];
static struct pci_assigned assigned;

static void function_dir(char path[128], const char *function)
{
	snprintf(path, 128, "%s/%s", sysfs, function);
}

static const char *const attributes[] = { "resource", "vendor", "device" };
#define ATTRIBUTES 3

/* Which device all are, unless it is said. NULL: there is no such file. */
static const char *vendor = "0x15b3\n", *device = "0x1017\n";

/* The files of a function, or no more of them; text NULL: without that one. */
static void put_files(const char *folder, const char *text)
{
	const char *const texts[ATTRIBUTES] = { text, vendor, device };
	char path[160];
	unsigned int i;
	FILE *file;

	for (i = 0; i < ATTRIBUTES; i++) {
		if (!texts[i])
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, attributes[i]);
		file = fopen(path, "w");
		CHECK(file && fputs(texts[i], file) >= 0 && !fclose(file));
	}
}

static void remove_files(const char *folder)
{
	char path[160];
	unsigned int i;

	for (i = 0; i < ATTRIBUTES; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, attributes[i]);
		unlink(path);
	}
}

/* A function of this machine, or not any more. */
static void put_function(const char *function, const char *text)
{
	char path[128];

	function_dir(path, function);
	CHECK(!mkdir(path, 0700));
	put_files(path, text);
}

static void remove_function(const char *function)
{
	char path[128];

	function_dir(path, function);
	remove_files(path);
	CHECK(!rmdir(path));
}

/* How many ranges there are. */
static unsigned int look(void)
{
	memset(&assigned, 0xff, sizeof(assigned));
	pci_assigned_read(&assigned, NULL, 3);
	CHECK(assigned.n <= PCI_ASSIGNED_RANGES);
	return assigned.n;
}

static bool is_range(unsigned int n, uint64_t first, uint64_t last)
{
	return n < assigned.n && assigned.range[n].first == first &&
	       assigned.range[n].last == last && pci_assigned_has(&assigned, first) &&
	       pci_assigned_has(&assigned, last);
}

/* One function that has these resources. */
static unsigned int look_at(const char *text)
{
	unsigned int n;

	store_clear();
	store_put(PCI "/0/num_devs", "1");
	store_put(PCI "/0/dev-0", "0000:01:00.0");
	put_function("0000:01:00.0", text);
	n = look();
	remove_function("0000:01:00.0");
	return n;
}

static void test_bar0(void)
{
	/* 64 bits, 32 bits. What else it has are no doorbell pages, nor is the beginning. */
	CHECK(look_at("0x0000382000000000 0x0000382001ffffff" MEM64 NO_BAR
		      "0x00000000fe000000 0x00000000fe00ffff" MEM) == 1 &&
	      is_range(0, 0x382000005, 0x382001fff));
	CHECK(!pci_assigned_has(&assigned, 0x381ffffff) &&
	      !pci_assigned_has(&assigned, 0x382002000));
	CHECK(!pci_assigned_has(&assigned, 0x382000000) &&
	      !pci_assigned_has(&assigned, 0x382000004));
	CHECK(!pci_assigned_has(&assigned, 0xfe000) && !pci_assigned_has(&assigned, 0xfe00a));
	CHECK(!pci_assigned_has(&assigned, 0) && !pci_assigned_has(&assigned, UINT64_MAX));
	CHECK(look_at("0x00000000fe000000 0x00000000fe005fff" MEM) == 1 &&
	      is_range(0, 0xfe005, 0xfe005));
	CHECK(look_at("0xfe000000 0xfe005fff 0x200") == 1 &&
	      is_range(0, 0xfe005, 0xfe005)); /* without an end */
}

/* Such pages have something else in them, or nothing that is known. */
static void test_no_bar0(void)
{
	static const char *const texts[] = {
		NO_BAR,
		"",
		"\n",
		"x\n",
		"0x00000000fe000000 0x00000000fe00ffff\n",
		NULL,
		"0x00000000fe000800 0x00000000fe00ffff" MEM,
		"0x00000000fe000000 0x00000000fe0007ff" MEM,
		"0x00000000fe000000 0x00000000fe00f7ff" MEM,
		"0x00000000fe000100 0x00000000fe0100ff" MEM,
		"0x0000000000000000 0x000000000000ffff" MEM,
		"0x00000000fe010000 0x00000000fe00ffff" MEM,
		"0x00000000fe001000 0x00000000fdffffff" MEM,
		"0x00000000fe000000 0x00000000fe00ffff 0x40101\n",
		"0x00000000fe000000 0x00000000fe00ffff 0x40301\n",
		"0x00000000fe000000 0x00000000fe00ffff 0\n",
		"0x00000000fe000000 0x00000000fe000fff" MEM,
		"0x00000000fe000000 0x00000000fe004fff" MEM,
		"x\n0x00000000fe000000 0x00000000fe00ffff" MEM,
		NO_BAR "0x00000000fe000000 0x00000000fe00ffff" MEM,
	};
	unsigned int i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		CHECK(!look_at(texts[i]));
		CHECK(!pci_assigned_has(&assigned, 0xfe000) &&
		      !pci_assigned_has(&assigned, 0xfe005) && !pci_assigned_has(&assigned, 0));
	}
}

/* Devices with another BAR 0 than that of an mlx5 HCA. */
static void test_devices(void)
{
	static const struct {
		const char *vendor, *device;
		bool is_mlx5;
	} devices[] = {
		{ "0x15b3\n", "0x1011\n", true },  { "0x15b3\n", "0x1018\n", true },
		{ "0x15b3\n", "0xa2d6\n", true },  { "0x15b3\n", "0x1003\n", false },
		{ "0x15b3\n", "0x1010\n", false }, { "0x15b3\n", "0xcb84\n", false },
		{ "0x15b3\n", "0xa2d1\n", false }, { "0x15b3\n", "0x1100\n", false },
		{ "0x15b3\n", "0xc2d2\n", false }, { "0x8086\n", "0x1017\n", false },
		{ "0x15b3\n", "", false },         { "", "0x1017\n", false },
		{ "0x15b3\n", NULL, false },       { NULL, "0x1017\n", false },
		{ "x\n", "0x1017\n", false },
	};
	unsigned int i;

	for (i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		vendor = devices[i].vendor;
		device = devices[i].device;
		CHECK(look_at("0x00000000fe000000 0x00000000fe00ffff" MEM) == devices[i].is_mlx5);
		CHECK(pci_assigned_has(&assigned, 0xfe005) == devices[i].is_mlx5);
	}
	vendor = "0x15b3\n";
	device = "0x1017\n";
}

static void function_name(char name[32], unsigned int function)
{
	snprintf(name, 32, "0000:01:%02x.%u", function >> 3, function & 7);
}

/* A BAR that has one doorbell page, which says which function it is. */
#define PAGE_OF(function) (6 + (function))

static void put_numbered(unsigned int function)
{
	char name[32], text[80];

	function_name(name, function);
	snprintf(text, sizeof(text), "0x%x000 0x%xfff 0x200\n", PAGE_OF(function) - 5,
		 PAGE_OF(function));
	put_function(name, text);
}

/* Range n is that page, and it is assigned. */
static bool is_of(unsigned int n, unsigned int function)
{
	return is_range(n, PAGE_OF(function), PAGE_OF(function));
}

static bool has_of(unsigned int function)
{
	return pci_assigned_has(&assigned, PAGE_OF(function));
}

static void remove_numbered(unsigned int function)
{
	char name[32];

	function_name(name, function);
	remove_function(name);
}

static void test_functions(void)
{
	unsigned int i;

	store_clear();
	CHECK(!look());
	for (i = 0; i < 4; i++)
		put_numbered(i);
	store_put("/local/domain/0/backend/pci/4/0/num_devs", "1"); /* another domain's */
	store_put("/local/domain/0/backend/pci/4/0/dev-0", "0000:01:00.3");
	store_put("/local/domain/0/backend/pci/33/0/num_devs", "1");
	store_put("/local/domain/0/backend/pci/33/0/dev-0", "0000:01:00.3");
	CHECK(!look());
	store_put(PCI "/0/num_devs", "2");
	store_put(PCI "/0/dev-0", "0000:01:00.0");
	store_put(PCI "/0/dev-1", "0000:01:00.1");
	store_put(PCI "/0/dev-2", "0000:01:00.2"); /* was there before */
	store_put(PCI "/x/num_devs", "1");
	store_put(PCI "/x/dev-0", "0000:01:00.2");
	CHECK(look() == 2 && is_of(0, 0) && is_of(1, 1) && !has_of(2));
	store_put(PCI "/1/num_devs", "1"); /* a second bus */
	store_put(PCI "/1/dev-0", "0000:01:00.2");
	CHECK(look() == 3 && is_of(2, 2) && !has_of(3));
	store_remove(PCI "/0/dev-0");
	CHECK(look() == 2 && !has_of(0) && is_of(0, 1));
	remove_numbered(1);
	CHECK(look() == 1 && is_of(0, 2)); /* this one has no such function any more */
	store_put(PCI "/0/num_devs", "33");
	CHECK(look() == 1);
	store_put(PCI "/0/num_devs", "-1");
	CHECK(look() == 1);
	store_put(PCI "/0/num_devs", "");
	CHECK(look() == 1);
	store_faults.read = EIO;
	CHECK(!look() && !has_of(2));
	remove_numbered(0);
	remove_numbered(2);
	remove_numbered(3);
}

/* None of these leads anywhere, whatever lies there: ".." of the sysfs has such a file, and two other folders. */
static void test_names(void)
{
	static const char *const names[] = {
		"../../etc",
		"..",
		".",
		"",
		"/",
		"function",
		"./function",
		"../sysfs/function",
		"0000:01:00.0/",
		"0000:01:00.0/..",
		"0000:01:00.",
		"0000:01:00",
		"0000:01:00.00",
		"000:01:00.0",
		"0000:01:0.00",
		"0000:01:00.0 ",
		"0000:01:00.8x",
		"10000:01:00.0",
		"0000-01-00.0",
		"0000:01:00/0",
		"00:01:0/../",
		"0000:01:00.0\n",
		"0:1:0.0",
	};
	static const char text[] = "0x00000000fe000000 0x00000000fe00ffff" MEM;
	unsigned int i;

	store_clear();
	put_function("function", text);
	put_function("0:1:0.0", text);
	put_function("0000:01:00.0", text);
	put_files(dir, text);
	store_put(PCI "/0/num_devs", "1");
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		store_put(PCI "/0/dev-0", names[i]);
		CHECK(!look());
	}
	store_put_bytes(PCI "/0/dev-0", "0000:01:00.0", sizeof("0000:01:00.0"));
	CHECK(!look());
	store_put(PCI "/0/dev-0", "0000:01:00.0");
	CHECK(look() == 1);
	remove_files(dir);
	remove_function("function");
	remove_function("0:1:0.0");
	remove_function("0000:01:00.0");
}

/* As many as there may be, and more. */
static void test_many(void)
{
	unsigned int bus, i;
	char path[64], name[32];

	store_clear();
	for (i = 0; i < 96; i++)
		put_numbered(i);
	for (bus = 0; bus < 3; bus++) {
		snprintf(path, sizeof(path), PCI "/%u/num_devs", bus);
		store_put(path, "32");
		for (i = 0; i < 32; i++) {
			snprintf(path, sizeof(path), PCI "/%u/dev-%u", bus, i);
			function_name(name, bus * 32 + i);
			store_put(path, name);
		}
	}
	CHECK(look() == PCI_ASSIGNED_RANGES && is_of(0, 0) && is_of(63, 63) && !has_of(64));
	for (i = 0; i < 96; i++)
		remove_numbered(i);
	CHECK(!look());
}

int main(void)
{
	log_setup("test", 0);
	CHECK(mkdtemp(dir));
	snprintf(sysfs, sizeof(sysfs), "%s/sysfs", dir);
	CHECK(!mkdir(sysfs, 0700));
	pci_assigned_sysfs = sysfs;
	test_bar0();
	test_no_bar0();
	test_devices();
	test_functions();
	test_names();
	test_many();
	CHECK(!rmdir(sysfs) && !rmdir(dir));
	return EXIT_SUCCESS;
}
