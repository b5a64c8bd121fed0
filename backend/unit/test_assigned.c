// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_assigned.c - which I/O memory a domain has been given: no more than whole pages of the BARs of
 * its own functions, whatever stands in xenstore and sysfs. Both are the test's.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assigned.h"
#include "fake_store.h"
#include "log.h"
#include "rig.h"

#define PCI "/local/domain/0/backend/pci/3"
#define MEM " 0x0000000000040200\n"
#define MEM64 " 0x0000000000140204\n"
#define NO_BAR "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"

static char dir[] = "/tmp/xen-ib-assigned-XXXXXX";
static char sysfs[64];
static struct assigned assigned;

static void function_dir(char path[128], const char *function)
{
	snprintf(path, 128, "%s/%s", sysfs, function);
}

/* A function of this machine, or no more of it; text NULL: without such a file. */
static void put_function(const char *function, const char *text)
{
	char path[128];
	FILE *file;

	function_dir(path, function);
	CHECK(!mkdir(path, 0700));
	strcat(path, "/resource");
	file = text ? fopen(path, "w") : NULL;
	CHECK(!text || (file && fputs(text, file) >= 0 && !fclose(file)));
}

static void remove_function(const char *function)
{
	char path[128];

	function_dir(path, function);
	strcat(path, "/resource");
	unlink(path);
	function_dir(path, function);
	CHECK(!rmdir(path));
}

/* How many ranges there are. */
static unsigned int look(void)
{
	memset(&assigned, 0xff, sizeof(assigned));
	assigned_read(&assigned, NULL, 3);
	CHECK(assigned.n <= ASSIGNED_RANGES);
	return assigned.n;
}

static bool is_range(unsigned int n, uint64_t first, uint64_t last)
{
	return n < assigned.n && assigned.range[n].first == first && assigned.range[n].last == last &&
	       assigned_has(&assigned, first) && assigned_has(&assigned, last);
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

static void test_bars(void)
{
	/* 32 bits, 64 bits in the next, I/O ports, and an expansion ROM that is no BAR */
	CHECK(look_at("0x00000000fe000000 0x00000000fe001fff" MEM
		      "0x0000382000000000 0x0000382001ffffff" MEM64 NO_BAR
		      "0x000000000000c000 0x000000000000cfff 0x0000000000040101\n" NO_BAR NO_BAR
		      "0x00000000fd000000 0x00000000fd0fffff" MEM) == 2);
	CHECK(is_range(0, 0xfe000, 0xfe001) && is_range(1, 0x382000000, 0x382001fff));
	CHECK(!assigned_has(&assigned, 0xfdfff) && !assigned_has(&assigned, 0xfe002));
	CHECK(!assigned_has(&assigned, 0x381ffffff) && !assigned_has(&assigned, 0x382002000));
	CHECK(!assigned_has(&assigned, 0) && !assigned_has(&assigned, UINT64_MAX) && !assigned_has(&assigned, 0xc));
	CHECK(look_at("0x00000000fe000000 0x00000000fe000fff" MEM) == 1 && is_range(0, 0xfe000, 0xfe000));
	/* All six, and the last line without its end */
	CHECK(look_at("0x1000 0x1fff 0x200\n0x3000 0x3fff 0x200\n0x5000 0x5fff 0x200\n0x7000 0x7fff 0x200\n"
		      "0x9000 0x9fff 0x200\n0xb000 0xbfff 0x200") == 6 && is_range(0, 1, 1) && is_range(5, 11, 11));
}

/* Such pages have something else in them, or nothing that is known. */
static void test_no_bars(void)
{
	static const char *const texts[] = {
		NO_BAR, "", "\n", "x\n", "0x00000000fe000000 0x00000000fe001fff\n", NULL,
		"0x00000000fe000800 0x00000000fe000fff" MEM, "0x00000000fe000000 0x00000000fe0007ff" MEM,
		"0x00000000fe000000 0x00000000fe0017ff" MEM, "0x00000000fe000100 0x00000000fe0010ff" MEM,
		"0x0000000000000000 0x0000000000001fff" MEM, "0x00000000fe001000 0x00000000fe000fff" MEM,
		"0x00000000fe001000 0x00000000fdffffff" MEM, "0x00000000fe000000 0x00000000fe000fff 0x40101\n",
		"0x00000000fe000000 0x00000000fe000fff 0x40301\n", "0x00000000fe000000 0x00000000fe000fff 0\n",
	};
	unsigned int i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		CHECK(!look_at(texts[i]));
		CHECK(!assigned_has(&assigned, 0xfe000) && !assigned_has(&assigned, 0));
	}
	CHECK(look_at("x\n0x00000000fe000000 0x00000000fe000fff" MEM) == 1 && is_range(0, 0xfe000, 0xfe000));
}

static void function_name(char name[32], unsigned int function)
{
	snprintf(name, 32, "0000:01:%02x.%u", function >> 3, function & 7);
}

/* A BAR of one page, that says which function it is. */
static void put_numbered(unsigned int function)
{
	char name[32], text[80];

	function_name(name, function);
	snprintf(text, sizeof(text), "0x%x000 0x%xfff 0x200\n", function + 1, function + 1);
	put_function(name, text);
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
	CHECK(look() == 2 && is_range(0, 1, 1) && is_range(1, 2, 2) && !assigned_has(&assigned, 3));
	store_put(PCI "/1/num_devs", "1"); /* a second bus */
	store_put(PCI "/1/dev-0", "0000:01:00.2");
	CHECK(look() == 3 && is_range(2, 3, 3) && !assigned_has(&assigned, 4));
	store_remove(PCI "/0/dev-0");
	CHECK(look() == 2 && !assigned_has(&assigned, 1) && is_range(0, 2, 2));
	remove_numbered(1);
	CHECK(look() == 1 && is_range(0, 3, 3)); /* this one has no such function any more */
	store_put(PCI "/0/num_devs", "33");
	CHECK(look() == 1);
	store_put(PCI "/0/num_devs", "-1");
	CHECK(look() == 1);
	store_put(PCI "/0/num_devs", "");
	CHECK(look() == 1);
	store_faults.read = EIO;
	CHECK(!look() && !assigned_has(&assigned, 3));
	remove_numbered(0);
	remove_numbered(2);
	remove_numbered(3);
}

/* None of these leads anywhere, whatever lies there: ".." of the sysfs has such a file, and two other folders. */
static void test_names(void)
{
	static const char *const names[] = {
		"../../etc", "..", ".", "", "/", "function", "./function", "../sysfs/function", "0000:01:00.0/",
		"0000:01:00.0/..", "0000:01:00.", "0000:01:00", "0000:01:00.00", "000:01:00.0", "0000:01:0.00",
		"0000:01:00.0 ", "0000:01:00.8x", "10000:01:00.0", "0000-01-00.0", "0000:01:00/0", "00:01:0/../",
		"0000:01:00.0\n", "0:1:0.0",
	};
	static const char text[] = "0x00000000fe000000 0x00000000fe000fff" MEM;
	char path[128];
	unsigned int i;
	FILE *file;

	store_clear();
	put_function("function", text);
	put_function("0:1:0.0", text);
	put_function("0000:01:00.0", text);
	snprintf(path, sizeof(path), "%s/resource", dir);
	file = fopen(path, "w");
	CHECK(file && fputs(text, file) >= 0 && !fclose(file));
	store_put(PCI "/0/num_devs", "1");
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		store_put(PCI "/0/dev-0", names[i]);
		CHECK(!look());
	}
	store_put_bytes(PCI "/0/dev-0", "0000:01:00.0", sizeof("0000:01:00.0"));
	CHECK(!look());
	store_put(PCI "/0/dev-0", "0000:01:00.0");
	CHECK(look() == 1);
	CHECK(!unlink(path));
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
	CHECK(look() == ASSIGNED_RANGES && is_range(0, 1, 1) && is_range(63, 64, 64) && !assigned_has(&assigned, 65));
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
	assigned_sysfs = sysfs;
	test_bars();
	test_no_bars();
	test_functions();
	test_names();
	test_many();
	CHECK(!rmdir(sysfs) && !rmdir(dir));
	return EXIT_SUCCESS;
}
