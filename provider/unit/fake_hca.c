// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fake_hca.c - writes CQEs, octet by octet, from the description of the format; on purpose without
 * the structures that the provider uses.
 */
#include <string.h>

#include "check.h"
#include "fake.h"

unsigned int checks_failed;

static void put16(uint8_t *at, uint16_t v)
{
	at[0] = v >> 8;
	at[1] = v;
}

static void put32(uint8_t *at, uint32_t v)
{
	put16(at, v >> 16);
	put16(at + 2, v);
}

void fake_hca_attach(struct fake_hca_cq *hca, struct ibv_cq *cq)
{
	hca->cqes = to_xcq(cq)->q.cqes;
	hca->count = cq->cqe + 1;
	hca->next = 0;
}

void fake_hca_complete(struct fake_hca_cq *hca, const struct fake_cqe *cqe)
{
	uint8_t *at = hca->cqes + (size_t)(hca->next % hca->count) * 64;

	memset(at, 0xa5, 63);
	at[17] = cqe->path;
	put16(at + 22, cqe->slid);
	put32(at + 24, (uint32_t)cqe->grh << 28 | (uint32_t)cqe->sl << 24 | cqe->src_qp);
	put32(at + 32, 0x5a000000 | cqe->uidx);
	put32(at + 36, cqe->imm);
	put32(at + 44, cqe->bytes);
	put32(at + 48, 0x12345678);
	put32(at + 52, cqe->wqe);
	if (cqe->opcode == 13 || cqe->opcode == 14) {
		at[54] = cqe->vendor;
		at[55] = cqe->syndrome;
	}
	put32(at + 56, (uint32_t)cqe->wqe_opcode << 24 | cqe->qpn);
	put16(at + 60, cqe->wqe);
	at[62] = 0;
	at[63] = cqe->opcode << 4 | (hca->next / hca->count & 1);
	hca->next++;
}

void fake_hca_resize(struct fake_hca_cq *hca, uint64_t cqes, uint32_t count)
{
	fake_hca_complete(hca, &(struct fake_cqe){ .opcode = 5 });
	hca->cqes = (uint8_t *)(uintptr_t)cqes;
	hca->count = count;
}
