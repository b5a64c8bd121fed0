// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The vfio-user server: connections, messages, and the descriptors that come with them. */
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/un.h>

#include "vfio_client.h"

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
	CHECK_EQ(call(VFU_GET_IRQ_INFO, &irq, sizeof(irq)),
		 EINVAL); /* QEMU warns at a count of 0 */
	irq = (struct vfio_irq_info){ .argsz = 12, .index = VFIO_PCI_MSIX_IRQ_INDEX };
	CHECK_EQ(call(VFU_GET_IRQ_INFO, &irq, sizeof(irq)), EINVAL);
	CHECK_EQ(call(VFU_GET_REGION_IO_FDS, &io, sizeof(io)), 0);
	CHECK_EQ(io.count, 0);
	CHECK_EQ(call(14 /* DIRTY_PAGES */, info, sizeof(info)), ENOTSUP);
	CHECK_EQ(call(16 /* DEVICE_FEATURE */, info, sizeof(info)), ENOTSUP);
	CHECK(vfio_user_connected(server));
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
	struct {
		uint32_t argsz, flags, index, start, count;
	} irqs = { sizeof(irqs), VFIO_IRQ_SET_ACTION_TRIGGER | VFIO_IRQ_SET_DATA_EVENTFD,
		   VFIO_PCI_MSIX_IRQ_INDEX, 0, VFU_MAX_FDS + 1 };
	unsigned int before;
	int fds[VFU_MAX_FDS + 1];

	fresh();
	hello();
	before = open_fds();
	for (unsigned int i = 0; i <= VFU_MAX_FDS; i++)
		fds[i] = eventfd(0, 0);
	send_raw(message, compose(VFU_SET_IRQS, 0, &irqs, sizeof(irqs)), fds, VFU_MAX_FDS + 1);
	gone();
	for (unsigned int i = 0; i <= VFU_MAX_FDS; i++)
		close(fds[i]);
	CHECK_EQ(open_fds(), before - 1); /* the connection */
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
	char dir[] = "/tmp/test-vfio-user-XXXXXX", path[64], c;
	int second, third;

	REQUIRE(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/socket", dir);
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
	CHECK_EQ(rmdir(dir), 0); /* it is empty again */
	server = vfio_user_new(loop, &hca);
	done();
}
