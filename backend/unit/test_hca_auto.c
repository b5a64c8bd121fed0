// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_hca_auto.c - "hca=auto", with a sysfs of the test's own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hca/dma_check.h"
#include "hca/family.h"
#include "supervisor/hca_auto.h"
#include "unit/fakes/fixture.h"

static char dir[] = "/tmp/xen-ib-auto-XXXXXX";

/* What is told of an HCA is in its name. */

const struct hca_family *hca_family(const char *name, int *err)
{
	static const struct hca_family family;

	*err = strstr(name, "gone") ? -ENOENT : strstr(name, "rxe") ? -EPROTONOSUPPORT : 0;
	return *err ? NULL : &family;
}

int dma_check(const char *ibdev, char *why, size_t size)
{
	snprintf(why, size, "not safe");
	return strstr(ibdev, "unsafe") ? -EPERM : 0;
}

static unsigned int load(void *from, const char *name)
{
	CHECK(from == dir);
	return name[strlen(name) - 1] - '0';
}

static void put(const char *format, const char *hca, unsigned int port, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, hca);
	mkdir(path, 0700);
	strcat(path, "/ports");
	mkdir(path, 0700);
	snprintf(path + strlen(path), 16, "/%u", port);
	mkdir(path, 0700);
	snprintf(path + strlen(path), 32, "/%s", format);
	file = fopen(path, "w");
	CHECK(file);
	fprintf(file, "%s\n", text);
	fclose(file);
}

static void hca(const char *name, unsigned int port, const char *layer, const char *state)
{
	put("link_layer", name, port, layer);
	put("state", name, port, state);
}

static bool is(unsigned int port, const char *want)
{
	char name[64];
	bool found = hca_auto(port, load, dir, name, sizeof(name));

	CHECK(found == !!*want);
	if (strcmp(name, want))
		fprintf(stderr, "port %u: %s, not %s\n", port, name, want);
	return !strcmp(name, want);
}

int main(void)
{
	char command[64];

	hca_auto_class = "/nonexistent";
	CHECK(is(1, ""));
	CHECK(mkdtemp(dir));
	hca_auto_class = dir;
	CHECK(is(1, ""));
	/* Those that cannot serve. */
	hca("rxe0", 1, "InfiniBand", "4: ACTIVE");
	hca("gone0", 1, "InfiniBand", "4: ACTIVE");
	hca("unsafe0", 1, "InfiniBand", "4: ACTIVE");
	hca("roce0", 1, "Ethernet", "4: ACTIVE");
	CHECK(is(1, ""));
	/* The one that can; then the one with less to do, then the first, then the one that works. */
	hca("ibp65s9", 1, "InfiniBand", "1: DOWN");
	CHECK(is(1, "ibp65s9") && is(2, ""));
	hca("ibp66s7", 1, "InfiniBand", "1: DOWN");
	CHECK(is(1, "ibp66s7"));
	hca("ibp64s7", 1, "InfiniBand", "1: DOWN");
	CHECK(is(1, "ibp64s7"));
	hca("ibp67s8", 1, "InfiniBand", "4: ACTIVE");
	CHECK(is(1, "ibp67s8"));
	hca("ibp65s9", 2, "InfiniBand", "2: INIT");
	CHECK(is(2, "ibp65s9") && is(1, "ibp67s8"));
	snprintf(command, sizeof(command), "rm -r %s", dir);
	CHECK(!system(command));
	return EXIT_SUCCESS;
}
