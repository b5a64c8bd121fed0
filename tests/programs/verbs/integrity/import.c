// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ibv_import_device(), ibv_import_pd(), ibv_import_mr(): two processes have one context, of which each has queues and
 * memory of its own. Either may end first.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "integrity.h"

#define LEN (6 * 4096ul)

/* What one process tells the other, beside the file of the device. */
struct told {
	uint32_t pd, mr;
	uint32_t lkey, rkey;
	uint64_t addr;
	uint64_t pattern; /* that is in the memory; the next one is what the other writes there */
};

struct exporter {
	struct vp_dev dev;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	uint8_t *buf;
	struct told told;
};

struct importer {
	struct told told;
	struct vp_dev dev;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct vp_pair pair; /* in the other's PD, of this process's queues and memory */
};

/* Room for one descriptor beside a message. */
union file {
	struct cmsghdr header;
	char space[CMSG_SPACE(sizeof(int))];
};

static struct msghdr message(struct iovec *iov, union file *file)
{
	return (struct msghdr){
		.msg_iov = iov,
		.msg_iovlen = 1,
		.msg_control = file,
		.msg_controllen = sizeof(*file),
	};
}

static void send_told(int to, struct told *told, int fd)
{
	union file file = { .header = { .cmsg_len = CMSG_LEN(sizeof(fd)),
					.cmsg_level = SOL_SOCKET,
					.cmsg_type = SCM_RIGHTS } };
	struct iovec iov = { told, sizeof(*told) };
	struct msghdr msg = message(&iov, &file);

	memcpy(CMSG_DATA(&file.header), &fd, sizeof(fd));
	require(sendmsg(to, &msg, 0) == sizeof(*told), "pass the device on");
}

static int receive_told(int from, struct told *told)
{
	struct iovec iov = { told, sizeof(*told) };
	union file file = {};
	struct msghdr msg = message(&iov, &file);
	int fd;

	require(recvmsg(from, &msg, 0) == sizeof(*told), "get the device");
	require(msg.msg_controllen == sizeof(file) && file.header.cmsg_type == SCM_RIGHTS,
		"its file is there");
	memcpy(&fd, CMSG_DATA(&file.header), sizeof(fd));
	return fd;
}

static void export_to(struct exporter *e, int socket)
{
	vp_open(&e->dev, 0);
	e->pd = ibv_alloc_pd(e->dev.ctx);
	require(e->pd, "allocate a PD");
	e->buf = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	require(e->buf != MAP_FAILED, "memory");
	e->mr = ibv_reg_mr(e->pd, e->buf, LEN, VP_ACCESS_ALL);
	require(e->mr, "register it");
	e->told = (struct told){
		.pd = e->pd->handle,
		.mr = e->mr->handle,
		.lkey = e->mr->lkey,
		.rkey = e->mr->rkey,
		.addr = (uintptr_t)e->buf,
		.pattern = opt.seed + 0x1e9057,
	};
	vp_fill(e->buf, LEN, e->told.pattern);
	send_told(socket, &e->told, e->dev.ctx->cmd_fd);
}

static void import_from(struct importer *i, int socket)
{
	static struct vp_conf conf;
	struct ibv_context *ctx;

	conf = vp_conf(IBV_QPT_RC);
	conf.len = LEN;
	ctx = ibv_import_device(receive_told(socket, &i->told));
	require(ctx, "import the device: %s", strerror(errno));
	vp_open_context(&i->dev, ctx);
	i->pd = ibv_import_pd(ctx, i->told.pd);
	require(i->pd, "import the PD: %s", strerror(errno));
	i->mr = ibv_import_mr(i->pd, i->told.mr);
	require(i->mr, "import the MR: %s", strerror(errno));
	check(i->mr->lkey == i->told.lkey && i->mr->rkey == i->told.rkey && i->mr->length == LEN,
	      "it has its keys and its length");
	vp_pair_make_on(&i->pair, &i->dev, i->pd, &i->dev, i->pd, &conf);
}

/* One operation between the buffer of the first end and what @remote and @rkey name. */
static void move(struct importer *i, enum ibv_wr_opcode opcode, uint64_t remote, uint32_t rkey)
{
	struct vp_wr w;

	vp_wr(&w, &i->pair.a, opcode, 0, LEN);
	w.wr.wr.rdma.remote_addr = remote;
	w.wr.wr.rdma.rkey = rkey;
	vp_send(&i->pair.a, &w.wr);
	vp_expect(&i->pair.a.scq, w.wr.wr_id, IBV_WC_SUCCESS, "an operation on the other's memory");
}

/* By its own queues in the other's PD: its own memory, and the other's by either key. */
static void use(struct importer *i)
{
	struct vp_end *a = &i->pair.a, *b = &i->pair.b;
	struct vp_wr w;

	vp_exchange(&i->pair, "in an imported PD");

	memset(a->buf, 0, LEN);
	move(i, IBV_WR_RDMA_READ, i->told.addr, i->mr->rkey);
	check(vp_differs(a->buf, LEN, i->told.pattern) < 0, "the other's memory is read");
	vp_fill(a->buf, LEN, i->told.pattern + 1);
	move(i, IBV_WR_RDMA_WRITE, i->told.addr, i->mr->rkey);

	memset(b->buf, 0, LEN);
	vp_wr(&w, a, IBV_WR_RDMA_WRITE, 0, LEN);
	w.sge[0].addr = i->told.addr;
	w.sge[0].lkey = i->mr->lkey;
	vp_send(a, &w.wr);
	vp_expect(&a->scq, w.wr.wr_id, IBV_WC_SUCCESS, "a write from the other's memory");
	check(vp_differs(b->buf, LEN, i->told.pattern + 1) < 0, "the other's memory is sent");
}

static void unimport(struct importer *i)
{
	vp_pair_free(&i->pair);
	ibv_unimport_mr(i->mr);
	ibv_unimport_pd(i->pd);
	vp_expect_no_async(&i->dev, "the imported device");
	vp_close(&i->dev);
}

static void make_sockets(int *sockets)
{
	require(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), "a socket");
}

static void wait_for(pid_t pid, const char *who)
{
	int status;

	require(waitpid(pid, &status, 0) == pid, "wait for the %s", who);
	require(WIFEXITED(status) && !WEXITSTATUS(status), "the %s did its part", who);
}

/* What it has exported is as before, but for what was written. */
static void exporter_goes_on(struct exporter *e)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct vp_pair pair;

	check(vp_differs(e->buf, LEN, e->told.pattern + 1) < 0,
	      "what the other has written is there");
	conf.len = LEN;
	vp_pair_make_on(&pair, &e->dev, e->pd, &e->dev, e->pd, &conf);
	vp_exchange(&pair, "in the PD that was exported");
	there_and_back(&pair.a, pair.a.buf, pair.a.mr, e->buf, (uintptr_t)e->buf, e->mr, LEN);
	vp_pair_free(&pair);
}

/* Another process imports it and does its part; then this one goes on. */
static void export_for(struct exporter *e, void (*part)(struct importer *))
{
	struct importer importer = {};
	int sockets[2];
	pid_t pid;

	make_sockets(sockets);
	pid = check_fork();
	if (!pid) {
		import_from(&importer, sockets[1]);
		part(&importer);
		check_end_case();
	}
	export_to(e, sockets[0]);
	wait_for(pid, "importer");
	exporter_goes_on(e);
}

static void use_and_unimport(struct importer *i)
{
	use(i);
	unimport(i);
}

/* The other has ended what it had: this one's PD and MR are free, and can be ended. */
static void importer_unimports(const void *arg)
{
	struct exporter e = {};

	(void)arg;
	export_for(&e, use_and_unimport);
	vp_expect_no_async(&e.dev, "the exported device");
	require(!ibv_dereg_mr(e.mr), "deregister");
	require(!ibv_dealloc_pd(e.pd), "nothing is left in the PD");
	vp_close(&e.dev);
}

/* The other ends and leaves its queues and memory, which are the context's. They go with that. */
static void importer_ends(const void *arg)
{
	struct exporter e = {};

	(void)arg;
	export_for(&e, use);
	check(ibv_dealloc_pd(e.pd) == EBUSY, "the other's queues are in the PD");
	vp_close(&e.dev);
}

/* Who has opened the device has ended before it is imported: its memory and its PD are there as long as the context. */
static void exporter_ends(const void *arg)
{
	int sockets[2], round;

	(void)arg;
	for (round = 0; round < 3; round++) {
		struct importer importer = {};
		struct exporter e = {};
		pid_t pid;

		make_sockets(sockets);
		pid = check_fork();
		if (!pid) {
			export_to(&e, sockets[0]);
			check_end_case();
		}
		wait_for(pid, "exporter");
		import_from(&importer, sockets[1]);
		use_and_unimport(&importer);
		close(sockets[0]);
		close(sockets[1]);
	}
}

static void import_what_is_not(struct importer *i)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	require(null >= 0, "a file that is no device");
	check(!ibv_import_device(null), "which is not imported");
	check(!ibv_import_pd(i->dev.ctx, 0x7fffff), "no PD of that handle");
	check(!ibv_import_pd(i->dev.ctx, i->told.mr), "an MR as a PD");
	check(!ibv_import_mr(i->pd, 0x7fffff), "no MR of that handle");
	check(!ibv_import_mr(i->pd, i->told.pd), "a PD as an MR");
	use_and_unimport(i);
}

/* What is not there cannot be imported, and what is there is as it was. */
static void refused(const void *arg)
{
	struct exporter e = {};

	(void)arg;
	export_for(&e, import_what_is_not);
	vp_close(&e.dev);
}

static const struct check_case cases[] = {
	CHECK_CASE("import-unimport", importer_unimports, "another process uses a PD and an MR"),
	CHECK_CASE("import-importer-ends", importer_ends, "it ends without a word"),
	CHECK_CASE("import-exporter-ends", exporter_ends, "their process has ended before"),
	CHECK_CASE("import-refused", refused, "what is not there is not imported"),
};

const struct check_table integrity_import = { .cases = cases, .count = ARRAY_SIZE(cases) };
