// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What the CREATE commands of all queues check alike: page lists and doorbell records. */
#include <errno.h>

#include "bus/dma.h"
#include "firmware/cmd_run.h"

#define CMD_SYNDROME_BASE 0x40000u

enum cmd_status cmd_queue(struct cmd *cmd, struct wqbuf *buf, uint32_t list_at, uint8_t page_shift,
			  uint32_t offset, uint64_t need)
{
	uint32_t pages = cmd->in_len > list_at ? (cmd->in_len - list_at) / 8 : 0;
	struct hca *hca = cmd->hca;
	int ret = wqbuf_init(buf, cmd->in + list_at, pages, page_shift, offset, need);

	if (ret == -ENOMEM)
		return cmd_fail(cmd, CMD_NO_RES, "no memory");
	if (ret)
		return cmd_fail(cmd, CMD_BAD_PARAM,
				"%u pages of 2^%u bytes do not hold %llu bytes from %u on", pages,
				page_shift, (unsigned long long)need, offset);
	if (buf->count > HCA_QUEUE_PAGES - hca->queue_pages) {
		wqbuf_fini(buf);
		return cmd_fail(cmd, CMD_LIM, "the queues have %u pages already", hca->queue_pages);
	}
	hca->queue_pages += buf->count;
	return CMD_OK;
}

void queue_fini(struct hca *hca, struct wqbuf *buf)
{
	hca->queue_pages -= buf->count;
	wqbuf_fini(buf);
}

enum cmd_status cmd_check_dbr(struct cmd *cmd, uint64_t dbr)
{
	if (dbr % 8 || !dma_ptr(cmd->hca->dma, dbr, 8, DMA_PROT_READ))
		return cmd_fail(cmd, CMD_BAD_PARAM, "doorbell record at 0x%llx",
				(unsigned long long)dbr);
	return CMD_OK;
}
