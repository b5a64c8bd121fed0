/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Between the command queue and the commands: one call; and the tables that cmd.c dispatches to. */
#ifndef HCA_CMD_RUN_H
#define HCA_CMD_RUN_H

#include "firmware/cmd.h"

/* Bytes that in and out have at least, so that every fixed layout fits however short a command is. */
#define CMD_ROOM 8192u

/*
 * Carries out a command. in: in_len bytes, zero padded to CMD_ROOM; out: zeroed, room for out_len and
 * for CMD_ROOM at least; status and syndrome are in it afterwards.
 */
void cmd_run(struct hca *hca, const uint8_t *in, uint32_t in_len, uint8_t *out, uint32_t out_len);

/* NULL: there is no such command. */
const struct cmd_desc *cmd_find(uint16_t opcode);

extern const struct cmd_desc cmd_table_hca[], cmd_table_res[], cmd_table_mkey[], cmd_table_eq[],
	cmd_table_cq[], cmd_table_srq[], cmd_table_qp[], cmd_table_mcg[], cmd_table_port[];

#endif
