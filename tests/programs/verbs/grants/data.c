// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Data of a guest's pages, word by word; and holders of them that are killed. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "grants.h"

#define IOVA 0x7f0000000000ull

struct setup {
	struct granted g;
	struct vp_both both;
	size_t len;
	int dev;
};

static void setup_open(struct setup *s)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);

	granted_read(&s->g);
	s->len = (size_t)s->g.pages * GRANTER_PAGE;
	conf.len = s->len;
	vp_both_make(&s->both, conf);
	s->dev = device_bound(&s->g, s->g.pages);
}

static void setup_close(struct setup *s)
{
	close(s->dev);
	vp_both_free(&s->both);
}

static struct ibv_mr *reg(struct setup *s, int fd, size_t off, size_t len, uint64_t iova)
{
	struct ibv_mr *mr = ibv_reg_dmabuf_mr(s->both.pair.b.pd, off, len, iova, fd, VP_ACCESS_ALL);

	require(mr, "register %zu bytes at %zu", len, off);
	return mr;
}

static void wrong_words(const uint64_t *at, uint32_t seed, uint32_t pages, const char *what)
{
	uint64_t wrong = granter_wrong(at, seed, 0, pages);

	check(!wrong, "%s: all words are right (%llu are not)", what, (unsigned long long)wrong);
}

/* What the guest has written is read, what it then finds is written. Nobody has a descriptor of it any more. */
static void data(const void *arg)
{
	unsigned long before = mapped();
	struct setup s = { 0 };
	struct ibv_mr *mr;
	uint64_t *buf;
	int fd;

	(void)arg;
	setup_open(&s);
	buf = (uint64_t *)s.both.pair.a.buf;
	fd = dev_whole(s.dev, &s.g, 0);
	check(mapped() == before + s.g.pages, "all are mapped");
	mr = reg(&s, fd, 0, s.len, IOVA);
	close(fd);
	move(&s.both.pair.a, IBV_WR_RDMA_READ, IOVA, mr->rkey, s.len);
	wrong_words(buf, GRANTER_FIRST, s.g.pages, "read");
	granter_fill(buf, GRANTER_SECOND, 0, s.g.pages);
	move(&s.both.pair.a, IBV_WR_RDMA_WRITE, IOVA, mr->rkey, s.len);
	memset(buf, 0, s.len);
	move(&s.both.pair.a, IBV_WR_RDMA_READ, IOVA, mr->rkey, s.len);
	wrong_words(buf, GRANTER_SECOND, s.g.pages, "read again");
	check(mapped() == before + s.g.pages, "all are still mapped");
	require(!ibv_dereg_mr(mr), "deregister");
	until_mapped(before);
	setup_close(&s);
}

/* The guest's pages are local memory of a request. */
static void local(const void *arg)
{
	struct setup s = { 0 };
	struct vp_end *b;
	struct ibv_mr *mr;
	struct vp_wr w;
	int fd;

	(void)arg;
	setup_open(&s);
	b = &s.both.pair.b;
	fd = dev_whole(s.dev, &s.g, 0);
	mr = reg(&s, fd, 0, s.len, IOVA);
	vp_wr(&w, b, IBV_WR_RDMA_WRITE, 0, s.len);
	w.sge[0].addr = IOVA;
	w.sge[0].lkey = mr->lkey;
	vp_send(b, &w.wr);
	vp_expect(&b->scq, w.wr.wr_id, IBV_WC_SUCCESS, "a write of the guest's pages");
	wrong_words((uint64_t *)s.both.pair.a.buf, GRANTER_FIRST, s.g.pages, "written");
	require(!ibv_dereg_mr(mr), "deregister");
	close(fd);
	setup_close(&s);
}

/* Small regions by ranges; the dma-buf that they are part of is closed first. */
static void ranges(const void *arg)
{
	enum { RANGES = 24 };
	unsigned long before = mapped();
	uint32_t first[RANGES], pages[RANGES];
	struct ibv_mr *mr[RANGES];
	struct setup s = { 0 };
	struct vp_wr w;
	uint64_t *buf;
	int fd, range;

	(void)arg;
	setup_open(&s);
	buf = (uint64_t *)s.both.pair.a.buf;
	fd = dev_whole(s.dev, &s.g, 0);
	for (uint32_t i = 0; i < RANGES; i++) {
		first[i] = i * 37 % s.g.pages;
		pages[i] = 1 + i * 11 % (s.g.pages - first[i]);
		require(!dev_range(s.dev, fd, first[i], pages[i], &range), "range %u", i);
		mr[i] = reg(&s, range, 24, pages[i] * (size_t)GRANTER_PAGE - 24, IOVA + 24);
		close(range);
	}
	close(fd);
	for (uint32_t i = 0; i < RANGES; i++) {
		size_t len = pages[i] * (size_t)GRANTER_PAGE - 24;

		move(&s.both.pair.a, IBV_WR_RDMA_READ, IOVA + 24, mr[i]->rkey, len);
		memmove((uint8_t *)buf + 24, buf, len);
		for (uint32_t word = 0; word < 3; word++)
			buf[word] = granter_word(GRANTER_FIRST, first[i], word);
		check(!granter_wrong(buf, GRANTER_FIRST, first[i], pages[i]),
		      "%u pages from %u on are right", pages[i], first[i]);
	}
	check(mapped() == before + s.g.pages, "nothing is mapped twice");
	vp_wr(&w, &s.both.pair.a, IBV_WR_RDMA_READ, 0, 8);
	w.wr.wr.rdma.remote_addr = IOVA + pages[0] * (uint64_t)GRANTER_PAGE - 4;
	w.wr.wr.rdma.rkey = mr[0]->rkey;
	vp_send(&s.both.pair.a, &w.wr);
	vp_expect(&s.both.pair.a.scq, w.wr.wr_id, IBV_WC_REM_ACCESS_ERR, "a read beyond a range");
	for (uint32_t i = 0; i < RANGES; i++)
		require(!ibv_dereg_mr(mr[i]), "deregister range %u", i);
	until_mapped(before);
	close(s.dev);
	vp_both_free(&s.both);
}

/* Grants that allow to read alone. */
static void read_only(const void *arg)
{
	struct setup s = { 0 };
	struct ibv_mr *mr;
	int fd;

	(void)arg;
	setup_open(&s);
	fd = dev_whole(s.dev, &s.g, XEN_IBGRANT_READ_ONLY);
	mr = ibv_reg_dmabuf_mr(s.both.pair.b.pd, 0, s.len, IOVA, fd, IBV_ACCESS_REMOTE_READ);
	require(mr, "register it for reading");
	move(&s.both.pair.a, IBV_WR_RDMA_READ, IOVA, mr->rkey, s.len);
	wrong_words((uint64_t *)s.both.pair.a.buf, GRANTER_FIRST, s.g.pages, "read");
	require(!ibv_dereg_mr(mr), "deregister");
	close(fd);
	setup_close(&s);
}

/* The HCA writes to the guest's pages without end. Whoever waits for it kills this. */
static void hold(const void *arg)
{
	struct setup s = { 0 };
	struct ibv_mr *mr;
	int fd;

	(void)arg;
	setup_open(&s);
	fd = dev_whole(s.dev, &s.g, 0);
	mr = reg(&s, fd, 0, s.len, IOVA);
	close(fd);
	puts("holding");
	fflush(stdout);
	for (;;)
		move(&s.both.pair.a, IBV_WR_RDMA_WRITE, IOVA, mr->rkey, s.len);
}

/* The same, but pages are mapped and unmapped. */
static void hold_mapping(const void *arg)
{
	struct granted g;
	int dev, fd;

	(void)arg;
	granted_read(&g);
	dev = device_bound(&g, g.pages);
	puts("mapping");
	fflush(stdout);
	for (;;) {
		require(!dev_create(dev, g.pages, 0, &fd), "a dma-buf");
		require(!dev_add(dev, fd, 0, g.refs, g.pages), "add all pages");
		close(fd);
	}
}

static const struct check_case cases[] = {
	CHECK_CASE("data", data, "READ and WRITE, by a memory region alone", .seconds = 120),
	CHECK_CASE("local", local, "a guest's pages as local memory", .seconds = 120),
	CHECK_CASE("ranges", ranges, "parts, at odd offsets, and nothing beyond them",
		   .seconds = 120),
	CHECK_CASE("read-only", read_only,
		   "grants that allow no more (granter PAGES FILE read-only)", .on_demand = true),
	CHECK_CASE("hold", hold, "the HCA writes until somebody kills this", .on_demand = true,
		   .seconds = 600),
	CHECK_CASE("hold-mapping", hold_mapping, "maps and unmaps until somebody kills this",
		   .on_demand = true, .seconds = 600),
};

const struct check_table grants_data = { .cases = cases, .count = ARRAY_SIZE(cases) };
