// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_status.c - what a worker writes of a vHCA is what is read of it; and files that no worker of ours wrote.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "admin/status_read.h"
#include "hca/gsi.h"
#include "modules/xen-ibgsi/xen-ibgsi.h"
#include "unit/fakes/fixture.h"
#include "worker/status_write.h"

static char dir[] = "/tmp/xen-ib-status-XXXXXX";

static const struct status_object *object(const struct status_view *view, const char *type)
{
	unsigned int i;

	for (i = 0; i < view->n_objects; i++)
		if (!strcmp(view->objects[i].type, type))
			return &view->objects[i];
	abort();
}

static const struct status_op *op(const struct status_view *view, const char *name)
{
	unsigned int i;

	for (i = 0; i < view->n_ops; i++)
		if (!strcmp(view->ops[i].name, name))
			return &view->ops[i];
	abort();
}

static void test_round_trip(void)
{
	struct status_view view;
	struct fixture_process p;
	struct status status;
	struct fixture fix;

	fixture_init(&fix, false, NULL);
	CHECK(!fixture_process(&fix, &p));
	CHECK(fixture_object(&fix, XEN_VHCA_OP_QP_DESTROY, 0xdead) == XEN_VHCA_E_HANDLE);
	fix.v.quota.qp.sl = 3;
	fix.v.quota.qp.rate = 2500;
	fix.v.counters.kicks = 7;
	histogram_add(&fix.v.counters.event_latency, 3000);
	status_init(&status, dir, 5, 1, "mlx5_0");
	CHECK(status_update(&status, &fix.v) == -1);

	CHECK(status_load(&view, dir, 5, 1));
	CHECK(view.pid == (uint32_t)getpid());
	CHECK(object(&view, "QP")->used == 1 &&
	      object(&view, "QP")->limit == fix.v.quota.objects[OBJ_QP].limit);
	CHECK(!strcmp(view.imposed, "sl=3,qp-rate=2.5G"));
	CHECK(view.bytes.used == fix.v.quota.bytes.used &&
	      view.bytes.limit == fix.v.quota.bytes.limit);
	CHECK(view.counters[STATUS_KICKS] == 7 && !view.counters[STATUS_UNKNOWN]);
	CHECK(op(&view, "QP_CREATE")->count == 1 && op(&view, "QP_DESTROY")->count == 1);
	CHECK(!memcmp(&op(&view, "QP_CREATE")->latency,
		      &fix.v.counters.latency[XEN_VHCA_OP_QP_CREATE], sizeof(struct histogram)));
	CHECK(op(&view, "QP_CREATE")->latency.count == 1 && op(&view, "QP_CREATE")->latency.sum_ns);
	CHECK(view.events.count == 1 && view.events.max_ns == 3000 && view.events.buckets[2] == 1);
	CHECK(view.n_refusals == 1 && !strcmp(view.refusals[0].op, "QP_DESTROY") &&
	      !strcmp(view.refusals[0].why, "E_HANDLE") && view.refusals[0].count == 1);
	CHECK(view.n_contexts == 1 && view.contexts[0].pid == 77 &&
	      view.contexts[0].handle == p.ctx && !strcmp(view.contexts[0].name, "test"));
	CHECK(status_commands(&view) > 10);
	status_free(&view);

	status_remove(&status);
	CHECK(!status_load(&view, dir, 5, 1) && !view.n_objects);
	fixture_exit(&fix, &p);
	fixture_fini(&fix);
}

static uint64_t received(void)
{
	struct status_view view;
	uint64_t count;

	CHECK(status_load(&view, dir, 5, 1));
	count = view.counters[STATUS_MADS_RECEIVED];
	status_free(&view);
	return count;
}

/* What the module has counted, where there is one; and the kernel's contexts are not a process's. */
static void test_management(void)
{
	struct xen_ibgsi_stats stats = {
		.sent = 11,
		.received = 12,
		.dropped = 13,
		.groups = 14,
		.strays = 15,
		.conns = 16,
		.asked = 17,
		.conns_denied = 18,
		.conns_aged = 19,
		.refused = { 20, 21, 22, 23, 24 },
	};
	struct xen_vhca_req req = { .op = XEN_VHCA_OP_CTX_OPEN };
	struct xen_ibgsi_stats less;
	struct status_view view;
	struct status status;
	struct fixture fix;
	unsigned int why;
	int module;

	fixture_init(&fix, false, NULL);
	module = fixture_mads(&fix);
	CHECK(!fixture_do(&fix, &req));
	req.u.ctx_open.flags = XEN_VHCA_CTX_KERNEL;
	CHECK(!fixture_do(&fix, &req));
	CHECK(write(module, &stats, sizeof(stats)) == sizeof(stats));
	status_init(&status, dir, 5, 1, "mlx5_0");
	CHECK(status_update(&status, &fix.v) == -1 && status_load(&view, dir, 5, 1));
	CHECK(view.n_contexts == 2 && view.counters[STATUS_KERNEL_CONTEXTS] == 1);
	CHECK(view.counters[STATUS_MADS_SENT] == 11 && view.counters[STATUS_MADS_RECEIVED] == 12);
	CHECK(view.counters[STATUS_MADS_DROPPED] == 13 && view.counters[STATUS_MAD_GROUPS] == 14);
	CHECK(view.counters[STATUS_MADS_STRAY] == 15 && view.counters[STATUS_CONNS] == 16);
	CHECK(view.counters[STATUS_CONNS_ASKED] == 17 && view.counters[STATUS_CONNS_DENIED] == 18);
	CHECK(view.counters[STATUS_CONNS_AGED] == 19);
	for (why = 0; why < XEN_IBGSI_REFUSALS; why++)
		CHECK(view.counters[STATUS_MADS_REFUSED_KIND + why] == 20 + why);
	CHECK(!view.counters[STATUS_DMABUFS]);
	status_free(&view);

	/* What it alone counts is written once somebody says that there is something. */
	stats.received = 112;
	CHECK(write(module, &stats, sizeof(stats)) == sizeof(stats));
	CHECK(status_update(&status, &fix.v) == -1 && received() == 12);
	status.stale = true;
	CHECK(status_update(&status, &fix.v) > 0 && received() == 12);
	status.last_ms -= STATUS_INTERVAL_MS;
	CHECK(status_update(&status, &fix.v) == -1 && !status.stale && received() == 112);

	/* An older module counts less. */
	CHECK(write(module, &stats, 5 * sizeof(stats.sent)) == 5 * sizeof(stats.sent));
	CHECK(gsi_stats(fix.v.mads.fd, &less) == -EPROTO && less.groups == 14 && !less.conns);
	status_remove(&status);
	fixture_fini(&fix);
}

static void take(struct status_view *view, const char *text)
{
	char line[512];

	snprintf(line, sizeof(line), "%s", text);
	status_line(view, line);
}

static void test_nonsense(void)
{
	struct status_view view = { 0 };
	unsigned int i;

	take(&view, "");
	take(&view, "object QP 1 2");
	take(&view, "object QP 1 2 -3");
	take(&view, "object QP 1 2 99999999999999999999999");
	take(&view, "latency QP_CREATE 1 2");
	take(&view, "command");
	take(&view, "context zz 1 name");
	take(&view, "kicks 7x");
	take(&view, "pid 99999999999");
	take(&view, "future 1 2 3");
	CHECK(!view.n_objects && !view.n_contexts && !view.counters[STATUS_KICKS] && !view.pid);
	take(&view, "object \033[2JQP 1 2 3");
	CHECK(!strcmp(view.objects[0].type, "?[2JQP"));
	take(&view, "context 0x10 5 with a space and more than fits");
	CHECK(view.contexts[0].handle == 16 &&
	      !strcmp(view.contexts[0].name, "with a space and more t"));
	for (i = 0; i < 2 * STATUS_CONTEXTS; i++) {
		take(&view, "context 0x1 1 x");
		take(&view, "object QP 1 2 3");
		take(&view, "refused X E_ARG 1");
	}
	CHECK(view.n_contexts == STATUS_CONTEXTS && view.n_objects == STATUS_TYPES &&
	      view.n_refusals == STATUS_REFUSALS);
	for (i = 0; i < 2 * STATUS_OPS; i++) {
		char line[64];

		snprintf(line, sizeof(line), "command OP%u 1", i);
		take(&view, line);
	}
	CHECK(view.n_ops == STATUS_OPS);
	status_free(&view);
}

static void test_hostile_files(void)
{
	struct status_view view;
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "%s/6-0.status", dir);
	CHECK(!mkfifo(path, 0600) && !status_load(&view, dir, 6, 0) && !unlink(path));
	CHECK(!symlink("/etc/passwd", path) && !status_load(&view, dir, 6, 0) && !unlink(path));
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	CHECK(fd >= 0 && !ftruncate(fd, STATUS_BYTES_MAX + 1) && !status_load(&view, dir, 6, 0));
	CHECK(!ftruncate(fd, 0) && write(fd, "kicks 1\0\nkicks 2", 16) == 16);
	CHECK(status_load(&view, dir, 6, 0) && view.counters[STATUS_KICKS] == 1);
	close(fd);
	CHECK(!unlink(path));
}

static void test_latency(void)
{
	struct histogram latency = { 0 };
	unsigned int i;

	CHECK(!histogram_quantile_ns(&latency, 500));
	for (i = 0; i < 99; i++)
		histogram_add(&latency, 900);
	histogram_add(&latency, UINT64_MAX / 1000);
	CHECK(latency.count == 100 && latency.buckets[0] == 99 &&
	      latency.buckets[HISTOGRAM_BUCKETS - 1] == 1);
	CHECK(histogram_quantile_ns(&latency, 500) == 1000 &&
	      histogram_quantile_ns(&latency, 990) == 1000);
	CHECK(histogram_quantile_ns(&latency, 999) == latency.max_ns);
}

int main(void)
{
	CHECK(mkdtemp(dir));
	test_round_trip();
	test_management();
	test_nonsense();
	test_hostile_files();
	test_latency();
	CHECK(!rmdir(dir));
	return EXIT_SUCCESS;
}
