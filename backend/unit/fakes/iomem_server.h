/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * iomem_server.h - a host for tests of the iomem server: a driver domain, which is domain 3, with its HCA and its two
 * guests. Xenstore is a table (fake_store.h), Xen a list of what it was asked for, and time is a number.
 */
#ifndef UNIT_IOMEM_SERVER_H
#define UNIT_IOMEM_SERVER_H

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/autoattach.h"
#include "supervisor/device.h"
#include "unit/fakes/fake_store.h"
#include "unit/fakes/fixture.h"
#include "util/clock.h"
#include "util/log.h"
#include "xen/iomem.h"
#include "xen/iomem_remote.h"
#include "xen/iomem_server.h"
#include "xen/pci_assigned.h"

/* The driver domain has an HCA, whose BAR 0 has four doorbell pages, from frame 524288 on, and another device. */
#define RESOURCE \
	"0x000000007fffb000 0x0000000080003fff 0x0000000000140204\n" \
	"0x0000000000000000 0x0000000000000000 0x0000000000000000\n" \
	"0x0000000090000000 0x000000009000ffff 0x0000000000140204\n"
#define OTHER_RESOURCE "0x00000000a0000000 0x00000000a00fffff 0x0000000000140204\n"
#define INIT_SEGMENT "524283"
#define M0 "524288"
#define M1 "524289"
#define M_END "524292"
#define PCI "/local/domain/0/backend/pci/3/0"

/* Its guests, a PV one and an auto-translated one, which has a place for sixteen frames. */
#define BACK "/local/domain/3/backend/vhca"
#define PV BACK "/5/0"
#define AUTO BACK "/6/0"
#define PV_FRONT "/local/domain/5/device/vhca/0"
#define AUTO_FRONT "/local/domain/6/device/vhca/0"
#define PV_GRANT IOMEM_GRANTS "/3/5/0"
#define AUTO_GRANT IOMEM_GRANTS "/3/6/0"
#define G0 "1048576"
#define G15 "1048591"
#define G_END "1048592"

static char dir[] = "/tmp/xen-ib-iomem-XXXXXX";
static struct iomem_server *l;

/* Time */

static uint64_t now_ms = 1000000;

uint64_t clock_ms(void)
{
	return now_ms;
}

static unsigned int call_ms;

static inline void take_time(void)
{
	now_ms += call_ms;
}

/* Xen */

struct iomem {
	unsigned int own;
};

enum domain { GONE, IS_PV, IS_AUTO, UNKNOWN };

static struct iomem iomem;
static unsigned char domains[DOMAINS];

#define CALLS 64

static struct call {
	bool allow;
	struct iomem_frame frame;
} calls[CALLS];
static unsigned int n_calls;
static int allow_err, deny_err;

unsigned int iomem_own(const struct iomem *r)
{
	return r->own;
}

int iomem_domain(struct iomem *r, unsigned int domid, bool *auto_translated)
{
	CHECK(r == &iomem && domid < DOMAINS);
	*auto_translated = domains[domid] == IS_AUTO;
	return domains[domid] == GONE ? -ESRCH : domains[domid] == UNKNOWN ? -EIO : 0;
}

/* Before anything changes it stands in xenstore, so that a daemon that dies then leaves nothing behind. */
static inline void note_call(bool allow, const struct iomem_frame *frame)
{
	char path[IOMEM_PATH], value[32];
	struct store_node *grant;

	iomem_grant_path(path, 3, frame);
	grant = store_find(path);
	CHECK(grant && n_calls < CALLS);
	snprintf(value, sizeof(value), "?%" PRIu64, frame->gfn);
	CHECK(!allow || !strcmp(grant->value, value));
	CHECK(frame->auto_translated == (domains[frame->domid] == IS_AUTO));
	calls[n_calls++] = (struct call){ allow, *frame };
}

int iomem_allow(struct iomem *r, const struct iomem_frame *frame)
{
	CHECK(r == &iomem);
	note_call(true, frame);
	return allow_err;
}

int iomem_deny(struct iomem *r, const struct iomem_frame *frame)
{
	CHECK(r == &iomem);
	note_call(false, frame);
	return deny_err;
}

static inline bool was(unsigned int n, bool allow, unsigned int domid, uint64_t mfn, uint64_t gfn)
{
	const struct iomem_frame *frame = &calls[n].frame;

	return n < n_calls && calls[n].allow == allow && frame->domid == domid &&
	       frame->devid == 0 && frame->mfn == mfn && frame->gfn == gfn;
}

/* What was asked for since the last time, and nothing else. */
static inline bool one(bool allow, unsigned int domid, uint64_t mfn, uint64_t gfn)
{
	bool is = n_calls == 1 && was(0, allow, domid, mfn, gfn);

	n_calls = 0;
	return is;
}

static inline bool none(void)
{
	return !n_calls;
}

/* The log */

static unsigned int lines;

static inline bool count_line(const struct log_entry *entry)
{
	(void)entry;
	lines++;
	return true;
}

/* The iomem server */

/* Until all has been looked at: soon, as what it does itself must not keep it at work. */
static inline void settle(void)
{
	unsigned int rounds = 0;
	int rest;

	do {
		rest = iomem_server_service(l);
		CHECK(rest < 0 || iomem_server_fd(l) < 0);
		if (rest >= 0)
			now_ms += rest;
		CHECK(rounds++ < 8);
	} while (rest >= 0 || store_events());
	CHECK(iomem_server_fd(l) == STORE_FD);
}

static inline void open_server(void)
{
	l = iomem_server_open(&iomem);
	CHECK(l && store_handles() == 1);
	settle();
}

static inline void close_server(void)
{
	iomem_server_close(l);
	CHECK(!store_handles());
}

static inline void put_vhca(const char *nodes, const char *frontend)
{
	char path[IOMEM_PATH];

	store_put(nodes, "");
	store_find(nodes)->owner = 3;
	snprintf(path, sizeof(path), "%s/frontend", nodes);
	store_put(path, frontend);
	snprintf(path, sizeof(path), "%s/backend", frontend);
	store_put(path, nodes);
}

static inline void put_domain(unsigned int domid, enum domain type)
{
	char path[64];

	snprintf(path, sizeof(path), "/local/domain/%u/name", domid);
	store_put(path, "");
	domains[domid] = type;
}

/* A machine with all of it, and nothing requested yet. */
static inline void begin(void)
{
	store_clear();
	memset(domains, GONE, sizeof(domains));
	put_domain(0, IS_PV);
	put_domain(3, IS_PV);
	put_domain(5, IS_PV);
	put_domain(6, IS_AUTO);
	store_put(PCI "/num_devs", "2");
	store_put(PCI "/dev-0", "0000:01:00.0");
	store_put(PCI "/dev-1", "0000:02:00.0");
	put_vhca(PV, PV_FRONT);
	put_vhca(AUTO, AUTO_FRONT);
	store_put(AUTO_FRONT "/doorbell-gfn", G0);
	store_put(AUTO_FRONT "/doorbell-gfns", "16");
	n_calls = lines = 0;
	allow_err = deny_err = 0;
	call_ms = 0;
	now_ms += 1000000; /* what was said before is long ago */
	store_called = take_time;
	open_server();
	CHECK(none());
}

static inline void end(void)
{
	close_server();
}

/* Another daemon finds all as the one before has left it. */
static inline void restart(void)
{
	close_server();
	open_server();
}

/* The backend's node, and all that comes of it. */
static inline void request_frame(const char *path, const char *gfn)
{
	store_put(path, gfn);
	settle();
}

static inline void withdraw(const char *path)
{
	store_remove(path);
	settle();
}

static inline void release(unsigned int domid)
{
	domains[domid] = GONE;
	store_fire("@releaseDomain");
	settle();
}

static inline void put_file(const char *function, const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s/%s", dir, function, name);
	file = fopen(path, "w");
	CHECK(file && fputs(text, file) >= 0 && !fclose(file));
}

static inline void put_function(const char *function, const char *resource, const char *device)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, function);
	CHECK(!mkdir(path, 0700));
	put_file(function, "resource", resource);
	put_file(function, "vendor", "0x15b3\n");
	put_file(function, "device", device);
}

static inline void make_sysfs(void)
{
	CHECK(mkdtemp(dir));
	put_function("0000:01:00.0", RESOURCE, "0x1017\n");
	put_function("0000:02:00.0", OTHER_RESOURCE, "0x1007\n");
	pci_assigned_sysfs = dir;
}

static inline void remove_function(const char *function)
{
	static const char *const names[] = { "resource", "vendor", "device" };
	char path[128];
	unsigned int i;

	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s/%s", dir, function, names[i]);
		CHECK(!unlink(path));
	}
	*strrchr(path, '/') = 0;
	CHECK(!rmdir(path));
}

static inline void remove_sysfs(void)
{
	remove_function("0000:01:00.0");
	remove_function("0000:02:00.0");
	CHECK(!rmdir(dir));
}

/* All tests of a program. */
static inline void begin_all(void)
{
	log_setup("test", LOG_DEBUG);
	log_to(count_line);
	make_sysfs();
}

static inline void end_all(void)
{
	remove_sysfs();
}

#endif
