/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * cmd.h - a command at work.
 *
 * A command goes through three steps, of which only the first and the last hold the lock of the
 * vHCA:
 *
 *   1  find the objects that it names. Each is "used" from then on: it cannot be destroyed, and its
 *      context cannot be closed. Take what the quota must allow, and a handle.
 *   2  do it: map, register, create
 *   3  publish the result, or give back what step 1 took
 *
 * Uses are dropped when the command ends, on every path, by its caller. The only command that waits
 * for others is CTX_CLOSE, for the uses of its context to end; commands that have uses wait for
 * nobody but the kernel, so this cannot deadlock.
 *
 * Functions return a status of the protocol. What a refusal is about is left in why, for the log.
 */
#ifndef XEN_IB_COMMANDS_CMD_H
#define XEN_IB_COMMANDS_CMD_H

#include "shared-ring/vhca_check.h"
#include "vhca/vhca.h"

#define CMD_MAX_USES (OBJ_MAX_DEPS + 1)
#define CMD_MAX_PARTS 2 /* a queue and its doorbell record */

struct cmd {
	struct vhca *v;
	struct xen_vhca_req req;           /* private copies, checked */
	uint64_t taken_ns;                 /* when the request was read, clock_ns() */
	uint32_t refs[XEN_VHCA_DATA_REFS]; /* what the request has in its data page */
	uint32_t n_refs;

	struct xen_vhca_rsp rsp;
	const void *data; /* answer in the data page, or NULL */
	size_t data_len;

	struct context *ctx;
	struct object *used[CMD_MAX_USES];
	unsigned int n_used;
	struct context *domain;   /* an XRC domain that the command uses; or NULL */
	int parts[CMD_MAX_PARTS]; /* descriptors of dma-bufs that the command has made for itself */
	unsigned int n_parts;
	char why[96];

	struct cmd *next; /* of those that wait for a thread */
};

/*
 * cmd_is_slow - whether it may take long, and is not to be done in the thread of the ring. The
 * request need not have been checked yet. Takes the lock.
 */
bool cmd_is_slow(struct vhca *v, const struct xen_vhca_req *req);

/*
 * cmd_waits_for_hca - whether commands of this operation, if there is one, spend most of their time waiting for
 * the HCA, and can be done at the same time as any other. Takes the lock.
 */
bool cmd_waits_for_hca(struct vhca *v, unsigned int op);

/*
 * cmd_run - does it: fills in rsp, and data if there is any. Counts, and logs a refusal. The
 * request is a private copy that need not have been checked yet; refs are fetched by fetch, which
 * copies n references out of the data page once.
 */
typedef void cmd_fetch(void *from, uint32_t *refs, uint32_t n);
void cmd_run(struct cmd *cmd, cmd_fetch *fetch, void *from);

/* For the functions of each operation: */

__attribute__((format(printf, 3, 4))) enum xen_vhca_status
cmd_refuse(struct cmd *cmd, enum xen_vhca_status status, const char *why, ...);

/* cmd_hca - the status for a result of the HCA's driver; 0 is XEN_VHCA_OK. */
enum xen_vhca_status cmd_hca(struct cmd *cmd, int err, const char *what);

/* cmd_use - step 1, for one object. All objects of a command have to be of one context. */
enum xen_vhca_status cmd_use(struct cmd *cmd, xen_vhca_handle_t handle, enum obj_type type,
			     struct object **obj);

/*
 * cmd_use_domain - a context that is an XRC domain, which need not be the command's. *domain: by what
 * hca_ops.xrcd_open() takes it; it is there for as long as the command runs. A command has one at most.
 */
enum xen_vhca_status cmd_use_domain(struct cmd *cmd, xen_vhca_handle_t handle, int *domain);

/* cmd_use_umem - cmd_use of the umem of a place that is complete and has length bytes there. */
enum xen_vhca_status cmd_use_umem(struct cmd *cmd, const struct xen_vhca_umem_addr *place,
				  uint64_t length, bool writable, const struct umem **umem);

/* cmd_use_queue - the same of one in which a queue, or its doorbell record, may be. *at: where. */
enum xen_vhca_status cmd_use_queue(struct cmd *cmd, const struct xen_vhca_umem_addr *place,
				   uint64_t length, struct hca_place *at);

/* cmd_place - where a part of a umem is for the HCA, as long as the command is at work. */
struct hca_place cmd_place(struct cmd *cmd, const struct umem *umem, uint64_t offset,
			   uint64_t length);

/*
 * cmd_new - step 1, for the object to be made: memory, a handle and the quota of its type. Then
 * either cmd_publish(), after which it depends on all that the command uses but its context, or
 * cmd_drop().
 */
enum xen_vhca_status cmd_new(struct cmd *cmd, enum obj_type type, size_t size, struct object **obj);
void cmd_publish(struct cmd *cmd, struct object *obj);
void cmd_drop(struct cmd *cmd, struct object *obj);

/*
 * cmd_publish_both - cmd_publish() for two objects that one command has made: part, which needs
 * nothing but its context, and obj, which needs part as well. At once, so that nobody can destroy
 * part in between. Unless it is named, the guest has no handle for part: obj owns it.
 */
void cmd_publish_both(struct cmd *cmd, struct object *obj, struct object *part, bool named);

/*
 * cmd_depend - from now on the object needs another one instead of its dependency of this number. The
 * command uses the object and the other one.
 */
void cmd_depend(struct cmd *cmd, struct object *obj, unsigned int dep, struct object *is);

/*
 * cmd_take - step 1, for a destruction: the object's handle names nothing any more. E_BUSY if it is
 * needed or in use. Then either cmd_gone(), which frees it, or cmd_keep(), as it was.
 */
enum xen_vhca_status cmd_take(struct cmd *cmd, xen_vhca_handle_t handle, enum obj_type type,
			      struct object **obj);
void cmd_gone(struct cmd *cmd, struct object *obj);
void cmd_keep(struct cmd *cmd, struct object *obj);

/*
 * cmd_destroy - a whole destruction, of the object of this type that the request names. what: says
 * in the log what the HCA was asked for.
 */
enum xen_vhca_status cmd_destroy(struct cmd *cmd, enum obj_type type,
				 int (*on_hca)(struct hca_ctx *ctx, uint32_t id), const char *what);

/* cmd_charge - takes pages of the quota of bytes. Undone by cmd_uncharge(). */
enum xen_vhca_status cmd_charge(struct cmd *cmd, uint32_t pages);
void cmd_uncharge(struct cmd *cmd, uint32_t pages);

/*
 * cmd_umem_make - cmd_new() of a umem (struct umem_obj) of so many pages: charged, and with the
 * references of the request mapped, from its first page on. Then it is published, or
 * cmd_umem_drop() undoes all that.
 * @only_mrs: nothing else can be made on it
 */
enum xen_vhca_status cmd_umem_make(struct cmd *cmd, uint32_t pages, bool read_only, bool only_mrs,
				   struct object **obj);
void cmd_umem_drop(struct cmd *cmd, struct object *obj);

/* cmd_umem_gone - cmd_gone() of a umem that nobody needs: unmaps it, and gives back its pages. */
void cmd_umem_gone(struct cmd *cmd, struct object *obj);

/*
 * cmd_gid_index - a guest with a GID of its own has it at index 0, and the port's where its own is in the
 * port's table. Of an index of the guest's, the HCA's, and the other way round.
 */
uint32_t cmd_gid_index(const struct vhca *v, uint32_t index);

/* The operations, by the files that hold them. */
typedef enum xen_vhca_status cmd_fn(struct cmd *cmd);

cmd_fn cmd_device_query, cmd_port_query, cmd_gid_query, cmd_pkey_query,
	cmd_clock_query;                                         /* query.c */
cmd_fn cmd_ctx_open, cmd_ctx_close, cmd_uar_alloc, cmd_uar_free; /* ctx.c */
cmd_fn cmd_umem_create, cmd_umem_add, cmd_umem_destroy;          /* umem.c */
cmd_fn cmd_pd_alloc, cmd_pd_free, cmd_mr_reg, cmd_mr_modify;     /* mr.c */
cmd_fn cmd_mr_dereg, cmd_mw_alloc, cmd_mw_free;
cmd_fn cmd_cq_create, cmd_cq_modify, cmd_cq_resize, cmd_cq_destroy;    /* cq.c */
cmd_fn cmd_srq_create, cmd_srq_modify, cmd_srq_query, cmd_srq_destroy; /* srq.c */
cmd_fn cmd_qp_create, cmd_qp_modify, cmd_qp_query, cmd_qp_destroy;     /* qp.c */
cmd_fn cmd_mcast_attach, cmd_mcast_detach;                             /* mcast.c */
cmd_fn cmd_ah_create;                                                  /* ah.c */
cmd_fn cmd_gsi_open, cmd_gsi_close, cmd_mad_send, cmd_mad_recv;        /* mad.c */
cmd_fn cmd_addr_add, cmd_addr_del;                                     /* mad.c */

#endif
