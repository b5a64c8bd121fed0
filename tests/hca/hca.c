// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A function's life: made, reset, ended. */
#include <stdlib.h>

#include "bus/dma.h"
#include "engine/fabric.h"
#include "firmware/caps.h"
#include "firmware/cmdq.h"
#include "hca.h"
#include "objects/destroy.h"

/* Numbers below these have a meaning of their own: QP0, QP1 and what drivers keep free; keys 0x1xx and 0x2xx. */
#define FIRST_QP 0x40u
#define FIRST_MKEY 0x4u

static const struct {
	uint32_t min, max;
} ranges[OBJ_TYPES] = {
	[OBJ_UCTX] = { 1, (1u << CAP_MAX_UCTXS) - 1 },
	[OBJ_UAR] = { HCA_UAR_FIRST, HCA_UAR_LAST },
	[OBJ_PD] = { 1, (1u << CAP_MAX_PDS) - 1 },
	[OBJ_TD] = { 1, (1u << CAP_MAX_PDS) - 1 },
	[OBJ_XRCD] = { 1, (1u << CAP_MAX_PDS) - 1 },
	[OBJ_MKEY] = { FIRST_MKEY, (1u << CAP_MAX_MKEYS) - 1 },
	[OBJ_EQ] = { 1, CAP_EQS },
	[OBJ_CQ] = { 1, (1u << CAP_MAX_CQS) - 1 },
	[OBJ_SRQ] = { 1, (1u << CAP_MAX_SRQS) - 1 },
	[OBJ_QP] = { FIRST_QP, (1u << CAP_MAX_QPS) - 1 },
};

static int tables_new(struct hca *hca)
{
	for (unsigned int i = 0; i < OBJ_TYPES; i++) {
		hca->objs[i] = obj_table_new(ranges[i].min, ranges[i].max);
		if (!hca->objs[i])
			return -1;
	}
	return 0;
}

static void tables_free(struct hca *hca)
{
	for (unsigned int i = 0; i < OBJ_TYPES; i++)
		obj_table_free(hca->objs[i]);
}

struct hca *hca_new(struct loop *loop, struct fabric *fabric, unsigned int index)
{
	struct hca *hca = calloc(1, sizeof(*hca));

	if (!hca)
		return NULL;
	hca->index = index;
	hca->ack_delay = HCA_ACK_DELAY;
	hca->loop = loop;
	hca->fabric = fabric;
	hca->dma = dma_space_new();
	if (!hca->dma)
		goto err_free;
	hca->caps = caps_new();
	if (!hca->caps)
		goto err_dma;
	hca->cmdq = cmdq_new(hca);
	if (!hca->cmdq)
		goto err_caps;
	if (tables_new(hca))
		goto err_tables;
	if (fabric_join(fabric, hca))
		goto err_tables;
	port_init(hca);
	hca_bar_reset(hca);
	return hca;

err_tables:
	tables_free(hca);
	cmdq_free(hca->cmdq);
err_caps:
	caps_free(hca->caps);
err_dma:
	dma_space_free(hca->dma);
err_free:
	free(hca);
	return NULL;
}

static void release(struct hca *hca)
{
	destroy_all(hca);
	free(hca->fw_pages.addresses);
	hca->fw_pages.addresses = NULL;
	hca->fw_pages.count = 0;
}

void hca_free(struct hca *hca)
{
	if (!hca)
		return;
	release(hca);
	fabric_leave(hca->fabric, hca);
	tables_free(hca);
	cmdq_free(hca->cmdq);
	caps_free(hca->caps);
	dma_space_free(hca->dma);
	free(hca);
}

void hca_reset(struct hca *hca)
{
	cmdq_set_address(hca, 0);
	release(hca);
	fabric_purge(hca);
	caps_reset(hca->caps);
	hca->enabled = false;
	hca->initialized = false;
	port_init(hca);
	hca_bar_reset(hca);
}
