// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory of dma-bufs, as the kernel makes them of a memfd's pages (udmabuf). A native device needs on-demand paging for it. */
#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "integrity.h"

#define LEN (256 * 1024ul)

/* A dma-buf of @len bytes. @at: where this process sees them. */
static int make_dmabuf(size_t len, uint8_t **at)
{
	struct udmabuf_create create = { .size = len, .flags = UDMABUF_FLAGS_CLOEXEC };
	int memfd, device, fd;

	memfd = memfd_create("dmabuf", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	require(memfd >= 0 && !ftruncate(memfd, len), "a file of %zu bytes", len);
	require(!fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK), "that does not shrink");
	*at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	require(*at != MAP_FAILED, "map it");
	device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	if (device < 0 && errno == ENOENT)
		skip("this kernel has no udmabuf");
	require(device >= 0, "open /dev/udmabuf");
	create.memfd = memfd;
	fd = ioctl(device, UDMABUF_CREATE, &create);
	require(fd >= 0, "make a dma-buf of it");
	close(device);
	close(memfd);
	return fd;
}

static struct ibv_mr *reg(struct vp_end *end, int fd, size_t off, size_t len, uint64_t iova)
{
	struct ibv_mr *mr = ibv_reg_dmabuf_mr(end->pd, off, len, iova, fd, VP_ACCESS_ALL);

	require(mr, "register %zu bytes at %zu of a dma-buf", len, off);
	return mr;
}

/* All of it, of which nobody has the descriptor any more. */
static void whole(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct fixture fix;
	struct vp_end *a, *b;
	struct ibv_mr *mr;
	uint8_t *at;
	int fd;

	(void)arg;
	fixture_open(&fix, &conf, LEN);
	a = &fix.pair.a;
	b = &fix.pair.b;
	fd = make_dmabuf(LEN, &at);
	mr = reg(b, fd, 0, LEN, 0x10000000);
	close(fd);
	there_and_back(a, a->buf, a->mr, at, 0x10000000, mr, LEN);
	require(!ibv_dereg_mr(mr), "deregister");
	munmap(at, LEN);
	fixture_close(&fix);
}

/* A byte beyond what is registered, of which the dma-buf has more. */
static void beyond(struct vp_end *end, uint64_t remote, struct ibv_mr *mr)
{
	struct vp_wr w;

	vp_wr(&w, end, IBV_WR_RDMA_READ, 0, 8);
	w.wr.wr.rdma.remote_addr = remote;
	w.wr.wr.rdma.rkey = mr->rkey;
	vp_send(end, &w.wr);
	vp_expect(&end->scq, w.wr.wr_id, IBV_WC_REM_ACCESS_ERR, "a read beyond the end");
}

/* Parts of one that overlap, each at an address of its own, at once; and no byte beyond them. */
static void parts(const void *arg)
{
	enum { PARTS = 16 };
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct ibv_mr *mr[PARTS];
	uint64_t iova[PARTS];
	size_t off[PARTS], len[PARTS];
	struct fixture fix;
	struct vp_end *a, *b;
	uint8_t *at;
	size_t i;
	int fd;

	(void)arg;
	fixture_open(&fix, &conf, LEN);
	a = &fix.pair.a;
	b = &fix.pair.b;
	fd = make_dmabuf(LEN, &at);
	for (i = 0; i < PARTS; i++) {
		off[i] = i * 11777 % (LEN / 2);
		len[i] = 1 + i * 7919 % (LEN / 2);
		iova[i] = ((i + 1) << 32) + (off[i] & 4095);
		mr[i] = reg(b, fd, off[i], len[i], iova[i]);
	}
	require(!ibv_reg_dmabuf_mr(b->pd, 4096, LEN, 0, fd, VP_ACCESS_ALL),
		"no more than the dma-buf has");
	close(fd);
	for (i = 0; i < PARTS; i++)
		there_and_back(a, a->buf, a->mr, at + off[i], iova[i], mr[i], len[i]);
	beyond(a, iova[1] + len[1] - 7, mr[1]);
	for (i = 0; i < PARTS; i++)
		require(!ibv_dereg_mr(mr[i]), "deregister part %zu", i);
	munmap(at, LEN);
	vp_pair_free(&fix.pair);
	vp_close_both(&fix.dev_a, &fix.dev_b);
}

static const struct check_case cases[] = {
	CHECK_CASE("dmabuf-whole", whole, "a dma-buf, by its registration alone"),
	CHECK_CASE("dmabuf-parts", parts, "parts of a dma-buf, and nothing beyond them"),
};

const struct check_table integrity_dmabuf = { .cases = cases, .count = ARRAY_SIZE(cases) };
