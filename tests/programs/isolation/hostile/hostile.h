/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * hostile: a frontend that breaks the protocol of vhca.h, one rule at a time.
 *
 * A request that breaks a rule is refused with the status that vhca.h gives, counted, and has no other effect. A guest
 * that breaks the ring, or connects with parameters that cannot be, loses this vHCA: the backend closes it and says why.
 * It may connect again, and everything works.
 */
#ifndef HOSTILE_H
#define HOSTILE_H

#include "ask.h"
#include "vfront_make.h"

#define HOSTILE_ORDER 2

#define HOSTILE_POOL 64

/* A connection, one process with one of each object on it, and pages for long lists. */
struct hostile {
	struct vfront v;
	struct vf_process p;
	struct vf_pages pool;
};

/*
 * A list of n references. They come again and again, as pages may be mapped more than once; but not more than 255 times
 * each, says Xen: so no more than 16,000 may be mapped at a time.
 */
void hostile_refs(const struct hostile *h, uint32_t *refs, unsigned int n);

void hostile_begin(struct hostile *h);
void hostile_begin_events(struct hostile *h); /* with the pages of events */

/*
 * The daemon counted what it answered; the process's objects are as they were, and can be destroyed; nothing is left. Cases
 * that run together, all of them from hostile_begin() to hostile_end(), have one connection; that another works is seen by
 * the next one that connects.
 */
void hostile_end(struct hostile *h);

/* mads.c: the same, of a guest whose kernel has a context and the GSI. */
xen_vhca_handle_t hostile_begin_gsi(struct hostile *h);
void hostile_end_gsi(struct hostile *h, xen_vhca_handle_t kernel);

/* The request is refused with this status. */
void hostile_refused_at(const char *file, int line, struct vfront *v,
			const struct xen_vhca_req *req, const uint32_t *refs, unsigned int n,
			enum xen_vhca_status status, const char *what);
#define REFUSED(v, req, status, what) \
	hostile_refused_at(__FILE__, __LINE__, v, req, NULL, 0, XEN_VHCA_##status, what)
#define REFUSED_REFS(v, req, refs, n, status, what) \
	hostile_refused_at(__FILE__, __LINE__, v, req, refs, n, XEN_VHCA_##status, what)

/*
 * The backend has closed, for a reason with this text in it. Every second time another connection is seen to work, with
 * which the daemon forgets: it takes longer and longer, from half a second on, to serve a guest that does nothing but break
 * the rules.
 */
void hostile_closed(struct vfront *v, const char *reason);

/*
 * A connection whose parameters @spoil has changed after they were published is closed, for a reason with this text in it:
 * hostile_closed().
 */
void hostile_spoiled(struct vfront *v, void (*spoil)(struct vfront *v, const char *value),
		     const char *value, const char *reason);

/* A connection works, and can be ended. */
void hostile_works(struct vfront *v);

/* status.c: the daemon's counters are those of the connection. Asks; without answers it looks at nothing. */
void hostile_counted(struct vfront *v);

/* A number of the daemon's status file; 0 without answers. */
uint64_t hostile_number(struct vfront *v, const char *name);

/* It has risen by so much since it was this. Asks as well. */
void hostile_rose(struct vfront *v, const char *name, uint64_t since, unsigned int by);

extern const struct check_table hostile_handles, hostile_requests, hostile_memory, hostile_grants,
	hostile_ring, hostile_fetch, hostile_connect, hostile_life, hostile_events,
	hostile_persistent, hostile_mads, hostile_connections, hostile_limits;

#endif
