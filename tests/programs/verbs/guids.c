// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * guids DEVICE [INDEX GUID]: asks the subnet's SA for the GUIDs of a port (GUIDInfoRecord, IBTA vol. 1,
 * 15.2.5.18), or to give it another one, and prints the eight of the first block.
 */
#include <endian.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad.h>

#define MAD_LEN 256
#define CLASS_SA 3
#define CLASS_VERSION 2
#define ATTR_GUID_INFO_RECORD 0x30
#define QKEY_QP1 0x80010000u
#define TIMEOUT_MS 1000
#define RETRIES 10
#define GUIDS 8u

enum { METHOD_GET = 0x01, METHOD_SET = 0x02 };
enum { MASK_LID = 1, MASK_BLOCK = 2, MASK_GUID = 16 };
/* Offsets in the MAD: its header, the component mask of the SA, and the record. */
enum {
	OFF_METHOD = 3,
	OFF_STATUS = 4,
	OFF_TID = 8,
	OFF_ATTR = 16,
	OFF_MASK = 48,
	OFF_LID = 56,
	OFF_GUIDS = 64
};

static int fail(const char *what)
{
	fprintf(stderr, "guids: %s\n", what);
	exit(1);
}

static void put16(uint8_t *at, uint16_t value)
{
	value = htobe16(value);
	memcpy(at, &value, sizeof(value));
}

static void put64(uint8_t *at, uint64_t value)
{
	value = htobe64(value);
	memcpy(at, &value, sizeof(value));
}

static uint64_t get64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return be64toh(value);
}

static void request(uint8_t *mad, uint16_t lid, unsigned int index, uint64_t guid)
{
	uint64_t mask = MASK_LID | MASK_BLOCK;

	memset(mad, 0, MAD_LEN);
	mad[0] = 1;
	mad[1] = CLASS_SA;
	mad[2] = CLASS_VERSION;
	mad[OFF_METHOD] = index ? METHOD_SET : METHOD_GET;
	put64(mad + OFF_TID, 1);
	put16(mad + OFF_ATTR, ATTR_GUID_INFO_RECORD);
	put16(mad + OFF_LID, lid);
	if (index) {
		mask |= (uint64_t)MASK_GUID << index;
		put64(mad + OFF_GUIDS + 8 * index, guid);
	}
	put64(mad + OFF_MASK, mask);
}

static void print_response(const uint8_t *mad)
{
	if (mad[OFF_STATUS] || mad[OFF_STATUS + 1]) {
		fprintf(stderr, "guids: the SA answers with status 0x%02x%02x\n", mad[OFF_STATUS],
			mad[OFF_STATUS + 1]);
		exit(1);
	}
	for (unsigned int i = 0; i < GUIDS; i++)
		printf("%u: %016" PRIx64 "\n", i, get64(mad + OFF_GUIDS + 8 * i));
}

int main(int argc, char **argv)
{
	unsigned int index = argc == 4 ? (unsigned int)strtoul(argv[2], NULL, 10) : 0;
	uint64_t guid = argc == 4 ? strtoull(argv[3], NULL, 16) : 0;
	int fd, agent, length = MAD_LEN;
	umad_port_t port;
	void *umad;

	if ((argc != 2 && argc != 4) || (argc == 4 && (!index || index >= GUIDS)))
		return fail("usage: guids DEVICE [INDEX GUID]");
	if (umad_init() || umad_get_port(argv[1], 1, &port))
		return fail("there is no such port");
	fd = umad_open_port(argv[1], 1);
	agent = fd < 0 ? -1 : umad_register(fd, CLASS_SA, CLASS_VERSION, 0, NULL);
	umad = umad_alloc(1, umad_size() + MAD_LEN);
	if (agent < 0 || !umad)
		return fail("the port cannot be opened");
	request(umad_get_mad(umad), (uint16_t)port.base_lid, index, guid);
	umad_set_addr(umad, port.sm_lid, 1, port.sm_sl, QKEY_QP1);
	if (umad_send(fd, agent, umad, MAD_LEN, TIMEOUT_MS, RETRIES))
		return fail("the request cannot be sent");
	if (umad_recv(fd, umad, &length, TIMEOUT_MS * (RETRIES + 2)) < 0 || umad_status(umad))
		return fail("the SA does not answer");
	print_response(umad_get_mad(umad));
	return 0;
}
