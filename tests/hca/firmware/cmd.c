// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The dispatcher of commands: who may issue which command when, and with what lengths. */
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

#include "firmware/cmd_run.h"

#define CMD_SYNDROME_BASE 0x10000u

static const struct cmd_desc *const tables[] = {
	cmd_table_hca, cmd_table_res, cmd_table_mkey, cmd_table_eq,   cmd_table_cq,
	cmd_table_srq, cmd_table_qp,  cmd_table_mcg,  cmd_table_port,
};
#define TABLES (sizeof(tables) / sizeof(tables[0]))

/* Every command starts and every answer ends with these. */
enum { IN_OPCODE = 0, IN_UID = 2, IN_OP_MOD = 6, OUT_STATUS = 0, OUT_SYNDROME = 4, HEADER = 8 };

#define OPCODES 0x1000u

const struct cmd_desc *cmd_find(uint16_t opcode)
{
	static const struct cmd_desc *by_opcode[OPCODES];
	static bool filled;

	for (unsigned int i = 0; i < TABLES && !filled; i++)
		for (const struct cmd_desc *d = tables[i]; d->opcode; d++)
			by_opcode[d->opcode] = d;
	filled = true;
	return opcode < OPCODES ? by_opcode[opcode] : NULL;
}

uint16_t cmd_opcode(const char *name)
{
	for (unsigned int i = 0; i < TABLES; i++)
		for (const struct cmd_desc *d = tables[i]; d->opcode; d++)
			if (!strcasecmp(d->name, name))
				return d->opcode;
	return 0;
}

const char *cmd_name(uint16_t opcode)
{
	const struct cmd_desc *d = cmd_find(opcode);

	return d ? d->name : NULL;
}

enum cmd_status cmd_fail_at(struct cmd *cmd, enum cmd_status status, uint32_t syndrome,
			    const char *fmt, ...)
{
	const char *name = cmd_name(cmd->opcode);
	char why[200];
	va_list ap;

	cmd->syndrome = syndrome;
	if (hca_log_level < HCA_LOG_GUEST)
		return status;
	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	hca_log(cmd->hca, HCA_LOG_GUEST, "%s (0x%x, uid %u): status 0x%x, syndrome 0x%x: %s",
		name ? name : "command", cmd->opcode, cmd->uid, status, syndrome, why);
	return status;
}

struct obj *cmd_obj(struct cmd *cmd, enum obj_type type, uint32_t id, enum cmd_status *status)
{
	struct obj *obj = obj_find(cmd->hca->objs[type], id);

	if (!obj) {
		*status =
			cmd_fail(cmd, CMD_BAD_RES, "there is no %s 0x%x", obj_type_name(type), id);
		return NULL;
	}
	if (cmd->uid && cmd->uid != CMD_UID_SHARED && obj->uid != cmd->uid &&
	    obj->uid != CMD_UID_SHARED) {
		*status = cmd_fail(cmd, CMD_BAD_RES, "%s 0x%x belongs to uid %u",
				   obj_type_name(type), id, obj->uid);
		return NULL;
	}
	return obj;
}

/* A fault that was asked for: true if the command is to fail, with what is said there. */
static bool injected(struct cmd *cmd, enum cmd_status *status)
{
	struct hca_faults *faults = &cmd->hca->faults;

	for (unsigned int i = 0; i < HCA_FAULT_COMMANDS; i++) {
		if (!faults->command[i].count || faults->command[i].opcode != cmd->opcode)
			continue;
		if (!--faults->command[i].count)
			faults->command[i].opcode = 0;
		cmd->syndrome = faults->command[i].syndrome;
		*status = faults->command[i].status;
		hca_log(cmd->hca, HCA_LOG_INFO, "%s fails as asked for: status 0x%x",
			cmd_name(cmd->opcode), *status);
		return true;
	}
	return false;
}

static enum cmd_status dispatch(struct cmd *cmd)
{
	const struct cmd_desc *d = cmd_find(cmd->opcode);
	enum cmd_status status;

	if (!d)
		return cmd_fail(cmd, CMD_BAD_OP, "unknown");
	if (injected(cmd, &status))
		return status;
	if (cmd->in_len < d->in_min)
		return cmd_fail(cmd, CMD_BAD_INP_LEN, "%u bytes of input, not %u", cmd->in_len,
				d->in_min);
	if (cmd->out_len < d->out_min)
		return cmd_fail(cmd, CMD_BAD_OUTP_LEN, "room for %u bytes of output, not %u",
				cmd->out_len, d->out_min);
	if ((d->when >= CMD_ENABLED && !cmd->hca->enabled) ||
	    (d->when >= CMD_INITIALIZED && !cmd->hca->initialized))
		return cmd_fail(cmd, CMD_BAD_SYS_STATE, "before %s",
				cmd->hca->enabled ? "INIT_HCA" : "ENABLE_HCA");
	if (cmd->uid && !d->user)
		return cmd_fail(cmd, CMD_BAD_PARAM, "not for a user context");
	if (cmd->uid && cmd->uid != CMD_UID_SHARED && !obj_find(cmd->hca->objs[OBJ_UCTX], cmd->uid))
		return cmd_fail(cmd, CMD_BAD_RES, "there is no such user context");
	return d->run(cmd);
}

void cmd_run(struct hca *hca, const uint8_t *in, uint32_t in_len, uint8_t *out, uint32_t out_len)
{
	struct cmd cmd = {
		.hca = hca,
		.opcode = be16_at(in + IN_OPCODE),
		.uid = be16_at(in + IN_UID),
		.op_mod = be16_at(in + IN_OP_MOD),
		.in = in,
		.in_len = in_len,
		.out = out,
		.out_len = out_len,
	};
	enum cmd_status status = dispatch(&cmd);

	hca_log(hca, HCA_LOG_TRACE, "%s (0x%x) mod %x uid %u in %u out %u: status 0x%x",
		cmd_name(cmd.opcode) ? cmd_name(cmd.opcode) : "?", cmd.opcode, cmd.op_mod, cmd.uid,
		in_len, out_len, status);
	if (status) {
		hca->stats.commands_failed++;
		memset(out, 0, out_len);
	}
	memset(out, 0, HEADER);
	out[OUT_STATUS] = (uint8_t)status;
	put_be32(out + OUT_SYNDROME, cmd.syndrome);
}
