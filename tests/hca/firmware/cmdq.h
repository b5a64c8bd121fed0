/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The command queue: entries in the machine's memory, rung by a register of BAR0. */
#ifndef HCA_CMDQ_H
#define HCA_CMDQ_H

#include <stdint.h>

struct cmdq;
struct hca;

/* As the initialization segment tells the driver. */
#define CMDQ_LOG_SIZE 5   /* entries */
#define CMDQ_LOG_STRIDE 6 /* bytes between them */

/* hca->cmdq, made by hca_new(). NULL if memory is short. */
struct cmdq *cmdq_new(struct hca *hca);
void cmdq_free(struct cmdq *q);

/* The driver has given the address of the queue (4096-byte aligned). 0 at reset: there is none. */
void cmdq_set_address(struct hca *hca, uint64_t address);

/* The command doorbell: a bit for each entry that is handed over. */
void cmdq_doorbell(struct hca *hca, uint32_t vector);

#endif
