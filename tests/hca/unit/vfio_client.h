/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * For tests of the vfio-user server: a client of our own in the place of QEMU, and behind the
 * server an HCA that only notes accesses.
 */
#ifndef HCA_VFIO_CLIENT_H
#define HCA_VFIO_CLIENT_H

#include <fcntl.h>
#include <sys/socket.h>

#include <linux/pci_regs.h>
#include <linux/vfio.h>

#include "bus/dma.h"
#include "bus/vfio_user.h"
#include "bus/vfio_user_msg.h"
#include "unit.h"

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

static inline void turns(void)
{
	for (int i = 0; i < 20; i++)
		loop_turn(loop, 0);
}

static inline void plug(void)
{
	int fds[2];

	REQUIRE_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	client = fds[0];
	REQUIRE_EQ(vfio_user_adopt(server, fds[1]), 0);
}

static inline void fresh(void)
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

static inline void done(void)
{
	close(client);
	vfio_user_free(server);
	dma_space_free(hca.dma);
	loop_free(loop);
}

static inline void send_raw(const void *data, size_t len, const int *fds, unsigned int count)
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

static inline size_t compose(uint16_t command, uint32_t flags, const void *payload, uint32_t len)
{
	struct vfu_header h = { 77, command, (uint32_t)sizeof(h) + len, flags, 0 };

	memcpy(message, &h, sizeof(h));
	if (len)
		memcpy(message + sizeof(h), payload, len);
	return h.size;
}

/* The next reply: its payload goes to out; returns the error of it (positive), or -1 without one. */
static inline int reply(uint16_t command, void *out, uint32_t *len)
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

static inline int call_fds(uint16_t command, void *payload, uint32_t len, const int *fds,
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

static inline int call(uint16_t command, void *payload, uint32_t len)
{
	return call_fds(command, payload, len, NULL, 0);
}

static inline void hello(void)
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

static inline int region_write(uint32_t region, uint64_t off, const void *data, uint32_t len)
{
	struct write8 w = { { off, region, len }, { 0 } };

	memcpy(w.data, data, len);
	return call(VFU_REGION_WRITE, &w, sizeof(w.access) + len);
}

static inline uint32_t config_read(uint32_t off, uint32_t len)
{
	struct write8 r = { { off, VFIO_PCI_CONFIG_REGION_INDEX, len }, { 0 } };
	uint32_t v = 0;

	REQUIRE_EQ(call(VFU_REGION_READ, &r, sizeof(r.access)), 0);
	memcpy(&v, r.data, len);
	return v;
}

static inline void enable(void)
{
	uint16_t command = PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER;

	REQUIRE_EQ(region_write(VFIO_PCI_CONFIG_REGION_INDEX, PCI_COMMAND, &command, 2), 0);
}

static inline void enable_msix(uint16_t bits)
{
	REQUIRE_EQ(region_write(VFIO_PCI_CONFIG_REGION_INDEX, 0x9e, &bits, 2), 0);
}

static inline void gone(void)
{
	char c;

	turns();
	CHECK(!vfio_user_connected(server));
	CHECK(recv(client, &c, 1, MSG_DONTWAIT) <= 0);
}

static inline unsigned int open_fds(void)
{
	unsigned int n = 0;

	for (int i = 0; i < 256; i++)
		n += fcntl(i, F_GETFD) >= 0;
	return n;
}

#endif
