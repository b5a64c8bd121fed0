// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_attached.c - what domains have is read from xenstore as it was written there, and who may not
 * say it is not believed.
 */
#include <string.h>
#include <xenstore.h>

#include "unit/fakes/fake_store.h"
#include "unit/fakes/fixture.h"
#include "xen/attached.h"

#define UUID "4a2b2b3e-0c0f-4d0a-8e5e-0123456789ab"
#define VHCA "/local/domain/0/backend/vhca/5/"
#define DRIVER "/local/domain/3/backend/vhca/5/"

static struct xs_handle *xs;
static struct saved saved;

static void begin(void)
{
	store_clear();
	xs = xs_open(0);
	CHECK(xs);
	store_put("/local/domain/0/name", "Domain-0");
	store_put("/local/domain/3/name", "driver");
	store_put("/local/domain/5/name", "guest1");
	store_put("/local/domain/5/vm", "/vm/" UUID);
}

static void end(void)
{
	xs_close(xs);
	store_clear();
}

/* The vHCAs are these, in this order, up to NULL. */
static void check(const char *const *specs)
{
	unsigned int i;

	CHECK(attached_read(xs, 5, &saved) && !strcmp(saved.uuid, UUID));
	for (i = 0; specs[i]; i++) {
		if (i < saved.specs.n && !strcmp(saved.specs.spec[i], specs[i]))
			continue;
		fprintf(stderr, "'%s', not '%s'\n",
			i < saved.specs.n ? saved.specs.spec[i] : "none", specs[i]);
		abort();
	}
	CHECK(saved.specs.n == i);
	config_file_free(&saved.specs);
}

static void put(const char *dir, const char *devid, const char *key, const char *value)
{
	char path[STORE_PATH];

	snprintf(path, sizeof(path), "%s%s/%s", dir, devid, key);
	store_put(path, value);
}

static void test_all(void)
{
	static const char *const specs[] = {
		"hca=mlx5_0,port=1,devid=0,guid=02163e5a00c1f29b",
		"hca=auto,port=2,devid=3,pkeys=0+2,kernel=off,personality=mlx5,gid=port,"
		"max-qp=7,max-mr-bytes=67108864,sl=0,qp-rate=2.5G,ud=1",
		NULL
	};

	begin();
	put(VHCA, "0", "online", "1");
	put(VHCA, "0", "hca", "mlx5_0");
	put(VHCA, "0", "node-guid", "02163e5a00c1f29b");
	put(VHCA, "3", "online", "1");
	put(VHCA, "3", "hca", "mlx5_1");
	put(VHCA, "3", "hca-choice", "auto");
	put(VHCA, "3", "port", "2");
	put(VHCA, "3", "pkeys", "0+2");
	put(VHCA, "3", "kernel", "off");
	put(VHCA, "3", "personality", "mlx5");
	put(VHCA, "3", "gid", "port");
	put(VHCA, "3", "max-qp", "7");
	put(VHCA, "3", "max-mr-bytes", "67108864");
	put(VHCA, "3", "sl", "0");
	put(VHCA, "3", "qp-rate", "2.5G");
	put(VHCA, "3", "ud", "1");
	put(VHCA, "4", "online", "0"); /* it is being detached, or was refused */
	put(VHCA, "4", "hca", "mlx5_0");
	put(VHCA, "04", "online", "1");
	put(VHCA, "16", "online", "1");
	put(VHCA, "16", "hca", "mlx5_0");
	put(VHCA, "x", "online", "1");
	check(specs);
	CHECK(!strcmp(saved.name, "guest1"));
	end();
}

/* A driver domain that says it serves a guest is believed if the guest's directory says so, too. */
static void test_driver(void)
{
	static const char *const none[] = { NULL };
	static const char *const one[] = { "hca=auto,port=1,devid=7,backend=driver", NULL };
	static const char *const nameless[] = { "hca=auto,port=1,devid=7,backend=3", NULL };

	begin();
	put(DRIVER, "7", "online", "1");
	put(DRIVER, "7", "hca", "auto");
	check(none);
	store_put("/local/domain/5/device/vhca/7/backend", VHCA "7");
	check(none);
	store_put("/local/domain/5/device/vhca/7/backend", DRIVER "7");
	check(one);
	store_remove("/local/domain/3/name");
	check(nameless);
	/* What would be another spec than it is. */
	put(DRIVER, "7", "hca", "auto,max-qp=9");
	check(none);
	put(DRIVER, "7", "hca", "");
	check(none);
	put(DRIVER, "7", "hca", "auto");
	put(DRIVER, "7", "kernel", "perhaps");
	check(none);
	put(DRIVER, "7", "kernel", "on");
	put(DRIVER, "7", "personality", "mlx4");
	check(none);
	put(DRIVER, "7", "personality", "xenib");
	put(DRIVER, "7", "gid", "own");
	check(none);
	put(DRIVER, "7", "gid", "port");
	put(DRIVER, "7", "pkeys", "5-");
	check(none);
	put(DRIVER, "7", "pkeys", "5");
	put(DRIVER, "7", "node-guid", "5");
	check(none);
	put(DRIVER, "7", "node-guid", "0000000000000005");
	put(DRIVER, "7", "max-qp", "4294967296");
	check(none);
	put(DRIVER, "7", "max-qp", "7");
	put(DRIVER, "7", "sl", "16");
	check(none);
	end();
}

static void test_uuid(void)
{
	static const char *const wrong[] = { "", "/vm/", "/vm/../../etc/passwd", "/vm/" UUID "0",
					     UUID };
	unsigned int i;

	begin();
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		store_put("/local/domain/5/vm", wrong[i]);
		CHECK(!attached_read(xs, 5, &saved));
	}
	CHECK(!attached_read(xs, 6, &saved));
	end();
}

int main(void)
{
	test_all();
	test_driver();
	test_uuid();
	return EXIT_SUCCESS;
}
