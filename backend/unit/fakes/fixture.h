/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * fixture.h - for the tests: a vHCA with the fake HCA behind it and a guest of plain memory before it,
 * and the guest's side of each command.
 */
#ifndef XEN_IB_FIXTURE_H
#define XEN_IB_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>

#include "commands/cmd.h"
#include "unit/fakes/hca_fake.h"
#include "unit/fakes/transport_shm.h"
#include "vhca/vhca.h"

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

struct fixture {
	struct fake_hca fake;
	struct shm *shm;
	struct quota quota;
	uint32_t event_bit; /* of the CQs to be made: none, unless a test asks for it */
	struct vhca v;
	struct cmd *cmd;
	uint32_t refs[XEN_VHCA_DATA_REFS]; /* the data page of fixture_do() */
	xen_vhca_handle_t handle;          /* of the last object made */
	int mads;                          /* of fixture_mads(), or 0 */
	uint32_t vectors;                  /* of fixture_events(), if it is not one */
	unsigned int gfns;        /* given by fixture_process(), of an auto-translated guest */
	unsigned int descriptors; /* that were open before */
};

/* One of each object, of one process. */
struct fixture_process {
	xen_vhca_handle_t ctx, uar, pd, umem, cq, srq, qp, mr, inline_mr, persistent_mr, persistent,
		mw;
};

/* The pages of events, if a test wants them. */
#define FIXTURE_BITS_REF (SHM_PAGES - 2)
#define FIXTURE_ASYNC_REF (SHM_PAGES - 1)

void fixture_init(struct fixture *fix, bool auto_translated, const struct quota *quota);
void fixture_fini(struct fixture *fix);

/* fixture_dmabufs - from now on umems that are for MRs alone are dma-bufs. */
void fixture_dmabufs(struct fixture *fix);

/* fixture_queue_dmabufs - the same of all umems. */
void fixture_queue_dmabufs(struct fixture *fix);

/* fixture_watches - the transport tells of completions itself. Before fixture_events(). */
void fixture_watches(struct fixture *fix);

/* fixture_events - from now on contexts have events. */
void fixture_events(struct fixture *fix);

/*
 * fixture_mads - the guest's kernel may have management. Returns the other end: what it sends can be
 * read there, what is written there is for it. Closed by fixture_fini().
 */
int fixture_mads(struct fixture *fix);

/* fixture_mads_told - the module was told this command, XEN_IBGSI_START or _RESET, next. */
void fixture_mads_told(const struct fixture *fix, uint32_t expected);

/* fixture_do - one command, in this thread. Its response: fix->cmd->rsp, its handle: fix->handle. */
enum xen_vhca_status fixture_do(struct fixture *fix, const struct xen_vhca_req *req);

/* A command that names one object. */
enum xen_vhca_status fixture_object(struct fixture *fix, unsigned int op, xen_vhca_handle_t handle);

/*
 * fixture_process - opens a context and makes one of each in it. Stops at the first refusal, with what
 * has been made so far.
 */
enum xen_vhca_status fixture_process(struct fixture *fix, struct fixture_process *p);

/* fixture_exit - destroys one by one what fixture_process() made, and the context. */
void fixture_exit(struct fixture *fix, const struct fixture_process *p);

/* fixture_close_all - closes all contexts. What the quota has given it has back. */
void fixture_close_all(struct fixture *fix);

/* fixture_is_empty - nothing is in use, in the quota, on the HCA, of the guest's frames. */
bool fixture_is_empty(struct fixture *fix);

/* fixture_wait_read_behind - until so many events that the transport has told of have been read, and no more have. */
void fixture_wait_read_behind(struct fixture *fix, uint64_t events);

#endif
