// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fuzz_iomem_server.c - driver domains and guests that write what they like, to nodes that dom0's daemon
 * looks at. Domain 3 has an HCA, domain 4 has none, domain 5 is a PV guest and domain 6 an
 * auto-translated one. Each line of the input is one thing that happens:
 *
 *   bPATH=VALUE, cPATH=VALUE  domain 3 or 4 writes below its backend/vhca/
 *   fNAME=VALUE               domain 3 writes to the frames/ of vHCA 0 of domain 6
 *   pPATH=VALUE, gPATH=VALUE  domain 5 or 6 writes below its device/vhca/
 *   B C F P G                 the same, removes what is there
 *   e                         Xen refuses the next frame
 *   !                         the daemon looks at what has changed; so it does at the end
 *   r                         another daemon takes over
 *   k3 k4 k5 k6               the domain is gone
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/device.h"
#include "unit/fakes/fake_store.h"
#include "unit/fakes/fixture.h"
#include "util/clock.h"
#include "util/log.h"
#include "xen/iomem.h"
#include "xen/iomem_server.h"
#include "xen/pci_assigned.h"

#define RECORDS "/local/domain/0/vhca-frames"
#define FIRST_FRAME 524288
#define FRAMES 4
#define PLACES_MOST 65536

#define LINE_MOST 120
#define NODES_MOST 150 /* xenstored has a bound as well; there is room for the iomem server's own */
#define HELD_MOST 256

static struct iomem_server *l;
static bool lives[7];
static int next_err;

/* What guests may map. */
static struct iomem_frame held[HELD_MOST];
static unsigned int n_held;

/* Time stands still: the pace is not what this is about. */
uint64_t clock_ms(void)
{
	return 1000000;
}

void pci_assigned_read(struct pci_assigned *assigned, struct xs_handle *xs, unsigned int domid)
{
	(void)xs;
	assigned->n = domid == 3;
	assigned->range[0] = (struct pci_range){ FIRST_FRAME, FIRST_FRAME + FRAMES - 1 };
}

bool pci_assigned_has(const struct pci_assigned *assigned, uint64_t frame)
{
	return assigned->n && frame >= assigned->range[0].first && frame <= assigned->range[0].last;
}

/* Looking at xenstore without the daemon's own functions. */

__attribute__((format(printf, 1, 2))) static struct store_node *find(const char *format, ...)
{
	char path[STORE_PATH];
	va_list args;

	va_start(args, format);
	CHECK(vsnprintf(path, sizeof(path), format, args) < (int)sizeof(path));
	va_end(args);
	return store_find(path);
}

static bool is_number(const struct store_node *node, uint64_t *number)
{
	if (!node || !node->size || strspn(node->value, "0123456789") != node->size)
		return false;
	errno = 0;
	*number = strtoull(node->value, NULL, 10);
	return !errno;
}

static bool is_requested(const struct iomem_frame *frame)
{
	struct store_node *request;
	uint64_t gfn;

	request = find("/local/domain/3/backend/vhca/%u/%u/frames/%" PRIu64, frame->domid,
		       frame->devid, frame->mfn);
	return is_number(request, &gfn) && gfn == frame->gfn;
}

static bool is_named(const struct iomem_frame *frame)
{
	struct store_node *node =
		find("/local/domain/%u/device/vhca/%u/backend", frame->domid, frame->devid);
	char nodes[STORE_PATH];

	snprintf(nodes, sizeof(nodes), "/local/domain/3/backend/vhca/%u/%u", frame->domid,
		 frame->devid);
	return node && node->size == strlen(nodes) && !memcmp(node->value, nodes, node->size);
}

static bool is_place(const struct iomem_frame *frame)
{
	uint64_t first, count;

	if (frame->domid == 5)
		return !frame->gfn;
	return is_number(find("/local/domain/6/device/vhca/%u/doorbell-gfn", frame->devid),
			 &first) &&
	       is_number(find("/local/domain/6/device/vhca/%u/doorbell-gfns", frame->devid),
			 &count) &&
	       frame->gfn >= first && frame->gfn - first < count && count <= PLACES_MOST;
}

static struct store_node *grant(const struct iomem_frame *frame)
{
	return find(RECORDS "/3/%u/%u/%" PRIu64, frame->domid, frame->devid, frame->mfn);
}

/* Xen */

struct iomem {
	int unused;
};

static struct iomem iomem;

unsigned int iomem_own(const struct iomem *r)
{
	CHECK(r == &iomem);
	return 0;
}

int iomem_domain(struct iomem *r, unsigned int domid, bool *auto_translated)
{
	CHECK(r == &iomem);
	*auto_translated = domid == 6;
	return domid < sizeof(lives) && lives[domid] ? 0 : -ESRCH;
}

static unsigned int find_held(const struct iomem_frame *frame)
{
	unsigned int i;

	for (i = 0; i < n_held; i++)
		if (held[i].domid == frame->domid && held[i].devid == frame->devid &&
		    held[i].mfn == frame->mfn)
			break;
	return i;
}

int iomem_allow(struct iomem *r, const struct iomem_frame *frame)
{
	int err = next_err;

	CHECK(r == &iomem && lives[3] && (frame->domid == 5 || frame->domid == 6) &&
	      lives[frame->domid]);
	CHECK(frame->auto_translated == (frame->domid == 6));
	CHECK(frame->mfn >= FIRST_FRAME && frame->mfn < FIRST_FRAME + FRAMES);
	CHECK(is_named(frame) && is_requested(frame) && is_place(frame));
	CHECK(grant(frame) && grant(frame)->value[0] == '?');
	CHECK(find_held(frame) == n_held && n_held < HELD_MOST);
	next_err = 0;
	if (!err)
		held[n_held++] = *frame;
	return err;
}

int iomem_deny(struct iomem *r, const struct iomem_frame *frame)
{
	unsigned int i = find_held(frame);

	CHECK(r == &iomem && lives[frame->domid] && grant(frame));
	CHECK(i < n_held && held[i].gfn == frame->gfn);
	held[i] = held[--n_held];
	return 0;
}

/* What happens */

static bool drop_line(const struct log_entry *entry)
{
	(void)entry;
	return true;
}

/* Then there is nothing left to do, and what guests have is what stands there. */
static void serve(void)
{
	unsigned int i, rounds = 0;
	uint64_t gfn;

	do {
		CHECK(iomem_server_service(l) == -1);
		CHECK(rounds++ < 8);
	} while (store_events());
	for (i = 0; i < n_held; i++)
		CHECK(lives[3] && is_requested(&held[i]) && is_number(grant(&held[i]), &gfn) &&
		      gfn == held[i].gfn);
}

static void restart(void)
{
	iomem_server_close(l);
	l = iomem_server_open(&iomem);
	CHECK(l);
}

/* A guest loses by itself what it has. */
static void kill_domain(char which)
{
	unsigned int domid = which - '0', i;

	if (domid < 3 || domid > 6)
		return;
	lives[domid] = false;
	for (i = 0; i < n_held;)
		if (held[i].domid == domid)
			held[i] = held[--n_held];
		else
			i++;
	store_fire("@releaseDomain");
}

/* As xenstored takes it. */
static bool is_path(const char *path)
{
	return *path &&
	       !path[strspn(path,
			    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-/_@")] &&
	       !strstr(path, "//") && path[0] != '/' && path[strlen(path) - 1] != '/';
}

static const char *directory(char who)
{
	switch (who | 0x20) {
	case 'b':
		return "/local/domain/3/backend/vhca/";
	case 'c':
		return "/local/domain/4/backend/vhca/";
	case 'f':
		return "/local/domain/3/backend/vhca/6/0/frames/";
	case 'p':
		return "/local/domain/5/device/vhca/";
	case 'g':
		return "/local/domain/6/device/vhca/";
	default:
		return NULL;
	}
}

/* The line's end has a zero behind it. */
static void change(const char *line, size_t size)
{
	const char *end = memchr(line, '=', size), *dir = directory(line[0]);
	char path[STORE_PATH];

	if (!dir)
		return;
	snprintf(path, sizeof(path), "%s%.*s", dir, (int)((end ? end : line + size) - line - 1),
		 line + 1);
	if (!is_path(path + strlen(dir)))
		return;
	if (!(line[0] & 0x20))
		store_remove(path);
	else if (store_nodes() < NODES_MOST)
		store_put_bytes(path, end ? end + 1 : "", end ? line + size - end - 1 : 0);
}

static void happen(const char *line, size_t size)
{
	switch (line[0]) {
	case '!':
		serve();
		break;
	case 'e':
		next_err = -ENOMEM;
		break;
	case 'r':
		restart();
		break;
	case 'k':
		kill_domain(line[1]);
		break;
	default:
		change(line, size);
	}
}

static void put_vhca(const char *nodes, const char *frontend)
{
	char path[STORE_PATH];

	store_put(nodes, "");
	snprintf(path, sizeof(path), "%s/backend", frontend);
	store_put(path, nodes);
}

static void begin(void)
{
	unsigned int domid;
	char path[32];

	store_clear();
	n_held = 0;
	next_err = 0;
	for (domid = 0; domid < sizeof(lives); domid++) {
		lives[domid] = !domid || domid >= 3;
		snprintf(path, sizeof(path), "/local/domain/%u", domid);
		if (lives[domid])
			store_put(path, "");
	}
	put_vhca("/local/domain/3/backend/vhca/5/0", "/local/domain/5/device/vhca/0");
	put_vhca("/local/domain/3/backend/vhca/6/0", "/local/domain/6/device/vhca/0");
	store_put("/local/domain/6/device/vhca/0/doorbell-gfn", "1048576");
	store_put("/local/domain/6/device/vhca/0/doorbell-gfns", "16");
	l = iomem_server_open(&iomem);
	CHECK(l);
	serve();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = data + size, *next;
	char line[LINE_MOST + 1];

	log_to(drop_line);
	begin();
	for (; data < end; data = next + 1) {
		next = memchr(data, '\n', end - data);
		if (!next)
			next = end;
		if (next == data || next - data > LINE_MOST)
			continue;
		memcpy(line, data, next - data);
		line[next - data] = 0;
		happen(line, next - data);
	}
	serve();
	/* Nobody keeps what was the HCA's of a domain that is gone. */
	kill_domain('3');
	serve();
	CHECK(!n_held);
	iomem_server_close(l);
	return 0;
}
