/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* User-mode memory registration: memory keys changed by a WQE on a send queue. */
#ifndef HCA_UMR_H
#define HCA_UMR_H

#include "engine/wqe.h"

/*
 * Does what w (a parsed WQE of opcode MLX5_OPCODE_UMR) asks for: fast registration, binding of a
 * memory window, local invalidation, all are this one operation. The key must have been created
 * for it (umr_en), and be of the QP's PD, unless the QP is the kernel's own for the purpose.
 *
 * 0, or MLX5_CQE_SYNDROME_*: the key is then as it was, except that one whose translation
 * entries were half written is free.
 */
uint8_t umr_execute(struct qp *qp, const struct wqe *w);

#endif
