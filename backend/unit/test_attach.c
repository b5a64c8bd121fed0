// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_attach.c - the nodes of vHCAs: made as a whole or not at all, with the right owners, and
 * without a look at what the guest wrote. Xenstore is a table here; this machine has no HCA.
 */
#include <errno.h>
#include <string.h>

#include "config/guid.h"
#include "unit/fakes/fixture.h"
#include "util/log.h"
#include "xen/attach.h"
#include "xen/xenbus.h"

#define NODES 256

/* Xenstore. A transaction is a copy that replaces the original at its end. */

struct store {
	unsigned int n;
	struct node {
		char path[128], value[256];
		unsigned int owner, reader; /* 0, 0: inherited */
	} node[NODES];
};

static struct store now, copy;
static bool in_transaction, broken;
static unsigned int conflicts, transactions;
static char why[256];

static struct store *store(xs_transaction_t t)
{
	CHECK(in_transaction == (t != XBT_NULL));
	return t == XBT_NULL ? &now : &copy;
}

static struct node *find(struct store *s, const char *path)
{
	unsigned int i;

	for (i = 0; i < s->n; i++)
		if (!strcmp(s->node[i].path, path))
			return &s->node[i];
	return NULL;
}

xs_transaction_t xs_transaction_start(struct xs_handle *xs)
{
	(void)xs;
	CHECK(!in_transaction);
	copy = now;
	in_transaction = true;
	transactions++;
	return 1;
}

bool xs_transaction_end(struct xs_handle *xs, xs_transaction_t t, bool drop)
{
	(void)xs;
	CHECK(in_transaction && t == 1);
	in_transaction = false;
	if (drop)
		return true;
	if (conflicts) {
		conflicts--;
		errno = EAGAIN;
		return false;
	}
	now = copy;
	return true;
}

/* Makes what lies above as well, as xenstored does. */
static struct node *make(struct store *s, const char *path)
{
	struct node *node = find(s, path);
	char above[128], *slash;

	if (node)
		return node;
	snprintf(above, sizeof(above), "%s", path);
	slash = strrchr(above, '/');
	*slash = 0;
	if (slash > above)
		make(s, above);
	CHECK(s->n < NODES);
	node = &s->node[s->n++];
	memset(node, 0, sizeof(*node));
	snprintf(node->path, sizeof(node->path), "%s", path);
	return node;
}

bool xs_write(struct xs_handle *xs, xs_transaction_t t, const char *path, const void *data,
	      unsigned int len)
{
	struct node *node;

	(void)xs;
	if (broken) {
		errno = ENOSPC;
		return false;
	}
	node = make(store(t), path);
	CHECK(len < sizeof(node->value));
	memcpy(node->value, data, len);
	node->value[len] = 0;
	return true;
}

void *xs_read(struct xs_handle *xs, xs_transaction_t t, const char *path, unsigned int *len)
{
	struct node *node = find(store(t), path);

	(void)xs;
	if (!node)
		return NULL;
	if (len)
		*len = strlen(node->value);
	return strdup(node->value);
}

bool xs_set_permissions(struct xs_handle *xs, xs_transaction_t t, const char *path,
			struct xs_permissions *perms, unsigned int n)
{
	struct node *node = find(store(t), path);

	(void)xs;
	CHECK(node && n == 2 && perms[0].perms == XS_PERM_NONE && perms[1].perms == XS_PERM_READ);
	node->owner = perms[0].id;
	node->reader = perms[1].id;
	return true;
}

bool xs_rm(struct xs_handle *xs, xs_transaction_t t, const char *path)
{
	struct store *s = store(t);
	size_t length = strlen(path);
	unsigned int i, kept = 0;

	(void)xs;
	for (i = 0; i < s->n; i++)
		if (strncmp(s->node[i].path, path, length) ||
		    (s->node[i].path[length] && s->node[i].path[length] != '/'))
			s->node[kept++] = s->node[i];
	s->n = kept;
	return true;
}

/* As the library does it: names behind the pointers to them. */
char **xs_directory(struct xs_handle *xs, xs_transaction_t t, const char *path, unsigned int *n)
{
	struct store *s = store(t);
	size_t length = strlen(path);
	char **names = calloc(NODES + 64, sizeof(char *)), *text = (char *)(names + NODES);
	unsigned int i;

	(void)xs;
	*n = 0;
	for (i = 0; i < s->n; i++) {
		const char *at = s->node[i].path;

		if (strncmp(at, path, length) || at[length] != '/' || strchr(at + length + 1, '/'))
			continue;
		names[(*n)++] = strcpy(text, at + length + 1);
		text += strlen(text) + 1;
	}
	return names;
}

bool xs_is_domain_introduced(struct xs_handle *xs, unsigned int domid)
{
	char path[64];

	(void)xs;
	snprintf(path, sizeof(path), "/local/domain/%u/name", domid);
	return find(&now, path);
}

char **xs_check_watch(struct xs_handle *xs)
{
	(void)xs;
	return NULL;
}

/* Looking at it */

static bool is(const char *path, const char *value)
{
	struct node *node = find(&now, path);

	return node && !strcmp(node->value, value);
}

static bool owned(const char *path, unsigned int owner, unsigned int reader)
{
	struct node *node = find(&now, path);

	return node && node->owner == owner && node->reader == reader;
}

#define BACK "/local/domain/3/backend/vhca/5"
#define OWN "/local/domain/0/backend/vhca/5"
#define FRONT "/local/domain/5/device/vhca"

static void begin(void)
{
	memset(&now, 0, sizeof(now));
	strcpy(make(&now, "/local/domain/0/name")->value, "Domain-0");
	strcpy(make(&now, "/local/domain/3/name")->value, "driver");
	strcpy(make(&now, "/local/domain/5/name")->value, "guest1");
	conflicts = transactions = 0;
	broken = false;
}

static int attach(const char *spec, unsigned int *devid)
{
	struct vhca_config config;

	CHECK(!config_parse_spec(spec, &config, why, sizeof(why)));
	return attach_vhca(NULL, 0, 5, &config, devid, why, sizeof(why));
}

static void test_nodes(void)
{
	unsigned int devid = 99;

	begin();
	conflicts = 2;
	CHECK(!attach("hca=mlx5_9,backend=driver,max-qp=256,max-mr-bytes=2G", &devid) && !devid);
	CHECK(transactions == 3);
	CHECK(owned(BACK "/0", 3, 5) && owned(FRONT "/0", 5, 3));
	CHECK(is(BACK "/0/frontend", FRONT "/0") && is(BACK "/0/frontend-id", "5") &&
	      is(BACK "/0/online", "1") && is(BACK "/0/state", "1") &&
	      is(BACK "/0/hca", "mlx5_9") && is(BACK "/0/port", "1") &&
	      is(BACK "/0/max-qp", "256") && is(BACK "/0/max-mr-bytes", "2147483648") &&
	      !find(&now, BACK "/0/max-cq"));
	CHECK(is(FRONT "/0/backend", BACK "/0") && is(FRONT "/0/backend-id", "3") &&
	      is(FRONT "/0/state", "1"));
	CHECK(!attach("hca=mlx5_9,backend=3", &devid) && devid == 1);
}

/* The same for the same domain when it is made again, and another for each vHCA; or the one that was chosen. */
static void test_guids(void)
{
	char first[GUID_TEXT], text[GUID_TEXT];
	unsigned int devid;

	begin();
	strcpy(make(&now, "/local/domain/5/vm")->value, "/vm/4a2b2b3e-0c0f-4d0a-8e5e-0123456789ab");
	CHECK(!attach("hca=a,backend=driver", &devid) && !attach("hca=a,backend=driver", &devid));
	strcpy(first, find(&now, BACK "/0/node-guid")->value);
	guid_format(text, guid_make("4a2b2b3e-0c0f-4d0a-8e5e-0123456789ab", 0));
	CHECK(!strcmp(first, text) && !is(BACK "/1/node-guid", first));
	CHECK(attach_remove(NULL, 3, 5, 0) && !attach("hca=a,backend=driver", &devid));
	CHECK(is(BACK "/0/node-guid", first));
	CHECK(!attach("hca=a,backend=driver,guid=0216:3E00:00ab:cdef", &devid) && devid == 2);
	CHECK(is(BACK "/2/node-guid", "02163e0000abcdef"));

	begin();
	CHECK(!attach("hca=a,backend=driver", &devid) && !attach("hca=a,backend=driver", &devid));
	guid_format(text, guid_make("5", 1));
	CHECK(is(BACK "/1/node-guid", text) && !is(BACK "/0/node-guid", text));
}

/* A number is taken if either side has it; and there are only so many. */
static void test_devids(void)
{
	unsigned int devid, i;

	begin();
	make(&now, FRONT "/0/state");
	make(&now, BACK "/1/state");
	CHECK(!attach("hca=a,backend=driver", &devid) && devid == 2);
	CHECK(attach("hca=a,backend=driver,devid=0", &devid) == -EEXIST);
	CHECK(attach("hca=a,backend=driver,devid=1", &devid) == -EEXIST);
	CHECK(!attach("hca=a,backend=driver,devid=7", &devid) && devid == 7);
	for (i = 0; i < CONFIG_VHCAS - 4; i++)
		CHECK(!attach("hca=a,backend=driver", &devid));
	CHECK(attach("hca=a,backend=driver", &devid) == -ENOSPC);
}

static void test_refused(void)
{
	unsigned int devid, n;
	struct vhca_config config;

	begin();
	n = now.n;
	CHECK(attach("hca=nonesuch", &devid) == -ENODEV && strstr(why, "no HCA nonesuch"));
	CHECK(attach("hca=a,backend=nobody", &devid) == -ENOENT && strstr(why, "backend=nobody"));
	CHECK(attach("hca=a,backend=77", &devid) == -ENOENT);
	CHECK(attach("hca=a,backend=guest1", &devid) == -EINVAL);
	CHECK(!config_parse_spec("hca=a,backend=driver", &config, why, sizeof(why)));
	CHECK(attach_vhca(NULL, 0, 6, &config, &devid, why, sizeof(why)) == -ENOENT);
	broken = true;
	CHECK(attach("hca=a,backend=driver", &devid) == -EIO && !in_transaction);
	CHECK(now.n == n);
}

static void test_from_config(void)
{
	begin();
	attach_from_config(NULL, 0, 5, 0, "hca=nonesuch,max-qp=7"); /* waits for it */
	CHECK(is(OWN "/0/state", "6") && is(OWN "/0/online", "1") && is(OWN "/0/max-qp", "7") &&
	      is(OWN "/0/error", "there is no HCA nonesuch") && is(FRONT "/0/state", "1"));
	attach_from_config(NULL, 0, 5, 1, "hca=a,max-qps=7");
	CHECK(is(OWN "/1/state", "6") && is(OWN "/1/online", "0") &&
	      is(OWN "/1/error", "unknown key 'max-qps'") && !find(&now, FRONT "/1"));
	CHECK(owned(OWN "/1", 0, 5));
	attach_from_config(NULL, 0, 5, 2, "hca=a,backend=driver");
	/* 1 is free on this backend and on the guest's side */
	CHECK(is(BACK "/1/state", "1") && is(FRONT "/1/backend-id", "3"));
	attach_refused(NULL, 0, 5, 0, "another reason");
	CHECK(is(OWN "/0/error", "there is no HCA nonesuch"));
}

static void test_detach(void)
{
	begin();
	attach_from_config(NULL, 0, 5, 0, "hca=nonesuch");
	CHECK(detach_vhca(NULL, 0, 5, 1, false, why, sizeof(why)) == -ENOENT);
	CHECK(attach_exists(NULL, 0, 5, 0) && !attach_exists(NULL, 0, 5, 1));
	conflicts = 1;
	CHECK(!detach_vhca(NULL, 0, 5, 0, false, why, sizeof(why)));
	CHECK(is(OWN "/0/detach", "wait") && is(OWN "/0/online", "0"));
	CHECK(!detach_vhca(NULL, 0, 5, 0, true, why, sizeof(why)) && is(OWN "/0/detach", "force"));
	conflicts = 1;
	CHECK(attach_remove(NULL, 0, 5, 0) && !attach_exists(NULL, 0, 5, 0));
	CHECK(!find(&now, FRONT "/0") &&
	      find(&now, OWN)); /* the directory says: has been seen to */
}

/* One that a driver domain serves: dom0 finds it, and the driver domain has no other's. */
static void test_detach_driver(void)
{
	unsigned int devid;

	begin();
	CHECK(!attach("hca=a,backend=driver", &devid) && !devid);
	attach_from_config(NULL, 0, 5, 1, "hca=nonesuch");
	CHECK(find(&now, OWN "/1"));
	CHECK(!detach_vhca(NULL, 0, 5, 0, false, why, sizeof(why)));
	CHECK(is(BACK "/0/detach", "wait") && is(BACK "/0/online", "0") && !find(&now, OWN "/0"));
	CHECK(detach_vhca(NULL, 3, 5, 1, false, why, sizeof(why)) == -ENOENT &&
	      !find(&now, OWN "/1/detach"));
	CHECK(!detach_vhca(NULL, 3, 5, 0, true, why, sizeof(why)) && is(BACK "/0/detach", "force"));
	CHECK(!detach_vhca(NULL, 0, 5, 1, false, why, sizeof(why)) && is(OWN "/1/detach", "wait"));
	CHECK(detach_vhca(NULL, 0, 5, 2, false, why, sizeof(why)) == -ENOENT &&
	      strstr(why, "no vHCA 2"));
	/* The guest's nodes are dom0's to remove. */
	CHECK(attach_done(NULL, 3, 5, 0) && is(BACK "/0/detach", "done") && find(&now, FRONT "/0"));
	CHECK(attach_remove(NULL, 3, 5, 0) && !find(&now, BACK "/0") && !find(&now, FRONT "/0"));
	broken = true;
	CHECK(!attach_done(NULL, 3, 5, 0));
}

static struct vhca_config limits(const char *text)
{
	struct vhca_config config;

	CHECK(!config_parse_limits(text, &config, why, sizeof(why)));
	return config;
}

/* What is not named stays; who reads them is told by one node, in the same transaction. */
static void test_set(void)
{
	struct vhca_config config = limits("sl=3,qp-rate=2.5G");
	unsigned int devid;

	begin();
	CHECK(!attach("hca=auto,max-qp=9,ud=0", &devid) && is(OWN "/0/ud", "0"));
	CHECK(!find(&now, OWN "/0/sl") && !find(&now, OWN "/0/limits-set"));
	conflicts = 1;
	CHECK(!attach_set(NULL, 0, 5, 0, &config, why, sizeof(why)));
	CHECK(is(OWN "/0/sl", "3") && is(OWN "/0/qp-rate", "2.5G") && is(OWN "/0/ud", "0") &&
	      is(OWN "/0/max-qp", "9") && is(OWN "/0/limits-set", "1"));
	config = limits("sl=any");
	CHECK(!attach_set(NULL, 0, 5, 0, &config, why, sizeof(why)));
	CHECK(is(OWN "/0/sl", "any") && is(OWN "/0/qp-rate", "2.5G") &&
	      is(OWN "/0/limits-set", "2"));
	CHECK(attach_set(NULL, 0, 5, 1, &config, why, sizeof(why)) == -ENOENT &&
	      strstr(why, "no vHCA 1") && !find(&now, OWN "/1/sl"));
	broken = true;
	CHECK(attach_set(NULL, 0, 5, 0, &config, why, sizeof(why)) == -EIO);
}

static void test_names(void)
{
	begin();
	CHECK(attach_domain(NULL, 0, "guest1") == 5 && attach_domain(NULL, 0, "5") == 5);
	CHECK(attach_domain(NULL, 0, "guest") == -ENOENT && attach_domain(NULL, 0, "4") == -ENOENT);
	CHECK(attach_domain(NULL, 0, "") == -ENOENT && attach_domain(NULL, 0, "99999") == -ENOENT);
	/* A driver domain is not told which domains there are, and knows those that it serves. */
	make(&now, "/local/domain/3/backend/vhca/6");
	CHECK(attach_domain(NULL, 3, "6") == 6 && attach_domain(NULL, 3, "7") == -ENOENT);
	CHECK(attach_domain(NULL, 0, "6") == -ENOENT && attach_domain(NULL, 4, "6") == -ENOENT);
}

int main(void)
{
	log_setup("test", 0);
	test_nodes();
	test_guids();
	test_devids();
	test_refused();
	test_from_config();
	test_detach();
	test_set();
	test_detach_driver();
	test_names();
	return EXIT_SUCCESS;
}
