// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <string.h>

#include "hostile.h"

/* The connection that a case has left for the next one in its process: to connect takes longer than most of what is tried. */
static struct vfront previous; /* none without xenstore */

static void leave(struct vfront *v)
{
	vf_disconnect(v);
	vf_close(v);
	v->xs = NULL;
}

static void begin(struct hostile *h, bool events)
{
	memset(h, 0, sizeof(*h));
	if (previous.xs && previous.wants_events != events)
		leave(&previous);
	if (previous.xs) {
		h->v = previous;
		previous.xs = NULL;
	} else {
		vf_open(&h->v, 0);
		h->v.wants_events = events;
		vf_connect(&h->v, HOSTILE_ORDER);
	}
	vf_process_make(&h->v, &h->p);
	vf_share(&h->v, &h->pool, HOSTILE_POOL, h->v.backend, true);
}

void hostile_begin(struct hostile *h)
{
	begin(h, false);
}

void hostile_begin_events(struct hostile *h)
{
	begin(h, true);
}

void hostile_refs(const struct hostile *h, uint32_t *refs, unsigned int n)
{
	while (n--)
		refs[n] = h->pool.refs[n % HOSTILE_POOL];
}

void hostile_end(struct hostile *h)
{
	hostile_counted(&h->v);
	vf_process_free(&h->v, &h->p);
	vf_unshare(&h->v, &h->pool);
	if (check_goes_on()) {
		previous = h->v;
		return;
	}
	leave(&h->v);
}

void hostile_refused_at(const char *file, int line, struct vfront *v,
			const struct xen_vhca_req *req, const uint32_t *refs, unsigned int n,
			enum xen_vhca_status status, const char *what)
{
	const struct xen_vhca_rsp *rsp = vf_do_refs(v, req, refs, n);

	check_at(file, line, rsp->status == status, "the status of vhca.h",
		 "%s: %s ends with %s (got %s)", vhca_op_name(req->op), what,
		 vhca_status_name(status), vhca_status_name(rsp->status));
}

void hostile_works(struct vfront *v)
{
	struct vf_process p;

	vf_connect(v, HOSTILE_ORDER);
	vf_process_make(v, &p);
	vf_process_free(v, &p);
	vf_disconnect(v);
}

void hostile_closed(struct vfront *v, const char *reason)
{
	static unsigned int closed; /* in this case: each is a process of its own */
	char is[256];

	vf_wait_closed(v, is, sizeof(is));
	check(strstr(is, reason), "the backend says \"%s\" (it says \"%s\")", reason, is);
	if (++closed % 2 == 0)
		hostile_works(v);
}

void hostile_spoiled(struct vfront *v, void (*spoil)(struct vfront *v, const char *value),
		     const char *value, const char *reason)
{
	vf_wait_offer(v);
	vf_set_state(v, VF_INITIALISING);
	vf_prepare(v, HOSTILE_ORDER);
	vf_publish(v);
	spoil(v, value);
	vf_set_state(v, VF_INITIALISED);
	hostile_closed(v, reason);
}

int main(int argc, char **argv)
{
	const struct check_table tables[] = {
		hostile_handles, hostile_requests,   hostile_memory,  hostile_grants,
		hostile_ring,    hostile_fetch,      hostile_connect, hostile_life,
		hostile_events,  hostile_persistent, hostile_mads,    hostile_connections,
		hostile_limits,
	};

	ask_setup(&argc, argv);
	return check_main_tables(
		argc, argv,
		"A frontend that breaks the protocol. Runs in a guest without xen-ibfront that has vHCA 0.\n"
		"With --answers it asks for the daemon's counters: see tests/programs/isolation/answering.",
		tables, ARRAY_SIZE(tables));
}
