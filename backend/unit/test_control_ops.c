// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_control_ops.c - what the daemon answers, of a xenstore that is a table here. Attaching and detaching is not done
 * here, only asked for.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/control_ops.h"
#include "unit/fakes/fixture.h"
#include "xen/attach.h"

#define ROOT "/local/domain/0/backend/vhca"
#define DRIVER "/local/domain/3/backend/vhca"

static char dir[] = "/tmp/xen-ib-answer-XXXXXX";
static struct xs_handle *const store = (struct xs_handle *)&dir; /* nobody looks into it */

/* Xenstore */

static const struct {
	const char *path, *value;
} nodes[] = {
	{ ROOT "/5/0/frontend", "/local/domain/5/device/vhca/0" },
	{ ROOT "/5/0/hca", "mlx5_0" },
	{ ROOT "/5/0/port", "2" },
	{ ROOT "/5/0/online", "1" },
	{ ROOT "/5/0/state", "4" },
	{ ROOT "/5/0/max-mem-bytes", "4096" },
	{ ROOT "/5/0/sl", "any" },
	{ ROOT "/5/0/qp-rate", "10G" },
	{ ROOT "/5/0/ud", "perhaps" }, /* nobody has written that */
	{ ROOT "/5/1/frontend", "/local/domain/5/device/vhca/1" },
	{ ROOT "/5/1/error", "a\nreason" },
	{ ROOT "/5/1/state", "6" },
	{ ROOT "/5/2/hca", "mlx5_0" }, /* being made, or removed */
	{ ROOT "/7/0/frontend", "/local/domain/7/device/vhca/0" },
	{ ROOT "/7/0/state", "99" },
	{ DRIVER "/5/3/frontend", "/local/domain/5/device/vhca/3" },
	{ DRIVER "/5/3/hca", "mlx5_0" },
	{ DRIVER "/5/3/state", "4" },
	{ "/local/domain/5/name", "guest1" },
	{ "/local/domain/5/device/vhca/0/state", "4" },
};

static const struct {
	const char *path;
	const char *entries[6];
} directories[] = {
	{ "/local/domain", { "0", "3", "5", "03", "x" } },
	{ ROOT, { "5", "7", "x", "", "05" } },
	{ ROOT "/5", { "0", "1", "2", "-1", "99999999", "00" } },
	{ ROOT "/7", { "0" } },
	{ DRIVER, { "5" } },
	{ DRIVER "/5", { "3" } },
};

void *xs_read(struct xs_handle *xs, xs_transaction_t t, const char *path, unsigned int *length)
{
	unsigned int i;

	CHECK(xs == store && t == XBT_NULL);
	for (i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		if (strcmp(nodes[i].path, path))
			continue;
		*length = strlen(nodes[i].value);
		return strdup(nodes[i].value);
	}
	return NULL;
}

char **xs_directory(struct xs_handle *xs, xs_transaction_t t, const char *path, unsigned int *n)
{
	unsigned int i;
	char **names;

	CHECK(xs == store && t == XBT_NULL);
	for (i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
		if (strcmp(directories[i].path, path))
			continue;
		for (*n = 0; *n < 6 && directories[i].entries[*n]; (*n)++)
			;
		names = calloc(6, sizeof(*names));
		CHECK(names);
		memcpy(names, directories[i].entries, *n * sizeof(*names));
		return names;
	}
	return NULL;
}

bool xs_write(struct xs_handle *xs, xs_transaction_t t, const char *path, const void *data,
	      unsigned int length)
{
	(void)xs, (void)t, (void)path, (void)data, (void)length;
	abort(); /* answers change nothing */
}

char **xs_check_watch(struct xs_handle *xs)
{
	(void)xs;
	abort();
}

/* What changes something */

static int change_err;
static char changed[128];

static unsigned int own;

int attach_domain(struct xs_handle *xs, unsigned int domid, const char *name)
{
	CHECK(xs == store && domid == own);
	return !strcmp(name, "guest1") || !strcmp(name, "5") ? 5 : -ENOENT;
}

int attach_vhca(struct xs_handle *xs, unsigned int back, unsigned int domid,
		const struct vhca_config *config, unsigned int *devid, char *why, size_t size)
{
	CHECK(xs == store && back == own);
	snprintf(changed, sizeof(changed), "attach %u %s", domid, config->hca);
	snprintf(why, size, "there is a reason");
	*devid = 3;
	return change_err;
}

int detach_vhca(struct xs_handle *xs, unsigned int back, unsigned int domid, unsigned int devid,
		bool force, char *why, size_t size)
{
	CHECK(xs == store && back == own);
	snprintf(changed, sizeof(changed), "detach %u %u %d", domid, devid, force);
	snprintf(why, size, "there is a reason");
	return change_err;
}

int attach_set(struct xs_handle *xs, unsigned int back, unsigned int domid, unsigned int devid,
	       const struct vhca_config *config, char *why, size_t size)
{
	CHECK(xs == store && back == own);
	snprintf(changed, sizeof(changed), "set %u %u %d", domid, devid,
		 config->limit[LIMIT_SL].given ? (int)config->limit[LIMIT_SL].value : -1);
	snprintf(why, size, "there is a reason");
	return change_err;
}

/* Asking */

static struct device_list devices;
static enum control_error error;
static char said[16384];

static const char *ask(const char *line)
{
	const struct control_source source = { store, own, own ? DRIVER : ROOT, dir, &devices };
	struct control_reply reply = { 0 };
	struct control_request req;
	char copy[256];

	snprintf(copy, sizeof(copy), "%s", line);
	CHECK(control_parse(&req, copy));
	memset(said, 0, sizeof(said));
	reply.body = fmemopen(said, sizeof(said), "w");
	CHECK(reply.body);
	control_ops_request((void *)&source, &req, &reply);
	fclose(reply.body);
	error = reply.error;
	if (error)
		snprintf(said, sizeof(said), "%s", reply.why);
	return said;
}

static void test_looking(void)
{
	static const char guest1[] =
		"vhca 5 0\ndomain guest1\nbackend 0\nhca mlx5_0\nport 2\nstate connected\n"
		"guest connected\nonline 1\nmax-mem-bytes 4096\nworker 812\nfailures 2\n"
		"imposed qp-rate=10G,ud=0\n";
	char path[96];
	FILE *file;

	snprintf(path, sizeof(path), "%s/5-0.status", dir);
	file = fopen(path, "w");
	CHECK(file);
	fputs("kicks 5\nvhca 6 0\nimposed sl=3,qp-rate=10G,x=1\n\n", file);
	fclose(file);

	CHECK(!strcmp(ask("list guest1 0"), guest1) && !error);
	CHECK(!strncmp(ask("show 5 0"), guest1, strlen(guest1)));
	CHECK(!strcmp(said + strlen(guest1),
		      "\tkicks 5\n\tvhca 6 0\n\timposed sl=3,qp-rate=10G,x=1\n"));
	CHECK(strstr(ask("list"),
		     "vhca 5 1\ndomain guest1\nbackend 0\nport 1\nstate closed\nguest unknown\n"));
	CHECK(strstr(said, "guest unknown\nonline 0\n"));
	CHECK(strstr(said, "error a?reason\n") && strstr(said, "vhca 7 0\n") &&
	      !strstr(said, "vhca 5 2"));
	CHECK(strstr(said, "max-mem-bytes 100663296\nworker 0\n"));
	CHECK(strstr(ask("metrics"),
		     "xenib_kicks_total{domid=\"5\",devid=\"0\",domain=\"guest1\"} 5\n"));
	CHECK(strstr(said, "xenib_vhca_connected{domid=\"5\",devid=\"1\",domain=\"guest1\"} 0\n"));
	CHECK(strstr(said,
		     "xenib_imposed{domid=\"5\",devid=\"0\",domain=\"guest1\",key=\"sl\"} 3\n"
		     "xenib_imposed{domid=\"5\",devid=\"0\",domain=\"guest1\",key=\"qp-rate\"} "
		     "10000000000\n# "));
	CHECK(strstr(ask("version"), "protocol 1\n"));
	ask("list guest1 4");
	CHECK(error == CONTROL_NOT_FOUND && !strcmp(said, "domain guest1 has no vHCA 4"));
	ask("show nobody");
	CHECK(error == CONTROL_NOT_FOUND && !strcmp(said, "there is no domain nobody"));
	unlink(path);
	CHECK(!strcmp(ask("show 5 0"), guest1));
}

static void test_changing(void)
{
	CHECK(!strcmp(ask("attach guest1 hca=mlx5_0,max-qp=5"), "vhca 5 3\n") &&
	      !strcmp(changed, "attach 5 mlx5_0"));
	CHECK(!strcmp(ask("detach 5 1 force"), "vhca 5 1\n") && !strcmp(changed, "detach 5 1 1"));
	CHECK(!strcmp(ask("set guest1 0 sl=7,ud=0"), "vhca 5 0\n") &&
	      !strcmp(changed, "set 5 0 7"));
	changed[0] = 0;
	ask("set guest1 0 sl=16");
	CHECK(error == CONTROL_USAGE && strstr(said, "from 0 to 15, or any") && !changed[0]);
	ask("set guest1 0 max-qp=16");
	CHECK(error == CONTROL_USAGE && strstr(said, "none of the keys") && !changed[0]);
	ask("attach guest1 nonsense");
	CHECK(error == CONTROL_USAGE && !changed[0]);
	ask("detach nobody 1");
	CHECK(error == CONTROL_NOT_FOUND && !changed[0]);
	change_err = -EEXIST;
	CHECK(!strcmp(ask("attach guest1 hca=mlx5_0"), "there is a reason") &&
	      error == CONTROL_REFUSED);
	change_err = -ENOENT;
	CHECK(!strcmp(ask("detach guest1 1"), "there is a reason") && error == CONTROL_NOT_FOUND);
	CHECK(!strcmp(ask("set guest1 1 sl=3"), "there is a reason") && error == CONTROL_NOT_FOUND);
	change_err = 0;
}

static unsigned int count(const char *what)
{
	const char *at = said;
	unsigned int n;

	for (n = 0; (at = strstr(at, what)); n++)
		at++;
	return n;
}

/* Dom0 sees what driver domains serve, and neither its own worker nor its own status file is of that. */
static void test_driver(void)
{
	struct device device = { .domid = 5, .devid = 3, .pid = 813 };
	char path[96];
	FILE *file;

	LIST_INSERT_HEAD(&devices, &device, link);
	snprintf(path, sizeof(path), "%s/5-3.status", dir);
	file = fopen(path, "w");
	CHECK(file && fputs("kicks 5\n", file) >= 0 && !fclose(file));
	ask("list");
	CHECK(count("vhca ") == 4 &&
	      count("vhca 5 3\ndomain guest1\nbackend 3\nhca mlx5_0\n") == 1);
	CHECK(count("worker 812\n") == 1 && count("worker 0\n") == 3);
	CHECK(strstr(ask("show guest1 3"), "backend 3\n") && !error && count("kicks") == 0 &&
	      count("vhca ") == 1);
	ask("metrics");
	CHECK(count("devid=\"3\"") == 0 &&
	      count("xenib_vhca_connected{domid=\"5\",devid=\"0\"") == 1);
	/* And the other way round. */
	own = 3;
	ask("list");
	CHECK(count("vhca ") == 1 && count("backend 3\n") == 1 && count("worker 813\n") == 1);
	CHECK(strstr(ask("show 5 3"), "\tkicks 5\n"));
	ask("show 5 0");
	CHECK(error == CONTROL_NOT_FOUND);
	CHECK(strstr(ask("metrics"),
		     "xenib_kicks_total{domid=\"5\",devid=\"3\",domain=\"guest1\"} 5\n"));
	CHECK(!strcmp(ask("detach 5 3"), "vhca 5 3\n") && !strcmp(changed, "detach 5 3 0"));
	changed[0] = 0;
	ask("attach guest1 hca=mlx5_0");
	CHECK(error == CONTROL_REFUSED && strstr(said, "backend=3") && !changed[0]);
	own = 0;
	LIST_REMOVE(&device, link);
	unlink(path);
}

int main(void)
{
	struct device device = { .domid = 5, .pid = 812, .failures = 2 };

	log_setup("test", 0);
	CHECK(mkdtemp(dir));
	LIST_INIT(&devices);
	LIST_INSERT_HEAD(&devices, &device, link);
	test_looking();
	test_changing();
	test_driver();
	CHECK(!rmdir(dir));
	return EXIT_SUCCESS;
}
