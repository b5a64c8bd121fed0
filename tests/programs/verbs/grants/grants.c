// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "grants.h"

#define MOST_PAGES 65536u
#define PIECE 262144u /* bytes of a message */

static void read_ports(struct granted *g, const char *path)
{
	char name[256];
	FILE *file;

	snprintf(name, sizeof(name), "%s.channels", path);
	file = fopen(name, "r");
	require(file && fscanf(file, "%u %u", &g->ports[0], &g->ports[1]) == 2, "%s has ports",
		name);
	fclose(file);
}

void granted_read(struct granted *g)
{
	const char *path = getenv("GRANTS");
	FILE *file = path ? fopen(path, "r") : NULL;

	require(file, "GRANTS names a file");
	g->refs = calloc(MOST_PAGES, sizeof(*g->refs));
	require(g->refs && fscanf(file, "%u", &g->domid) == 1, "which has a domain");
	for (g->pages = 0; g->pages < MOST_PAGES; g->pages++)
		if (fscanf(file, "%u", &g->refs[g->pages]) != 1)
			break;
	require(g->pages, "and references");
	fclose(file);
	read_ports(g, path);
}

int device_open(void)
{
	int dev = open(XEN_IBGRANT_DEVICE, O_RDWR | O_CLOEXEC);

	require(dev >= 0, "open %s", XEN_IBGRANT_DEVICE);
	return dev;
}

int device_bound(const struct granted *g, uint32_t limit)
{
	int dev = device_open();

	require(!dev_bind(dev, g->domid, XEN_IBGRANT_TRANSLATED, limit), "bind it to domain %u",
		g->domid);
	return dev;
}

int dev_bind(int dev, uint32_t domid, uint32_t flags, uint32_t pages)
{
	struct xen_ibgrant_bind arg = { .domid = domid, .pages = pages, .flags = flags };

	return ioctl(dev, XEN_IBGRANT_BIND, &arg) ? errno : 0;
}

int dev_create(int dev, uint32_t pages, uint32_t flags, int *fd)
{
	struct xen_ibgrant_create arg = { .pages = pages, .flags = flags };
	int err = ioctl(dev, XEN_IBGRANT_CREATE, &arg) ? errno : 0;

	*fd = err ? -1 : arg.fd;
	return err;
}

int dev_add(int dev, int fd, uint32_t first, const uint32_t *refs, uint32_t count)
{
	struct xen_ibgrant_add arg = {
		.fd = fd,
		.first = first,
		.count = count,
		.refs = (uintptr_t)refs,
	};

	return ioctl(dev, XEN_IBGRANT_ADD, &arg) ? errno : 0;
}

int dev_range(int dev, int fd, uint32_t first, uint32_t count, int *range)
{
	struct xen_ibgrant_range arg = { .fd = fd, .first = first, .count = count };
	int err = ioctl(dev, XEN_IBGRANT_RANGE, &arg) ? errno : 0;

	*range = err ? -1 : arg.range;
	return err;
}

int ev_open(int dev, const struct granted *g, uint32_t vectors, int *fd)
{
	struct xen_ibgrant_events arg = { .bits = g->refs[0], .vectors = vectors };

	memcpy(arg.ports, g->ports, sizeof(g->ports));
	*fd = ioctl(dev, XEN_IBGRANT_EVENTS, &arg);
	return *fd < 0 ? errno : 0;
}

int ev_watch(int fd, int channel, uint32_t bit, uint32_t vector, uint32_t *watch)
{
	struct xen_ibgrant_watch arg = { .fd = channel, .bit = bit, .vector = vector };
	int err = ioctl(fd, XEN_IBGRANT_WATCH, &arg) ? errno : 0;

	*watch = arg.watch;
	return err;
}

int ev_unwatch(int fd, unsigned long watch)
{
	return ioctl(fd, XEN_IBGRANT_UNWATCH, watch) ? errno : 0;
}

int dev_whole(int dev, const struct granted *g, uint32_t flags)
{
	static const uint32_t sizes[] = { 1, 2, 31, 513, 700 };
	uint32_t left, n, i;
	int fd;

	require(!dev_create(dev, g->pages, flags, &fd), "a dma-buf of %u pages", g->pages);
	for (left = g->pages, i = 0; left; left -= n, i++) {
		n = sizes[i % ARRAY_SIZE(sizes)];
		n = n < left ? n : left;
		require(!dev_add(dev, fd, left - n, g->refs + left - n, n),
			"add %u pages at %u of it", n, left - n);
	}
	return fd;
}

unsigned long mapped(void)
{
	FILE *file = fopen("/sys/module/xen_ibgrant/parameters/mapped", "r");
	unsigned long pages = 0;

	require(file && fscanf(file, "%lu", &pages) == 1, "the module says how much is mapped");
	fclose(file);
	return pages;
}

void until_mapped(unsigned long pages)
{
	uint64_t until = now_ms() + opt.deadline_ms;

	while (mapped() != pages && now_ms() < until)
		usleep(1000);
	require(mapped() == pages, "%lu pages are mapped (%lu)", pages, mapped());
}

void move(struct vp_end *end, enum ibv_wr_opcode opcode, uint64_t remote, uint32_t rkey, size_t len)
{
	struct vp_wr w;
	size_t off, n;

	for (off = 0; off < len; off += n) {
		n = len - off < PIECE ? len - off : PIECE;
		vp_wr(&w, end, opcode, off, n);
		w.wr.wr.rdma.remote_addr = remote + off;
		w.wr.wr.rdma.rkey = rkey;
		vp_send(end, &w.wr);
		vp_expect(&end->scq, w.wr.wr_id, IBV_WC_SUCCESS, "a message");
	}
}

int main(int argc, char **argv)
{
	const struct check_table tables[] = { grants_data, grants_refused, grants_events,
					      grants_random };

	vp_load_providers();
	return check_main_tables(argc, argv, "Maps a guest's pages for the HCA, by xen-ibgrant.",
				 tables, ARRAY_SIZE(tables));
}
