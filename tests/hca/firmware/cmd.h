/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The command interface: how a command reaches its function and what that may answer. */
#ifndef HCA_CMD_H
#define HCA_CMD_H

#include <stdbool.h>
#include <stdint.h>

#include "hca.h"
#include "ifc.h"
#include "objects/wqbuf.h"

/* Delivery is of the transport, status of the command (driver: cmd.c, cmd_status_str). */
enum cmd_status {
	CMD_OK = 0x0,
	CMD_INT_ERR = 0x1,
	CMD_BAD_OP = 0x2,
	CMD_BAD_PARAM = 0x3,
	CMD_BAD_SYS_STATE = 0x4,
	CMD_BAD_RES = 0x5,
	CMD_RES_BUSY = 0x6,
	CMD_LIM = 0x8,
	CMD_BAD_RES_STATE = 0x9,
	CMD_IX = 0xa,
	CMD_NO_RES = 0xf,
	CMD_BAD_INP_LEN = 0x50,
	CMD_BAD_OUTP_LEN = 0x51,
	CMD_BAD_QP_STATE = 0x10,
	CMD_BAD_PKT = 0x30,
	CMD_BAD_SIZE = 0x40,
};

/* One command in work. in and out are whole, zero padded to what the layouts need. */
struct cmd {
	struct hca *hca;
	uint16_t opcode, op_mod, uid;
	const uint8_t *in;
	uint32_t in_len;
	uint8_t *out; /* zeroed; status and syndrome are filled in by the caller */
	uint32_t out_len;
	uint32_t syndrome; /* set by cmd_fail() */
};

/* Logs why (for the person reading the model's log), sets a syndrome that is unique to the source line, returns status. */
enum cmd_status cmd_fail_at(struct cmd *cmd, enum cmd_status status, uint32_t syndrome,
			    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* A file of commands defines CMD_SYNDROME_BASE: its number << 16. */
#define cmd_fail(cmd, status, ...) \
	cmd_fail_at((cmd), (status), CMD_SYNDROME_BASE + __LINE__, __VA_ARGS__)

typedef enum cmd_status (*cmd_fn)(struct cmd *cmd);

/* When a command may come. */
enum cmd_when { CMD_ALWAYS, CMD_ENABLED, CMD_INITIALIZED };

/* A file of commands exports a table of these, ended by opcode 0. */
struct cmd_desc {
	uint16_t opcode;
	const char *name;
	uint32_t in_min,
		out_min; /* bytes; shorter ones are refused with BAD_INP_LEN, BAD_OUTP_LEN */
	enum cmd_when when;
	cmd_fn run;
	bool user; /* may come with a uid, that is on behalf of a user context */
};

/* An entry of such a table; the layouts are mlx5_ifc_NAME_in_bits and mlx5_ifc_NAME_out_bits. */
#define CMD_DESC(op, layout, when, fn, user) \
	{ MLX5_CMD_OP_##op, #op, IFC_SIZE(layout##_in), IFC_SIZE(layout##_out), when, fn, user }

/* The kernel's too: of objects that it makes for all user contexts (MLX5_SHARED_RESOURCE_UID). */
#define CMD_UID_SHARED 0xffffu

/*
 * An object that the command names: must exist, and belong to cmd->uid or to all (uid 0, the
 * kernel, may name any). NULL otherwise, with *status set and the reason logged.
 */
struct obj *cmd_obj(struct cmd *cmd, enum obj_type type, uint32_t id, enum cmd_status *status);

/* DESTROY and DEALLOC commands: as cmd_obj(), and refused while others refer to the object. */
enum cmd_status cmd_destroy(struct cmd *cmd, enum obj_type type, uint32_t id);

/*
 * A queue of a CREATE command: the page list is in cmd->in from byte list_at on, and covers need
 * bytes from offset on. It counts against HCA_QUEUE_PAGES until queue_fini(), which does no harm
 * to a queue that never was.
 */
enum cmd_status cmd_queue(struct cmd *cmd, struct wqbuf *buf, uint32_t list_at, uint8_t page_shift,
			  uint32_t offset, uint64_t need);
void queue_fini(struct hca *hca, struct wqbuf *buf);

/* A doorbell record must be a multiple of 8 and in the machine's memory. */
enum cmd_status cmd_check_dbr(struct cmd *cmd, uint64_t dbr);

/* The opcode of a command by its name as in struct cmd_desc, in any case; 0 if there is none. */
uint16_t cmd_opcode(const char *name);
/* The name of an opcode, NULL if it is not known. */
const char *cmd_name(uint16_t opcode);

#endif
