// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Commands for event queues. */
#include <stdlib.h>

#include "firmware/caps.h"
#include "firmware/cmd_run.h"
#include "objects/destroy.h"
#include "objects/eq.h"
#include "objects/uar.h"

#define CMD_SYNDROME_BASE 0x60000u

#define EQE_SIZE 64u

#define EVENT_PAGE_FAULT MLX5_EVENT_TYPE_CODING_PAGE_FAULT_EVENT

/* Status and state in the EQ context: 0 and "armed" or "fired". */
enum { ST_ARMED = 0x9, ST_FIRED = 0xa };

static enum cmd_status fill(struct cmd *cmd, struct eq *eq, const uint8_t *eqc)
{
	enum cmd_status status;

	eq->log_size = (uint8_t)IFC_GET(eqc, eqc, log_eq_size);
	if (eq->log_size > CAP_MAX_EQ_SIZE)
		return cmd_fail(cmd, CMD_BAD_SIZE, "2^%u EQEs", eq->log_size);
	if (IFC_GET(eqc, eqc, intr) >= HCA_MSIX_VECTORS)
		return cmd_fail(cmd, CMD_BAD_PARAM, "vector %u",
				(unsigned int)IFC_GET(eqc, eqc, intr));
	eq->vector = (uint8_t)IFC_GET(eqc, eqc, intr);
	for (unsigned int i = 0; i < 4; i++)
		eq->event_mask[i] = be64_at(IFC_ADDR(create_eq_in, cmd->in, event_bitmask) + 8 * i);
	if (!hca_has_odp(cmd->hca) && eq->event_mask[0] >> EVENT_PAGE_FAULT & 1)
		return cmd_fail(cmd, CMD_BAD_PARAM, "page faults, but no on-demand paging");
	eq->uar = (struct uar *)cmd_obj(cmd, OBJ_UAR, IFC_GET(eqc, eqc, uar_page), &status);
	if (!eq->uar)
		return status;
	return cmd_queue(cmd, &eq->buf, IFC_BYTE(create_eq_in, pas),
			 (uint8_t)(CAP_LOG_PAGE + IFC_GET(eqc, eqc, log_page_size)), 0,
			 (uint64_t)EQE_SIZE << eq->log_size);
}

static enum cmd_status create_eq(struct cmd *cmd)
{
	const uint8_t *eqc = IFC_ADDR(create_eq_in, cmd->in, eq_context_entry);
	enum cmd_status status;
	struct eq *eq;

	if (cmd->uid && cmd->uid != CMD_UID_SHARED)
		return cmd_fail(cmd, CMD_BAD_PARAM, "not for a user context");
	eq = calloc(1, sizeof(*eq));
	if (!eq)
		return cmd_fail(cmd, CMD_NO_RES, "no memory");
	eq->obj.hca = cmd->hca;
	eq->obj.type = OBJ_EQ;
	eq->obj.uid = cmd->uid;
	status = fill(cmd, eq, eqc);
	if (status)
		goto err_free;
	if (obj_add(cmd->hca->objs[OBJ_EQ], &eq->obj)) {
		status = cmd_fail(cmd, CMD_NO_RES, "no EQ left");
		goto err_buf;
	}
	eq->uar->obj.refs++;
	IFC_SET(create_eq_out, cmd->out, eq_number, eq->obj.id);
	return CMD_OK;

err_buf:
	queue_fini(eq->obj.hca, &eq->buf);
err_free:
	free(eq);
	return status;
}

static enum cmd_status query_eq(struct cmd *cmd)
{
	uint8_t *eqc = IFC_ADDR(query_eq_out, cmd->out, eq_context_entry);
	enum cmd_status status;
	const struct eq *eq = (const struct eq *)cmd_obj(cmd, OBJ_EQ,
							 IFC_GET(query_eq_in, cmd->in, eq_number),
							 &status);

	if (!eq)
		return status;
	IFC_SET(eqc, eqc, st, eq->armed ? ST_ARMED : ST_FIRED);
	IFC_SET(eqc, eqc, log_eq_size, eq->log_size);
	IFC_SET(eqc, eqc, uar_page, eq->uar->obj.id);
	IFC_SET(eqc, eqc, intr, eq->vector);
	IFC_SET(eqc, eqc, log_page_size, eq->buf.page_shift - CAP_LOG_PAGE);
	IFC_SET(eqc, eqc, consumer_counter, eq->ci & 0xffffff);
	IFC_SET(eqc, eqc, producer_counter, eq->pi & 0xffffff);
	return CMD_OK;
}

static enum cmd_status destroy_eq(struct cmd *cmd)
{
	return cmd_destroy(cmd, OBJ_EQ, IFC_GET(destroy_eq_in, cmd->in, eq_number));
}

void eq_destroy(struct eq *eq)
{
	eq->uar->obj.refs--;
	obj_del(eq->obj.hca->objs[OBJ_EQ], &eq->obj);
	queue_fini(eq->obj.hca, &eq->buf);
	free(eq);
}

const struct cmd_desc cmd_table_eq[] = {
	CMD_DESC(CREATE_EQ, create_eq, CMD_INITIALIZED, create_eq, true),
	CMD_DESC(QUERY_EQ, query_eq, CMD_INITIALIZED, query_eq, false),
	CMD_DESC(DESTROY_EQ, destroy_eq, CMD_INITIALIZED, destroy_eq, false),
	{ 0 },
};
