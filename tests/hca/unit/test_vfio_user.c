// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The vfio-user server against a client of our own; behind it an HCA that only notes accesses. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <linux/pci_regs.h>
#include <linux/vfio.h>

#include "dma.h"
#include "unit.h"
#include "vfio_user.h"
#include "vfio_user_msg.h"

static struct loop *loop;
static struct hca hca;
static struct vfio_user *server;
static int client;

static unsigned int resets, bar_writes;
static uint64_t last_off;
static uint8_t last_data[64];
static uint32_t last_len;

/* Doubles for the HCA. */
__attribute__((weak)) void hca_reset(struct hca *h)
{
	(void)h;
	resets++;
}

__attribute__((weak)) void hca_bar_read(struct hca *h, uint64_t off, void *buf, uint32_t len)
{
	(void)h;
	for (uint32_t i = 0; i < len; i++)
		((uint8_t *)buf)[i] = (uint8_t)(off + i);
}

__attribute__((weak)) void hca_bar_write(struct hca *h, uint64_t off, const void *buf, uint32_t len)
{
	(void)h;
	bar_writes++;
	last_off = off;
	last_len = len;
	memcpy(last_data, buf, len < sizeof(last_data) ? len : sizeof(last_data));
}

static void turns(void)
{
	for (int i = 0; i < 20; i++)
		loop_turn(loop, 0);
}

static void plug(void)
{
	int fds[2];

	REQUIRE_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	client = fds[0];
	REQUIRE_EQ(vfio_user_adopt(server, fds[1]), 0);
}

static void fresh(void)
{
	memset(&hca, 0, sizeof(hca));
	resets = bar_writes = 0;
	hca_log_level = -1; /* refusals are what is tested */
	loop = loop_new();
	REQUIRE(loop);
	hca.loop = loop;
	hca.dma = dma_space_new();
	REQUIRE(hca.dma);
	server = vfio_user_new(loop, &hca);
	REQUIRE(server);
	plug();
}

static void done(void)
{
	close(client);
	vfio_user_free(server);
	dma_space_free(hca.dma);
	loop_free(loop);
}

static void send_raw(const void *data, size_t len, const int *fds, unsigned int count)
{
	char control[CMSG_SPACE(64 * sizeof(int))] = "";
	struct iovec iov = { .iov_base = (void *)data, .iov_len = len };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (count) {
		struct cmsghdr *c;

		m.msg_control = control;
		m.msg_controllen = CMSG_SPACE(count * sizeof(int));
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(c), fds, count * sizeof(int));
	}
	REQUIRE_EQ(sendmsg(client, &m, MSG_NOSIGNAL), (ssize_t)len);
}

static uint8_t message[VFU_MAX_MESSAGE + 64];

static size_t compose(uint16_t command, uint32_t flags, const void *payload, uint32_t len)
{
	struct vfu_header h = { 77, command, (uint32_t)sizeof(h) + len, flags, 0 };

	memcpy(message, &h, sizeof(h));
	if (len)
		memcpy(message + sizeof(h), payload, len);
	return h.size;
}

/* The next reply: its payload goes to out; returns the error of it (positive), or -1 without one. */
static int reply(uint16_t command, void *out, uint32_t *len)
{
	struct vfu_header h;

	turns();
	if (recv(client, &h, sizeof(h), MSG_DONTWAIT) != sizeof(h))
		return -1;
	CHECK_EQ(h.id, 77);
	CHECK_EQ(h.command, command);
	CHECK(h.flags & VFU_FLAG_REPLY);
	CHECK_EQ(!(h.flags & VFU_FLAG_ERROR), !h.error);
	REQUIRE(h.size >= sizeof(h) && h.size - sizeof(h) <= sizeof(message));
	*len = h.size - (uint32_t)sizeof(h);
	if (*len)
		REQUIRE_EQ(recv(client, out, *len, MSG_WAITALL), *len);
	return (int)h.error;
}

static int call_fds(uint16_t command, void *payload, uint32_t len, const int *fds,
		    unsigned int count)
{
	static uint8_t out[VFU_MAX_MESSAGE];
	uint32_t out_len = 0;
	int err;

	send_raw(message, compose(command, 0, payload, len), fds, count);
	err = reply(command, out, &out_len);
	if (!err && out_len)
		memcpy(payload, out, out_len);
	return err;
}

static int call(uint16_t command, void *payload, uint32_t len)
{
	return call_fds(command, payload, len, NULL, 0);
}

static void hello(void)
{
	uint8_t buf[512] = { 0 };
	const char *text = "{\"capabilities\":{\"max_msg_fds\":8,\"write_multiple\":true}}";

	memcpy(buf + 4, text, strlen(text) + 1);
	REQUIRE_EQ(call(VFU_VERSION, buf, 4 + (uint32_t)strlen(text) + 1), 0);
	CHECK(!strcmp((char *)buf + 4,
		      "{\"capabilities\":{\"max_msg_fds\":16,\"write_multiple\":true}}"));
}

struct write8 {
	struct vfu_region_access access;
	uint8_t data[8];
};

static int region_write(uint32_t region, uint64_t off, const void *data, uint32_t len)
{
	struct write8 w = { { off, region, len }, { 0 } };

	memcpy(w.data, data, len);
	return call(VFU_REGION_WRITE, &w, sizeof(w.access) + len);
}

static uint32_t config_read(uint32_t off, uint32_t len)
{
	struct write8 r = { { off, VFIO_PCI_CONFIG_REGION_INDEX, len }, { 0 } };
	uint32_t v = 0;

	REQUIRE_EQ(call(VFU_REGION_READ, &r, sizeof(r.access)), 0);
	memcpy(&v, r.data, len);
	return v;
}

static void enable(void)
{
	uint16_t command = PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER;

	REQUIRE_EQ(region_write(VFIO_PCI_CONFIG_REGION_INDEX, PCI_COMMAND, &command, 2), 0);
}

static void enable_msix(uint16_t bits)
{
	REQUIRE_EQ(region_write(VFIO_PCI_CONFIG_REGION_INDEX, 0x9e, &bits, 2), 0);
}

static void gone(void)
{
	char c;

	turns();
	CHECK(!vfio_user_connected(server));
	CHECK(recv(client, &c, 1, MSG_DONTWAIT) <= 0);
}

static unsigned int open_fds(void)
{
	unsigned int n = 0;

	for (int i = 0; i < 256; i++)
		n += fcntl(i, F_GETFD) >= 0;
	return n;
}

TEST(version_comes_first_and_once)
{
	uint8_t v[4] = { 0 };

	fresh();
	hello();
	CHECK_EQ(call(VFU_VERSION, v, 4), -1);
	gone();
	close(client);
	plug();
	v[0] = 1; /* version 1.0 */
	CHECK_EQ(call(VFU_VERSION, v, 4), -1);
	gone();
	close(client);
	plug();
	CHECK_EQ(call(VFU_RESET, NULL, 0), -1);
	gone();
	done();
}

TEST(tells_of_the_device)
{
	uint32_t info[4] = { 16 };
	struct vfio_region_info region = { .argsz = sizeof(region), .index = 0 };
	struct vfio_irq_info irq = { .argsz = sizeof(irq), .index = VFIO_PCI_MSIX_IRQ_INDEX };
	struct vfu_region_io_fds io = { .argsz = sizeof(io) };

	fresh();
	hello();
	CHECK_EQ(call(VFU_GET_INFO, info, sizeof(info)), 0);
	CHECK_EQ(info[1], VFIO_DEVICE_FLAGS_PCI | VFIO_DEVICE_FLAGS_RESET);
	CHECK_EQ(info[2], VFIO_PCI_NUM_REGIONS);
	CHECK_EQ(info[3], VFIO_PCI_MSIX_IRQ_INDEX + 1);
	CHECK_EQ(call(VFU_GET_REGION_INFO, &region, sizeof(region)), 0);
	CHECK_EQ(region.size, HCA_BAR0_SIZE);
	CHECK_EQ(region.flags, VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE);
	region = (struct vfio_region_info){ .argsz = sizeof(region), .index = 1 };
	CHECK_EQ(call(VFU_GET_REGION_INFO, &region, sizeof(region)), 0);
	CHECK_EQ(region.size, 0);
	region = (struct vfio_region_info){ .argsz = sizeof(region), .index = 9 };
	CHECK_EQ(call(VFU_GET_REGION_INFO, &region, sizeof(region)), EINVAL);
	CHECK_EQ(call(VFU_GET_IRQ_INFO, &irq, sizeof(irq)), 0);
	CHECK_EQ(irq.count, HCA_MSIX_VECTORS);
	irq = (struct vfio_irq_info){ .argsz = sizeof(irq), .index = VFIO_PCI_ERR_IRQ_INDEX };
	CHECK_EQ(call(VFU_GET_IRQ_INFO, &irq, sizeof(irq)), EINVAL); /* QEMU warns at a count of 0 */
	irq = (struct vfio_irq_info){ .argsz = 12, .index = VFIO_PCI_MSIX_IRQ_INDEX };
	CHECK_EQ(call(VFU_GET_IRQ_INFO, &irq, sizeof(irq)), EINVAL);
	CHECK_EQ(call(VFU_GET_REGION_IO_FDS, &io, sizeof(io)), 0);
	CHECK_EQ(io.count, 0);
	CHECK_EQ(call(14 /* DIRTY_PAGES */, info, sizeof(info)), ENOTSUP);
	CHECK_EQ(call(16 /* DEVICE_FEATURE */, info, sizeof(info)), ENOTSUP);
	CHECK(vfio_user_connected(server));
	done();
}

TEST(the_bar_is_read_and_written)
{
	struct write8 r = { { 0x1000, VFIO_PCI_BAR0_REGION_INDEX, 8 }, { 0 } };
	uint8_t data[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

	fresh();
	hello();
	CHECK_EQ(region_write(VFIO_PCI_BAR0_REGION_INDEX, 0x10800, data, 8), 0);
	CHECK_EQ(bar_writes, 0); /* memory space is not enabled */
	CHECK_EQ(call(VFU_REGION_READ, &r, sizeof(r.access)), 0);
	CHECK_EQ(r.data[0], 0xff);
	enable();
	CHECK_EQ(region_write(VFIO_PCI_BAR0_REGION_INDEX, 0x10800, data, 8), 0);
	CHECK_EQ(bar_writes, 1);
	CHECK_EQ(last_off, 0x10800);
	CHECK(!memcmp(last_data, data, 8));
	r.access.offset = 0x1000;
	CHECK_EQ(call(VFU_REGION_READ, &r, sizeof(r.access)), 0);
	CHECK_EQ(r.data[7], 7);

	CHECK_EQ(region_write(VFIO_PCI_BAR0_REGION_INDEX, HCA_BAR0_SIZE - 4, data, 8), EINVAL);
	CHECK_EQ(region_write(VFIO_PCI_BAR0_REGION_INDEX, UINT64_MAX - 3, data, 8), EINVAL);
	CHECK_EQ(region_write(1, 0, data, 8), EINVAL);
	CHECK_EQ(region_write(77, 0, data, 8), EINVAL);
	r.access = (struct vfu_region_access){ 0, VFIO_PCI_BAR0_REGION_INDEX, VFU_MAX_DATA + 1 };
	CHECK_EQ(call(VFU_REGION_READ, &r, sizeof(r.access)), EINVAL);
	r.access.count = 0;
	CHECK_EQ(call(VFU_REGION_READ, &r, sizeof(r.access)), EINVAL);
	r.access.count = 4; /* but 8 bytes follow */
	CHECK_EQ(call(VFU_REGION_WRITE, &r, sizeof(r)), EINVAL);
	CHECK_EQ(bar_writes, 1);
	done();
}

TEST(posted_writes_come_many_at_once)
{
	static uint8_t stream[400 * 40];
	struct write8 w = { { 0x10800, VFIO_PCI_BAR0_REGION_INDEX, 8 }, { 0 } };
	size_t len = 0;

	fresh();
	hello();
	enable();
	for (unsigned int i = 0; i < 400; i++) {
		w.data[0] = (uint8_t)i;
		compose(VFU_REGION_WRITE, VFU_FLAG_NO_REPLY, &w, sizeof(w));
		memcpy(stream + len, message, 40);
		len += 40;
	}
	send_raw(stream, len, NULL, 0);
	CHECK_EQ(loop_turn(loop, 0), 1);
	CHECK_EQ(bar_writes, 400);
	CHECK_EQ(last_data[0], (uint8_t)399);
	turns();
	CHECK(recv(client, stream, 1, MSG_DONTWAIT) < 0); /* no reply */

	bar_writes = 0;
	for (size_t i = 0; i < 80; i++) { /* byte by byte */
		send_raw(stream + i, 1, NULL, 0);
		loop_turn(loop, 0);
	}
	CHECK_EQ(bar_writes, 2);
	done();
}

TEST(multiple_writes_are_all_or_nothing)
{
	struct {
		uint64_t count;
		struct vfu_multi_write w[3];
	} m = { 3, { { 0x10800, 0, 8, { 1 } }, { 0x10900, 0, 4, { 2 } }, { 0x10a00, 0, 8, { 3 } } } };

	fresh();
	hello();
	enable();
	CHECK_EQ(call(VFU_REGION_WRITE_MULTI, &m, sizeof(m)), 0);
	CHECK_EQ(bar_writes, 3);
	CHECK_EQ(last_off, 0x10a00);
	m.count = 3;
	m.w[2].count = 9;
	CHECK_EQ(call(VFU_REGION_WRITE_MULTI, &m, sizeof(m)), EINVAL);
	m.w[2].count = 8;
	m.count = 4;
	CHECK_EQ(call(VFU_REGION_WRITE_MULTI, &m, sizeof(m)), EINVAL);
	m.count = UINT64_MAX / 24 + 2;
	CHECK_EQ(call(VFU_REGION_WRITE_MULTI, &m, sizeof(m)), EINVAL);
	CHECK_EQ(bar_writes, 3);
	done();
}

TEST(memory_is_mapped_and_goes_with_the_machine)
{
	struct vfu_dma_map map = { 32, 3, 0x1000, 0x100000, 0x2000 };
	struct vfu_dma_unmap unmap = { 24, 0, 0x100000, 0x2000 };
	unsigned int before, during;
	int fd = memfd_create("ram", MFD_CLOEXEC);
	uint32_t v = 7;

	REQUIRE(fd >= 0);
	REQUIRE_EQ(ftruncate(fd, 0x10000), 0);
	fresh();
	hello();
	before = open_fds();
	CHECK_EQ(call_fds(VFU_DMA_MAP, &map, sizeof(map), &fd, 1), 0);
	CHECK_EQ(dma_read(hca.dma, 0x100000, &v, 4), -EFAULT); /* not a bus master */
	enable();
	CHECK_EQ(dma_read(hca.dma, 0x100000, &v, 4), 0);
	CHECK_EQ(v, 0);
	CHECK_EQ(call_fds(VFU_DMA_MAP, &map, sizeof(map), &fd, 1), EEXIST);
	map.flags = 8;
	CHECK_EQ(call_fds(VFU_DMA_MAP, &map, sizeof(map), &fd, 1), EINVAL);
	map = (struct vfu_dma_map){ 32, 3, 0, 0x800000, 0x20000 };
	CHECK_EQ(call_fds(VFU_DMA_MAP, &map, sizeof(map), &fd, 1), EINVAL); /* beyond the file */
	CHECK_EQ(call(VFU_DMA_MAP, &map, sizeof(map)), 0);		     /* no memory behind it */
	during = open_fds();
	CHECK_EQ(before, during);

	CHECK_EQ(call(VFU_DMA_UNMAP, &unmap, sizeof(unmap)), 0);
	CHECK_EQ(unmap.size, 0x2000);
	CHECK_EQ(dma_read(hca.dma, 0x100000, &v, 4), -EFAULT);
	CHECK_EQ(call(VFU_DMA_UNMAP, &unmap, sizeof(unmap)), 0);
	unmap = (struct vfu_dma_unmap){ 24, VFIO_DMA_UNMAP_FLAG_ALL, 0x1000, 0 };
	CHECK_EQ(call(VFU_DMA_UNMAP, &unmap, sizeof(unmap)), EINVAL);
	map = (struct vfu_dma_map){ 32, 3, 0, 0x100000, 0x10000 };
	CHECK_EQ(call_fds(VFU_DMA_MAP, &map, sizeof(map), &fd, 1), 0);
	CHECK_EQ(dma_read(hca.dma, 0x100000, &v, 4), 0);

	resets = 0;
	close(client);
	turns();
	CHECK_EQ(resets, 1);
	CHECK(!vfio_user_connected(server));
	dma_enable(hca.dma, true);
	CHECK_EQ(dma_read(hca.dma, 0x100000, &v, 4), -EFAULT);
	plug();
	hello();
	CHECK_EQ(config_read(PCI_COMMAND, 2), 0);
	close(fd);
	done();
}

static struct {
	uint32_t argsz, flags, index, start, count;
	uint8_t data[40];
} irqs;

static int set_irqs(uint32_t flags, uint32_t index, uint32_t start, uint32_t count,
		    const int *fds, unsigned int fd_count, uint32_t data_len)
{
	irqs.argsz = 20 + data_len;
	irqs.flags = flags;
	irqs.index = index;
	irqs.start = start;
	irqs.count = count;
	return call_fds(VFU_SET_IRQS, &irqs, 20 + data_len, fds, fd_count);
}

#define TRIGGER_FDS (VFIO_IRQ_SET_ACTION_TRIGGER | VFIO_IRQ_SET_DATA_EVENTFD)
#define TRIGGER (VFIO_IRQ_SET_ACTION_TRIGGER | VFIO_IRQ_SET_DATA_NONE)
#define MASK (VFIO_IRQ_SET_ACTION_MASK | VFIO_IRQ_SET_DATA_NONE)
#define UNMASK (VFIO_IRQ_SET_ACTION_UNMASK | VFIO_IRQ_SET_DATA_NONE)
#define MSIX VFIO_PCI_MSIX_IRQ_INDEX

static uint64_t count_of(int fd)
{
	uint64_t v = 0;

	return read(fd, &v, sizeof(v)) == sizeof(v) ? v : 0;
}

TEST(vectors_signal_their_eventfds)
{
	unsigned int before;
	int fds[4];

	fresh();
	hello();
	enable();
	before = open_fds();
	for (int i = 0; i < 4; i++)
		fds[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	CHECK_EQ(set_irqs(TRIGGER_FDS, MSIX, 2, 4, fds, 4, 0), 0);
	hca.msix(&hca, 2);
	CHECK_EQ(count_of(fds[0]), 0); /* not enabled */
	enable_msix(PCI_MSIX_FLAGS_ENABLE);
	hca.msix(&hca, 2);
	hca.msix(&hca, 3);
	hca.msix(&hca, 3);
	hca.msix(&hca, 9);
	hca.msix(&hca, 99);
	CHECK_EQ(count_of(fds[0]), 1);
	CHECK_EQ(count_of(fds[1]), 2);
	CHECK_EQ(hca.stats.interrupts, 3);

	CHECK_EQ(set_irqs(MASK, MSIX, 3, 1, NULL, 0, 0), 0);
	hca.msix(&hca, 3);
	CHECK_EQ(count_of(fds[1]), 0);
	{
		struct write8 pba = { { HCA_MSIX_PBA, VFIO_PCI_BAR0_REGION_INDEX, 8 }, { 0 } };

		CHECK_EQ(call(VFU_REGION_READ, &pba, sizeof(pba.access)), 0);
		CHECK_EQ(pba.data[0], 1 << 3);
		CHECK_EQ(pba.data[1], 0);
	}
	CHECK_EQ(set_irqs(UNMASK, MSIX, 3, 1, NULL, 0, 0), 0);
	CHECK_EQ(count_of(fds[1]), 1);

	enable_msix(PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL);
	hca.msix(&hca, 4);
	CHECK_EQ(count_of(fds[2]), 0);
	enable_msix(PCI_MSIX_FLAGS_ENABLE);
	CHECK_EQ(count_of(fds[2]), 1);

	CHECK_EQ(set_irqs(TRIGGER, MSIX, 5, 1, NULL, 0, 0), 0);
	CHECK_EQ(count_of(fds[3]), 1);
	irqs.data[0] = 0;
	irqs.data[1] = 1;
	CHECK_EQ(set_irqs(VFIO_IRQ_SET_ACTION_TRIGGER | VFIO_IRQ_SET_DATA_BOOL, MSIX, 4, 2, NULL, 0,
			  2), 0);
	CHECK_EQ(count_of(fds[2]), 0);
	CHECK_EQ(count_of(fds[3]), 1);

	CHECK_EQ(set_irqs(TRIGGER_FDS, MSIX, 2, 1, NULL, 0, 0), 0); /* let go */
	hca.msix(&hca, 2);
	CHECK_EQ(count_of(fds[0]), 0);
	CHECK_EQ(set_irqs(TRIGGER, MSIX, 0, 0, NULL, 0, 0), 0); /* all of them */
	hca.msix(&hca, 3);
	CHECK_EQ(count_of(fds[1]), 0);
	for (int i = 0; i < 4; i++)
		close(fds[i]);
	CHECK_EQ(open_fds(), before);
	done();
}

TEST(bad_irq_sets_are_refused)
{
	unsigned int before;
	int fds[2];

	fresh();
	hello();
	before = open_fds();
	fds[0] = eventfd(0, EFD_NONBLOCK);
	fds[1] = eventfd(0, EFD_NONBLOCK);
	CHECK_EQ(set_irqs(TRIGGER_FDS, MSIX, HCA_MSIX_VECTORS - 1, 2, fds, 2, 0), EINVAL);
	CHECK_EQ(set_irqs(TRIGGER_FDS, MSIX, UINT32_MAX, 2, fds, 2, 0), EINVAL);
	CHECK_EQ(set_irqs(TRIGGER_FDS, MSIX, 0, 3, fds, 2, 0), EINVAL);
	CHECK_EQ(set_irqs(TRIGGER_FDS, VFIO_PCI_INTX_IRQ_INDEX, 0, 1, fds, 1, 0), EINVAL);
	CHECK_EQ(set_irqs(TRIGGER_FDS, 99, 0, 1, fds, 1, 0), EINVAL);
	CHECK_EQ(set_irqs(TRIGGER, MSIX, 0, 1, fds, 1, 0), EINVAL);
	CHECK_EQ(set_irqs(TRIGGER | VFIO_IRQ_SET_ACTION_MASK, MSIX, 0, 1, NULL, 0, 0), EINVAL);
	CHECK_EQ(set_irqs(VFIO_IRQ_SET_ACTION_MASK | VFIO_IRQ_SET_DATA_EVENTFD, MSIX, 0, 1, fds, 1,
			  0), EINVAL);
	CHECK_EQ(set_irqs(TRIGGER, MSIX, 0, 1, NULL, 0, 1), EINVAL);
	CHECK_EQ(set_irqs(1 << 20, MSIX, 0, 1, NULL, 0, 0), EINVAL);
	CHECK_EQ(set_irqs(TRIGGER, VFIO_PCI_INTX_IRQ_INDEX, 0, 0, NULL, 0, 0), 0);
	close(fds[0]);
	close(fds[1]);
	CHECK_EQ(open_fds(), before);
	done();
}

TEST(a_blocking_descriptor_cannot_stall_interrupts)
{
	int fd;

	fresh();
	hello();
	enable();
	enable_msix(PCI_MSIX_FLAGS_ENABLE);
	fd = eventfd(0, 0);
	CHECK_EQ(set_irqs(TRIGGER_FDS, MSIX, 0, 1, &fd, 1, 0), 0);
	{
		uint64_t full = UINT64_MAX - 1;

		CHECK_EQ(write(fd, &full, 8), 8);
	}
	hca.msix(&hca, 0);
	close(fd);
	done();
}

TEST(descriptors_go_to_their_message)
{
	static uint8_t stream[256];
	struct write8 w = { { 0x10800, VFIO_PCI_BAR0_REGION_INDEX, 8 }, { 0 } };
	struct vfu_dma_map map = { 32, 3, 0, 0x100000, 0x1000 };
	uint8_t out[64];
	uint32_t len, v;
	size_t n;
	int fd = memfd_create("ram", MFD_CLOEXEC);

	REQUIRE_EQ(ftruncate(fd, 0x1000), 0);
	fresh();
	hello();
	enable();
	/* Three posted writes, then a map with its descriptor: one read takes all. */
	compose(VFU_REGION_WRITE, VFU_FLAG_NO_REPLY, &w, sizeof(w));
	for (int i = 0; i < 3; i++)
		send_raw(message, 40, NULL, 0);
	send_raw(message, compose(VFU_DMA_MAP, 0, &map, sizeof(map)), &fd, 1);
	CHECK_EQ(reply(VFU_DMA_MAP, out, &len), 0);
	CHECK_EQ(bar_writes, 3);
	CHECK_EQ(dma_read(hca.dma, 0x100000, &v, 4), 0);

	/* A map in pieces, with the descriptor on the first; behind it another message. */
	map.address = 0x200000;
	n = compose(VFU_DMA_MAP, 0, &map, sizeof(map));
	memcpy(stream, message, n);
	send_raw(stream, 5, &fd, 1);
	turns();
	send_raw(stream + 5, 20, NULL, 0);
	turns();
	n -= 25;
	memmove(stream, stream + 25, n);
	compose(VFU_REGION_WRITE, VFU_FLAG_NO_REPLY, &w, sizeof(w));
	memcpy(stream + n, message, 40);
	send_raw(stream, n + 40, NULL, 0);
	CHECK_EQ(reply(VFU_DMA_MAP, out, &len), 0);
	CHECK_EQ(bar_writes, 4);
	CHECK_EQ(dma_read(hca.dma, 0x200000, &v, 4), 0);

	/* On a message that takes none: refused, and closed. */
	v = open_fds();
	{
		uint32_t info[4] = { 16 };

		CHECK_EQ(call_fds(VFU_GET_INFO, info, sizeof(info), &fd, 1), EINVAL);
	}
	CHECK_EQ(open_fds(), v);
	close(fd);
	done();
}

TEST(too_many_descriptors_end_it)
{
	unsigned int before;
	int fds[VFU_MAX_FDS + 1];

	fresh();
	hello();
	before = open_fds();
	for (unsigned int i = 0; i <= VFU_MAX_FDS; i++)
		fds[i] = eventfd(0, 0);
	irqs.argsz = 20;
	irqs.flags = TRIGGER_FDS;
	irqs.index = MSIX;
	irqs.start = 0;
	irqs.count = VFU_MAX_FDS + 1;
	send_raw(message, compose(VFU_SET_IRQS, 0, &irqs, 20), fds, VFU_MAX_FDS + 1);
	gone();
	for (unsigned int i = 0; i <= VFU_MAX_FDS; i++)
		close(fds[i]);
	CHECK_EQ(open_fds(), before - 1); /* the connection */
	done();
}

TEST(garbage_ends_it)
{
	static const struct vfu_header bad[] = {
		{ 1, VFU_RESET, 15, 0, 0 },
		{ 1, VFU_RESET, 0, 0, 0 },
		{ 1, VFU_RESET, VFU_MAX_MESSAGE + 1, 0, 0 },
		{ 1, VFU_RESET, UINT32_MAX, 0, 0 },
		{ 1, VFU_RESET, 16, VFU_FLAG_REPLY, 0 },
		{ 1, VFU_RESET, 16, 0x40, 0 },
	};

	fresh();
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		hello();
		resets = 0;
		send_raw(&bad[i], sizeof(bad[i]), NULL, 0);
		gone();
		CHECK_EQ(resets, 1);
		close(client);
		plug();
	}
	hello();
	done();
}

TEST(a_client_that_does_not_read_holds_up_only_itself)
{
	struct vfu_region_access r = { 0, VFIO_PCI_BAR0_REGION_INDEX, VFU_MAX_DATA };
	size_t got = 0, expected, n;
	unsigned int sent = 0;
	static uint8_t sink[VFU_MAX_MESSAGE];

	fresh();
	hello();
	enable();
	n = compose(VFU_REGION_READ, 0, &r, sizeof(r));
	while (sent < 5000 && send(client, message, n, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)n) {
		sent++;
		loop_turn(loop, 0);
	}
	CHECK_EQ(loop_turn(loop, 0), 0); /* at rest, not spinning */
	CHECK(vfio_user_connected(server));
	expected = (size_t)sent * (16 + 16 + VFU_MAX_DATA);
	while (got < expected) {
		ssize_t k = recv(client, sink, sizeof(sink), MSG_DONTWAIT);

		if (k > 0)
			got += (size_t)k;
		else
			REQUIRE(loop_turn(loop, 100) > 0);
	}
	CHECK_EQ(got, expected);
	done();
}

TEST(reset_and_flr)
{
	uint16_t devctl = PCI_EXP_DEVCTL_BCR_FLR;

	fresh();
	hello();
	enable();
	resets = 0;
	CHECK_EQ(call(VFU_RESET, NULL, 0), 0);
	CHECK_EQ(resets, 1);
	CHECK_EQ(config_read(PCI_COMMAND, 2), 0);
	enable();
	CHECK_EQ(config_read(PCI_COMMAND, 2), PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	CHECK_EQ(region_write(VFIO_PCI_CONFIG_REGION_INDEX, 0x68, &devctl, 2), 0);
	CHECK_EQ(resets, 2);
	CHECK_EQ(config_read(PCI_COMMAND, 2), 0);
	CHECK_EQ(config_read(0x68, 2) & PCI_EXP_DEVCTL_BCR_FLR, 0);
	done();
}

static int dial(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	strcpy(addr.sun_path, path);
	REQUIRE_EQ(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

TEST(one_machine_at_a_time)
{
	char path[64], c;
	int second, third;

	snprintf(path, sizeof(path), "/tmp/test-vfio-user-%d", (int)getpid());
	fresh();
	close(client);
	turns();
	CHECK_EQ(vfio_user_listen(server, path), 0);
	CHECK_EQ(vfio_user_listen(server, path), -EBUSY);
	client = dial(path);
	turns();
	hello();
	second = dial(path);
	turns();
	CHECK_EQ(recv(second, &c, 1, MSG_DONTWAIT), 0); /* turned away */
	CHECK(vfio_user_connected(server));
	close(second);

	/* The first goes and the next comes before anyone looks. */
	third = dial(path);
	close(client);
	client = third;
	turns();
	hello();
	vfio_user_free(server);
	CHECK(access(path, F_OK));
	server = vfio_user_new(loop, &hca);
	done();
}
