/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The commands that change a QP, for the table in cmd_qp.c. */
#ifndef HCA_CMD_QP_H
#define HCA_CMD_QP_H

#include "firmware/cmd.h"
#include "objects/qp.h"

/* The context asks for what gives access to all memory, or another's name: not for user contexts. */
bool cmd_qp_of_kernel(const uint8_t *qpc);

enum cmd_status cmd_rst2init_qp(struct cmd *cmd);
enum cmd_status cmd_init2init_qp(struct cmd *cmd);
enum cmd_status cmd_init2rtr_qp(struct cmd *cmd);
enum cmd_status cmd_rtr2rts_qp(struct cmd *cmd);
enum cmd_status cmd_rts2rts_qp(struct cmd *cmd);
enum cmd_status cmd_sqerr2rts_qp(struct cmd *cmd);
enum cmd_status cmd_sqd2rts_qp(struct cmd *cmd);
enum cmd_status cmd_2err_qp(struct cmd *cmd);
enum cmd_status cmd_2rst_qp(struct cmd *cmd);

#endif
