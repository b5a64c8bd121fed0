/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * rig.h - for the tests: a vHCA with the fake HCA behind it and a guest of plain memory before it,
 * and the guest's side of each command.
 */
#ifndef XEN_IB_RIG_H
#define XEN_IB_RIG_H

#include <stdio.h>
#include <stdlib.h>

#include "commands/cmd.h"
#include "unit/fakes/hca_fake.h"
#include "unit/fakes/transport_shm.h"
#include "vhca/vhca.h"

#define CHECK(condition) do { \
	if (!(condition)) { \
		fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
		abort(); \
	} \
} while (0)

struct rig {
	struct fake_hca fake;
	struct shm *shm;
	struct uar_table *table;
	struct quota quota;
	uint32_t event_bit; /* of the CQs to be made: none, unless a test asks for it */
	struct vhca v;
	struct cmd *cmd;
	uint32_t refs[XEN_VHCA_DATA_REFS]; /* the data page of rig_do() */
	xen_vhca_handle_t handle;          /* of the last object made */
	unsigned int gfns;                 /* given by rig_process(), of an auto-translated guest */
};

/* One of each object, of one process. */
struct rig_process {
	xen_vhca_handle_t ctx, uar, pd, umem, cq, srq, qp, mr, inline_mr, persistent_mr, persistent, mw;
};

/* The pages of events, if a test wants them. */
#define RIG_BITS_REF (SHM_PAGES - 2)
#define RIG_ASYNC_REF (SHM_PAGES - 1)

void rig_init(struct rig *rig, bool auto_translated, const struct quota *quota);
void rig_fini(struct rig *rig);

/* rig_events - from now on contexts have events. */
void rig_events(struct rig *rig);

/* rig_do - one command, in this thread. Its response: rig->cmd->rsp, its handle: rig->handle. */
enum xen_vhca_status rig_do(struct rig *rig, const struct xen_vhca_req *req);

/* A command that names one object. */
enum xen_vhca_status rig_object(struct rig *rig, unsigned int op, xen_vhca_handle_t handle);

/*
 * rig_process - opens a context and makes one of each in it. Stops at the first refusal, with what
 * has been made so far.
 */
enum xen_vhca_status rig_process(struct rig *rig, struct rig_process *p);

/* rig_exit - destroys one by one what rig_process() made, and the context. */
void rig_exit(struct rig *rig, const struct rig_process *p);

/* rig_close_all - closes all contexts. What the quota has given it has back. */
void rig_close_all(struct rig *rig);

/* rig_is_empty - nothing is in use, in the quota, on the HCA, of the guest's frames. */
bool rig_is_empty(struct rig *rig);

#endif
