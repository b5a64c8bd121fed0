// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vfio-user messages into the server, over a socket pair with real descriptors. Behind it is an
 * HCA that only takes note: what accesses to it may do has fuzzers of its own.
 *
 * An input is a list of steps, each led by a byte: raw bytes for the stream, or a message whose
 * framing is right, with or without descriptors.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bus/dma.h"
#include "bus/vfio_user.h"
#include "bus/vfio_user_msg.h"

#define RAM_SIZE 0x10000
#define STEPS_MAX 64

static struct loop *loop;
static struct hca hca;
static struct vfio_user *server;
static int ram, event;

__attribute__((weak)) void hca_reset(struct hca *h)
{
	h->bar.nic_interface = 0;
}

__attribute__((weak)) void hca_bar_read(struct hca *h, uint64_t off, void *buf, uint32_t len)
{
	if (off >= HCA_BAR0_SIZE || len > HCA_BAR0_SIZE - off)
		abort();
	memset(buf, h->index, len);
}

/* Touches what it is given, raises vectors, and uses the memory that is mapped. */
__attribute__((weak)) void hca_bar_write(struct hca *h, uint64_t off, const void *buf, uint32_t len)
{
	uint64_t sum = 0;

	if (off >= HCA_BAR0_SIZE || len > HCA_BAR0_SIZE - off)
		abort();
	for (uint32_t i = 0; i < len; i++)
		sum = sum * 31 + ((const uint8_t *)buf)[i];
	h->msix(h, (unsigned int)sum % 40);
	if (!dma_read(h->dma, sum & 0xfffff, &sum, sizeof(sum)))
		dma_write(h->dma, sum & 0xfffff, &sum, sizeof(sum));
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	hca_log_level = -1;
	loop = loop_new();
	hca.loop = loop;
	hca.dma = dma_space_new();
	server = vfio_user_new(loop, &hca);
	ram = memfd_create("ram", MFD_CLOEXEC);
	event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (!server || ram < 0 || event < 0 || ftruncate(ram, RAM_SIZE))
		abort();
	return 0;
}

struct input {
	const uint8_t *data;
	size_t len;
};

static uint8_t take(struct input *in)
{
	if (!in->len)
		return 0;
	in->len--;
	return *in->data++;
}

static void send_with_fds(int fd, const void *data, size_t len, unsigned int fds)
{
	char control[CMSG_SPACE(32 * sizeof(int))] = "";
	struct iovec iov = { .iov_base = (void *)data, .iov_len = len };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fds) {
		struct cmsghdr *c;
		int list[32];

		for (unsigned int i = 0; i < fds; i++)
			list[i] = fds == 1 ? ram : event;
		m.msg_control = control;
		m.msg_controllen = CMSG_SPACE(fds * sizeof(int));
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(fds * sizeof(int));
		memcpy(CMSG_DATA(c), list, fds * sizeof(int));
	}
	if (sendmsg(fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return; /* full, or closed by the server: both are fine */
}

/* A message with a right header; how long its payload is, and what is in it, the input says. */
static void send_message(int fd, struct input *in, unsigned int fds)
{
	struct vfu_header h = { .id = 1, .command = take(in) % 20 };
	uint8_t buf[sizeof(h) + 512];
	size_t len = (size_t)take(in) * 2;

	if (len > in->len)
		len = in->len;
	h.size = (uint32_t)(sizeof(h) + len);
	h.flags = h.command & 1 ? 0 : VFU_FLAG_NO_REPLY;
	memcpy(buf, &h, sizeof(h));
	memcpy(buf + sizeof(h), in->data, len);
	in->data += len;
	in->len -= len;
	send_with_fds(fd, buf, sizeof(h) + len, fds);
}

/* A register access that is mostly right: most of an input would be refused at its bounds otherwise. */
static void send_access(int fd, struct input *in)
{
	struct {
		struct vfu_header h;
		struct vfu_region_access a;
		uint8_t data[8];
	} m = { .h = { 1, VFU_REGION_WRITE, sizeof(m), 0, 0 }, .a = { .count = 8 } };

	if (take(in) & 1) {
		m.a.region = 7;
		m.a.offset = take(in);
	} else {
		m.a.offset = (uint64_t)take(in) << 17 | take(in) << 4;
	}
	for (unsigned int i = 0; i < 8; i++)
		m.data[i] = take(in);
	send_with_fds(fd, &m, sizeof(m), 0);
}

/* Memory that comes and goes, sizes and places mostly right. */
static void send_map(int fd, struct input *in)
{
	uint8_t what = take(in);
	struct {
		struct vfu_header h;
		union {
			struct vfu_dma_map map;
			struct vfu_dma_unmap unmap;
		} u;
	} m = { .h = { 1, VFU_DMA_MAP, sizeof(m.h) + sizeof(m.u.map), 0, 0 } };

	if (what & 1) {
		m.u.map = (struct vfu_dma_map){ sizeof(m.u.map), 1 + what % 4,
						(uint64_t)(take(in) & 0xf) << 12,
						(uint64_t)take(in) << 12,
						(uint64_t)(take(in) & 0xf) << 12 };
	} else {
		m.h.command = VFU_DMA_UNMAP;
		m.h.size = sizeof(m.h) + sizeof(m.u.unmap);
		m.u.unmap = (struct vfu_dma_unmap){ sizeof(m.u.unmap), what >> 1 & 3,
						    (uint64_t)take(in) << 12,
						    (uint64_t)take(in) << 12 };
	}
	send_with_fds(fd, &m, m.h.size, what >> 3 & 1);
}

static void send_irqs(int fd, struct input *in)
{
	struct {
		struct vfu_header h;
		uint32_t argsz, flags, index, start, count;
	} m = { .h = { 1, VFU_SET_IRQS, sizeof(m), 0, 0 }, .argsz = 20, .index = 2 };
	uint8_t flags = take(in);

	m.flags = (1u << flags % 3) | (8u << (flags >> 2) % 3);
	m.start = take(in) % 36;
	m.count = take(in) % 18;
	send_with_fds(fd, &m, sizeof(m), m.flags & 4 && !(flags >> 7) ? m.count : 0);
}

static void send_raw(int fd, struct input *in)
{
	size_t len = take(in);

	if (len > in->len)
		len = in->len;
	send_with_fds(fd, in->data, len, 0);
	in->data += len;
	in->len -= len;
}

static void drain(int fd)
{
	static uint8_t sink[VFU_MAX_MESSAGE];

	while (recv(fd, sink, sizeof(sink), MSG_DONTWAIT) > 0)
		loop_turn(loop, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct {
		struct vfu_header h;
		struct vfu_version v;
	} __attribute__((packed)) hello = { { 1, VFU_VERSION, 20, 0, 0 }, { 0, 0 } };
	struct input in = { data, len };
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds))
		abort();
	if (vfio_user_adopt(server, fds[1]))
		abort();
	if (take(&in) & 7)
		send_with_fds(fds[0], &hello, sizeof(hello), 0);
	for (unsigned int steps = 0; in.len && steps < STEPS_MAX; steps++) {
		uint8_t step = take(&in);

		if (step < 32)
			send_raw(fds[0], &in);
		else if (step < 96)
			send_access(fds[0], &in);
		else if (step < 128)
			send_map(fds[0], &in);
		else if (step < 144)
			send_irqs(fds[0], &in);
		else if (step < 192)
			send_message(fds[0], &in, step & 1);
		else
			send_message(fds[0], &in, step % 20);
		if (step & 2) {
			loop_turn(loop, 0);
			drain(fds[0]);
		}
	}
	for (unsigned int i = 0; i < 8; i++) {
		loop_turn(loop, 0);
		drain(fds[0]);
	}
	close(fds[0]);
	/* Who looks at /proc/PID/fd, as other tests do meanwhile, keeps it open for a moment. */
	for (unsigned int i = 0; i < 8 && vfio_user_connected(server); i++)
		loop_turn(loop, 1000);
	if (vfio_user_connected(server))
		abort(); /* it did not notice */
	return 0;
}
