// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Connections that end at the wrong time, in the wrong way, or too often.
 */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hostile.h"

#define CONNECTIONS 10
#define LIST 256 /* pages: enough to take its time, few enough for all slots at once */

static void run_reconnect(const void *arg)
{
	struct vf_process p;
	struct vfront v;
	int i;

	(void)arg;
	vf_open(&v, 0);
	for (i = 0; i < CONNECTIONS; i++) {
		vf_connect(&v, i % (XEN_VHCA_MAX_RING_PAGE_ORDER + 1));
		vf_process_make(&v, &p);
		if (i & 1)
			vf_process_free(&v, &p); /* else it goes with the connection */
		vf_disconnect(&v);
		vf_unshare(&v, &p.pages);
	}
	hostile_works(&v);
	vf_close(&v);
}

static void load(struct hostile *h)
{
	struct xen_vhca_req req = vf_reg_inline(h->p.pd, LIST);
	uint32_t refs[LIST];
	unsigned int i;

	hostile_refs(h, refs, LIST);
	for (i = 0; i < h->v.entries; i++)
		vf_send(&h->v, &req, refs, LIST);
}

/* In a process of its own, which is killed with all that it has. */
static void run_killed(const void *arg)
{
	struct hostile h;
	struct vfront v;
	int status, i;
	pid_t pid;

	(void)arg;
	vf_open(&v, 0);
	for (i = 0; i < 2; i++) {
		pid = check_fork();
		if (!pid) {
			hostile_begin(&h);
			load(&h);
			raise(SIGKILL);
		}
		require(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
				WTERMSIG(status) == SIGKILL,
			"a frontend dies with commands at work (status %#x)", status);
		check(vf_backend_state(&v) == VF_CONNECTED, "the backend does not know yet");
		hostile_works(&v);
	}
	vf_close(&v);
}

static void run_close_under_load(const void *arg)
{
	struct hostile h;

	(void)arg;
	hostile_begin(&h);
	load(&h);
	vf_disconnect(&h.v);
	hostile_works(&h.v);
	vf_close(&h.v);
}

/* The contexts of all processes closed at once, with commands of each at work. */
static void run_contexts_under_load(const void *arg)
{
	struct vf_process p[6];
	struct xen_vhca_req req;
	uint32_t refs[600];
	struct hostile h;
	unsigned int i, n;

	(void)arg;
	hostile_begin(&h);
	hostile_refs(&h, refs, ARRAY_SIZE(refs));
	for (i = 0; i < ARRAY_SIZE(p); i++)
		vf_process_make(&h.v, &p[i]);
	for (n = 0; n < 3; n++) {
		for (i = 0; i < ARRAY_SIZE(p); i++) {
			req = vf_reg_inline(p[i].pd, ARRAY_SIZE(refs));
			vf_send(&h.v, &req, refs, ARRAY_SIZE(refs));
		}
	}
	for (i = 0; i < ARRAY_SIZE(p); i++) {
		req = vf_object(XEN_VHCA_OP_CTX_CLOSE, p[i].ctx);
		vf_send(&h.v, &req, NULL, 0);
	}
	vf_collect(&h.v, 0);
	check(!h.v.tally.refused[XEN_VHCA_OP_CTX_CLOSE][XEN_VHCA_E_HANDLE],
	      "each context was closed");
	for (i = 0; i < ARRAY_SIZE(p); i++) {
		req = vf_object(XEN_VHCA_OP_QP_QUERY, p[i].qp);
		REFUSED(&h.v, &req, E_HANDLE, "a QP of a context that was closed");
		vf_unshare(&h.v, &p[i].pages);
	}
	hostile_end(&h);
}

/* States that make no sense while connected, and do no harm. A number that is no state is as good as none: the end. */
static void run_states(const void *arg)
{
	const enum vf_state states[] = { VF_INITIALISING, VF_INIT_WAIT, VF_INITIALISED,
					 VF_CONNECTED };
	struct xen_vhca_req req;
	struct hostile h;
	size_t i;

	(void)arg;
	hostile_begin(&h);
	for (i = 0; i < ARRAY_SIZE(states); i++) {
		vf_set_state(&h.v, states[i]);
		req = vf_object(XEN_VHCA_OP_QP_QUERY, h.p.qp);
		require(!vf_do(&h.v, &req)->status, "a command in state %u", states[i]);
	}
	vf_set_state(&h.v, 99);
	vf_expect_backend(&h.v, VF_CLOSED);
	vf_release(&h.v);
	vf_set_state(&h.v, VF_CLOSED);
	hostile_works(&h.v);

	vf_connect(&h.v, HOSTILE_ORDER);
	vf_remove(&h.v, "state");
	vf_expect_backend(&h.v, VF_INIT_WAIT);
	vf_release(&h.v);
	hostile_works(&h.v);
	vf_close(&h.v);
}

/* Initialised without anything published; Connected at once. */
static void run_skipped(const void *arg)
{
	struct vfront v;

	(void)arg;
	vf_open(&v, 0);
	vf_wait_offer(&v);
	vf_remove(&v, "version");
	vf_set_state(&v, VF_INITIALISED);
	hostile_closed(&v, "version");
	vf_wait_offer(&v);
	vf_set_state(&v, VF_CONNECTED);
	usleep(300000);
	check(vf_backend_state(&v) == VF_INIT_WAIT, "the backend waits for Initialised");
	vf_set_state(&v, VF_CLOSED);
	hostile_works(&v);
	vf_close(&v);
}

static const struct check_case cases[] = {
	CHECK_CASE("life-reconnect", run_reconnect, "ten connections one after the other",
		   .seconds = 400),
	CHECK_CASE("life-killed", run_killed, "a frontend that ends without closing",
		   .seconds = 120),
	CHECK_CASE("life-close-under-load", run_close_under_load,
		   "closing while commands are at work"),
	CHECK_CASE("life-contexts-under-load", run_contexts_under_load,
		   "contexts closed while their commands are at work"),
	CHECK_CASE("life-states", run_states, "states that make no sense", .seconds = 120),
	CHECK_CASE("life-skipped", run_skipped, "states that are skipped", .seconds = 120),
};

const struct check_table hostile_life = { cases, ARRAY_SIZE(cases) };
