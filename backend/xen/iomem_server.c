// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * iomem_server.c - see iomem_server.h. In the names here a backend is a driver domain that has vHCAs of others.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "shared-ring/vhca_nodes.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/ratelimit.h"
#include "xen/attach.h"
#include "xen/iomem.h"
#include "xen/iomem_remote.h"
#include "xen/iomem_server.h"
#include "xen/pci_assigned.h"
#include "xen/xenbus.h"

/* Backends can cause so many lines of the log. */
static const struct ratelimit_rate line_rate = { .burst = 10, .interval_ms = 1000 };

/* Of its time, one part in so many is for driver domains, after so much at once. */
#define SHARE 4
#define BURST_MS 400

#define GFNS_MOST 65536u
#define TOUCHED_MOST 64

/* What a backend has changed. */
struct touched {
	unsigned int backend, domid, devid;
	bool one_frame; /* mfn; or all of the vHCA */
	uint64_t mfn;
};

struct iomem_server {
	struct xs_handle *xs;
	struct iomem *iomem;
	struct touched touched[TOUCHED_MOST];
	unsigned int n_touched;
	bool all;                    /* is to be looked at */
	uint64_t tat_ms;             /* when the time that was spent is regained */
	struct ratelimit lines;      /* of the log, that a backend can cause */
	unsigned char seen[DOMAINS]; /* in which look; 0: it is not watched */
	unsigned int seen_end;       /* from here on all are 0 */
	unsigned char look;
};

/* A vHCA, while it is looked at; request and grant are its directories. */
struct view {
	struct iomem_server *s;
	unsigned int backend, domid, devid;
	bool auto_translated;
	struct pci_assigned
		*assigned; /* of the backend; read when it is needed: n is UNREAD before */
	char nodes[IOMEM_PATH], frontend[IOMEM_PATH], requests[IOMEM_PATH], grants[IOMEM_PATH];
	bool left; /* is a frame that could not be taken */
};

#define UNREAD (~0u)

/* Whether there may be one more line in the log. */
static bool may_log(struct iomem_server *s)
{
	uint64_t now = clock_ms();

	if (ratelimit_wait_ms(&s->lines, &line_rate, now))
		return false;
	ratelimit_spend(&s->lines, &line_rate, now);
	return true;
}

/* Frames */

static struct iomem_frame frame_of(const struct view *v, uint64_t mfn, uint64_t gfn)
{
	return (struct iomem_frame){
		.domid = v->domid,
		.devid = v->devid,
		.mfn = mfn,
		.gfn = gfn,
		.auto_translated = v->auto_translated,
	};
}

enum grant { GRANT_NONE, GRANT_CHANGING, GRANT_ALLOWED };

static enum grant read_grant(const struct view *v, uint64_t mfn, uint64_t *gfn)
{
	char key[24], value[24];

	snprintf(key, sizeof(key), "%" PRIu64, mfn);
	if (!xb_read(v->s->xs, v->grants, key, value, sizeof(value)))
		return GRANT_NONE;
	*gfn = strtoull(value + (*value == '?'), NULL, 10);
	return *value == '?' ? GRANT_CHANGING : GRANT_ALLOWED;
}

static bool write_grant(const struct view *v, uint64_t mfn, const char *mark, uint64_t gfn)
{
	char key[24];

	snprintf(key, sizeof(key), "%" PRIu64, mfn);
	return xb_write(v->s->xs, v->grants, key, "%s%" PRIu64, mark, gfn);
}

static void remove_node(struct iomem_server *s, const char *dir, uint64_t key)
{
	char path[IOMEM_PATH + 24];

	snprintf(path, sizeof(path), "%s/%" PRIu64, dir, key);
	xs_rm(s->xs, XBT_NULL, path);
}

/*
 * A guest that is gone has lost it by itself (-ESRCH), another has removed its mapping itself (-EINVAL).
 * After another error it may have it still: the grant stays, and whoever looks the next time tries again.
 */
static bool take(struct view *v, uint64_t mfn, uint64_t gfn)
{
	const struct iomem_frame frame = frame_of(v, mfn, gfn);
	int err;

	err = iomem_deny(v->s->iomem, &frame);
	if (err && err != -ESRCH && may_log(v->s))
		log_warning("domain %u: revoking frame %" PRIx64 " of domain %u's HCA: %s",
			    v->domid, mfn, v->backend, strerror(-err));
	if (!err || err == -ESRCH || err == -EINVAL) {
		remove_node(v->s, v->grants, mfn);
		return true;
	}
	write_grant(v, mfn, "?", gfn);
	v->left = true;
	return false;
}

static bool is_assigned(struct view *v, uint64_t mfn)
{
	if (v->assigned->n == UNREAD)
		pci_assigned_read(v->assigned, v->s->xs, v->backend);
	return pci_assigned_has(v->assigned, mfn);
}

/* Where the guest says that there is nothing else. A PV guest chooses by itself where it maps a frame. */
static bool is_place(const struct view *v, uint64_t gfn)
{
	uint64_t first, count;

	if (!v->auto_translated)
		return !gfn;
	return xb_read_number(v->s->xs, v->frontend, XEN_VHCA_FIELD_DOORBELL_GFN,
			      UINT64_MAX - GFNS_MOST, &first) &&
	       xb_read_number(v->s->xs, v->frontend, XEN_VHCA_FIELD_DOORBELL_GFNS, GFNS_MOST,
			      &count) &&
	       gfn >= first && gfn < first + count;
}

/* What may have been left half done is done again. */
static int give(struct view *v, uint64_t mfn, uint64_t gfn)
{
	const struct iomem_frame frame = frame_of(v, mfn, gfn);
	int err;

	if (!is_assigned(v, mfn))
		return -EPERM;
	if (!is_place(v, gfn))
		return -EINVAL;
	if (!write_grant(v, mfn, "?", gfn))
		return -EIO;
	err = iomem_allow(v->s->iomem, &frame);
	if (err)
		remove_node(v->s, v->grants, mfn);
	else if (!write_grant(v, mfn, "", gfn))
		err = -EIO;
	return err;
}

static void refuse(struct view *v, uint64_t mfn, int err)
{
	char path[IOMEM_PATH + 32], text[16];

	if (may_log(v->s))
		log_error("domain %u's HCA, frame %" PRIx64 ": domain %u may not map it: %s",
			  v->backend, mfn, v->domid, strerror(-err));
	snprintf(path, sizeof(path), "%s/%" PRIu64 "/error", v->requests, mfn);
	snprintf(text, sizeof(text), "%d", -err);
	xs_write(v->s->xs, XBT_NULL, path, text, strlen(text));
}

static bool was_refused(const struct view *v, uint64_t mfn)
{
	char key[32];
	uint64_t err;

	snprintf(key, sizeof(key), "%" PRIu64 "/error", mfn);
	return xb_read_number(v->s->xs, v->requests, key, UINT64_MAX, &err);
}

static bool read_request(const struct view *v, uint64_t mfn, uint64_t *gfn)
{
	char key[24];

	snprintf(key, sizeof(key), "%" PRIu64, mfn);
	return xb_read_number(v->s->xs, v->requests, key, UINT64_MAX, gfn);
}

static void check_frame(void *granted, uint64_t mfn)
{
	struct view *v = granted;
	uint64_t requested, gfn;
	enum grant grant;
	bool is_requested;
	int err;

	is_requested = read_request(v, mfn, &requested);
	grant = read_grant(v, mfn, &gfn);
	if (is_requested && grant == GRANT_ALLOWED && gfn == requested && is_assigned(v, mfn))
		return;
	if (grant != GRANT_NONE && !take(v, mfn, gfn))
		return;
	if (!is_requested || was_refused(v, mfn))
		return;
	err = give(v, mfn, requested);
	if (err)
		refuse(v, mfn, err);
}

static void drop_grant(void *granted, uint64_t mfn)
{
	uint64_t gfn;

	if (read_grant(granted, mfn, &gfn) != GRANT_NONE)
		take(granted, mfn, gfn);
}

/* vHCAs */

/* The guest has named its backend: the directory is its own. */
static bool is_agreed(const struct view *v)
{
	char backend[IOMEM_PATH];

	return xb_read(v->s->xs, v->frontend, "backend", backend, sizeof(backend)) &&
	       !strcmp(backend, v->nodes);
}

static bool is_done_with(const struct view *v)
{
	char detach[8];

	return xb_read(v->s->xs, v->nodes, "detach", detach, sizeof(detach)) &&
	       !strcmp(detach, "done");
}

/* What is made in it has the same permissions: the backend reads it, and nobody else. */
static bool make_directory(struct iomem_server *s, const char *path, unsigned int backend)
{
	struct xs_permissions perms[] = {
		{ .id = 0, .perms = XS_PERM_NONE },
		{ .id = backend, .perms = XS_PERM_READ },
	};

	return (xb_exists(s->xs, path) || xs_write(s->xs, XBT_NULL, path, "", 0)) &&
	       xs_set_permissions(s->xs, XBT_NULL, path, perms, 2);
}

/* The vHCA's own comes last, and tells that there are all. */
static void make_grants(const struct view *v)
{
	char backend[IOMEM_PATH], guest[IOMEM_PATH];

	if (xb_exists(v->s->xs, v->grants))
		return;
	snprintf(backend, sizeof(backend), IOMEM_GRANTS "/%u", v->backend);
	snprintf(guest, sizeof(guest), IOMEM_GRANTS "/%u/%u", v->backend, v->domid);
	if (make_directory(v->s, backend, v->backend) && make_directory(v->s, guest, v->backend) &&
	    xb_write(v->s->xs, guest, "type",
		     v->auto_translated ? IOMEM_TYPE_AUTO : IOMEM_TYPE_PV) &&
	    make_directory(v->s, v->grants, v->backend))
		return;
	if (may_log(v->s))
		log_error("%s: %s", guest, strerror(errno));
}

/* A guest that does not agree cannot keep the nodes of the backend, and has its own left as they are. */
static void check_vhca(struct view *v)
{
	if (!is_agreed(v)) {
		xb_each(v->s->xs, v->grants, drop_grant, v);
		if (is_done_with(v))
			xs_rm(v->s->xs, XBT_NULL, v->nodes);
		return;
	}
	make_grants(v);
	if (is_done_with(v)) {
		xb_each(v->s->xs, v->grants, drop_grant, v);
		attach_remove(v->s->xs, v->backend, v->domid, v->devid);
		return;
	}
	xb_each(v->s->xs, v->grants, check_frame, v);
	xb_each(v->s->xs, v->requests, check_frame, v);
}

/* The guest loses its device. Returns whether it has lost all frames. */
static bool forget_backend(struct view *v)
{
	xb_each(v->s->xs, v->grants, drop_grant, v);
	if (is_agreed(v))
		attach_remove(v->s->xs, v->backend, v->domid, v->devid);
	return !v->left;
}

/* Both at once: of a guest without a grant but with nodes, the backend would think that it is new. */
static void forget_guest(struct iomem_server *s, unsigned int backend, unsigned int domid)
{
	char grant[IOMEM_PATH], nodes[IOMEM_PATH];
	xs_transaction_t t;

	snprintf(grant, sizeof(grant), IOMEM_GRANTS "/%u/%u", backend, domid);
	snprintf(nodes, sizeof(nodes), "/local/domain/%u/backend/vhca/%u", backend, domid);
	do {
		t = xs_transaction_start(s->xs);
		if (t == XBT_NULL)
			return;
		xs_rm(s->xs, t, grant);
		xs_rm(s->xs, t, nodes);
	} while (!xs_transaction_end(s->xs, t, false) && errno == EAGAIN);
	if (may_log(s))
		log_info("domain %u is gone: removed its vHCAs of domain %u", domid, backend);
}

/* Walking: backends, their guests, and the vHCAs of these, by what is in the backend's nodes or in the grants. */

struct walk {
	struct iomem_server *s;
	unsigned int backend, domid;
	bool backend_gone;
	bool unknown; /* what there is to be said of a guest, or what it has */
	bool grants;  /* of vHCAs that have no nodes any more */
	bool auto_translated;
	struct pci_assigned assigned;
	char dir[64];
};

static void set_paths(struct view *v)
{
	snprintf(v->nodes, sizeof(v->nodes), "/local/domain/%u/backend/vhca/%u/%u", v->backend,
		 v->domid, v->devid);
	snprintf(v->frontend, sizeof(v->frontend), "/local/domain/%u/device/vhca/%u", v->domid,
		 v->devid);
	snprintf(v->requests, sizeof(v->requests), "/local/domain/%u/backend/vhca/%u/%u/frames",
		 v->backend, v->domid, v->devid);
	snprintf(v->grants, sizeof(v->grants), IOMEM_GRANTS "/%u/%u/%u", v->backend, v->domid,
		 v->devid);
}

static struct view granted_of(struct walk *w, unsigned int devid)
{
	struct view v = {
		.s = w->s,
		.backend = w->backend,
		.domid = w->domid,
		.devid = devid,
		.auto_translated = w->auto_translated,
		.assigned = &w->assigned,
	};

	set_paths(&v);
	return v;
}

static void walk_vhca(void *walk, uint64_t devid)
{
	struct walk *w = walk;
	struct view v;

	if (devid > UINT16_MAX)
		return;
	v = granted_of(w, devid);
	if (w->backend_gone)
		w->unknown = !forget_backend(&v) || w->unknown;
	else if (!w->grants || !xb_exists(v.s->xs, v.nodes))
		check_vhca(&v);
}

static void walk_guest(void *walk, uint64_t domid)
{
	struct walk *w = walk;
	char dir[IOMEM_PATH];
	int err;

	if (!domid || domid >= DOMAINS || domid == w->backend)
		return;
	w->domid = domid;
	err = iomem_domain(w->s->iomem, domid, &w->auto_translated);
	if (err == -ESRCH)
		forget_guest(w->s, w->backend, domid);
	if (err) {
		w->unknown = w->unknown || err != -ESRCH;
		return;
	}
	snprintf(dir, sizeof(dir), "%s/%u", w->dir, w->domid);
	xb_each(w->s->xs, dir, walk_vhca, w);
}

static void backend_dir(char dir[64], unsigned int backend)
{
	snprintf(dir, 64, "/local/domain/%u/backend/vhca", backend);
}

static bool is_gone(struct iomem_server *s, unsigned int domid)
{
	bool unused;

	return iomem_domain(s->iomem, domid, &unused) == -ESRCH;
}

/* Each domain is watched: it may become a backend. One that is gone requests nothing, whatever stands there. */
static void walk_backend(void *server, uint64_t backend)
{
	struct walk w = { .s = server, .backend = backend, .assigned.n = UNREAD };

	if (!backend || backend >= DOMAINS || is_gone(w.s, backend))
		return;
	backend_dir(w.dir, w.backend);
	if (!w.s->seen[backend] && !xs_watch(w.s->xs, w.dir, "nodes"))
		return;
	w.s->seen[backend] = w.s->look;
	if (backend >= w.s->seen_end)
		w.s->seen_end = backend + 1;
	xb_each(w.s->xs, w.dir, walk_guest, &w);
}

/* Of a backend that is gone there are these alone. */
static void walk_grants(void *server, uint64_t backend)
{
	struct walk w = { .s = server, .backend = backend, .grants = true, .assigned.n = UNREAD };

	if (backend >= DOMAINS)
		return;
	w.backend_gone = is_gone(w.s, w.backend);
	snprintf(w.dir, sizeof(w.dir), IOMEM_GRANTS "/%u", w.backend);
	xb_each(w.s->xs, w.dir, walk_guest, &w);
	if (!w.backend_gone || w.unknown)
		return;
	xs_rm(w.s->xs, XBT_NULL, w.dir);
	log_info("domain %u is gone: revoked its doorbell pages from guests", w.backend);
}

static void forget_unseen(struct iomem_server *s)
{
	unsigned int domid;
	char dir[64];

	for (domid = 0; domid < s->seen_end; domid++) {
		if (!s->seen[domid] || s->seen[domid] == s->look)
			continue;
		backend_dir(dir, domid);
		xs_unwatch(s->xs, dir, "nodes");
		s->seen[domid] = 0;
	}
}

static void check_all(struct iomem_server *s)
{
	s->look = s->look == 1 ? 2 : 1;
	xb_each(s->xs, "/local/domain", walk_backend, s);
	xb_each(s->xs, IOMEM_GRANTS, walk_grants, s);
	forget_unseen(s);
}

static void check_touched(struct iomem_server *s, const struct touched *t)
{
	struct walk w = { .s = s, .backend = t->backend, .domid = t->domid, .assigned.n = UNREAD };
	struct view v;

	if (is_gone(s, t->backend) || iomem_domain(s->iomem, t->domid, &w.auto_translated))
		return;
	v = granted_of(&w, t->devid);
	if (!t->one_frame || !is_agreed(&v)) {
		check_vhca(&v);
	} else {
		make_grants(&v);
		check_frame(&v, t->mfn);
	}
}

static void look(struct iomem_server *s)
{
	unsigned int i, n = s->n_touched;
	bool all = s->all;

	s->n_touched = 0;
	s->all = false;
	if (all)
		check_all(s);
	for (i = 0; !all && i < n; i++)
		check_touched(s, &s->touched[i]);
}

/* What has changed */

static bool is_same(const struct touched *a, const struct touched *b)
{
	return a->backend == b->backend && a->domid == b->domid && a->devid == b->devid &&
	       a->one_frame == b->one_frame && a->mfn == b->mfn;
}

static void touch(struct iomem_server *s, const struct touched *t)
{
	unsigned int i;

	for (i = 0; i < s->n_touched; i++)
		if (is_same(&s->touched[i], t))
			return;
	if (s->n_touched < TOUCHED_MOST)
		s->touched[s->n_touched++] = *t;
	else
		s->all = true;
}

/* A path that is not a vHCA's, or of what is none: all is looked at. */
static void note_event(struct iomem_server *s, const char *path)
{
	struct touched t = { 0 };
	int fields;

	fields = sscanf(path, "/local/domain/%u/backend/vhca/%u/%u/frames/%" SCNu64, &t.backend,
			&t.domid, &t.devid, &t.mfn);
	t.one_frame = fields == 4;
	if (fields < 3 || t.domid >= DOMAINS || !t.domid || t.domid == t.backend ||
	    t.devid > UINT16_MAX)
		s->all = true;
	else
		touch(s, &t);
}

static void read_events(struct iomem_server *s)
{
	char **event;

	while ((event = xs_check_watch(s->xs))) {
		note_event(s, event[XS_WATCH_PATH]);
		free(event);
	}
}

/* In how many milliseconds it may look again. */
static int rest_ms(const struct iomem_server *s)
{
	uint64_t now = clock_ms();

	return s->tat_ms > now + BURST_MS ? s->tat_ms - now - BURST_MS : 0;
}

int iomem_server_service(struct iomem_server *s)
{
	uint64_t start = clock_ms();
	int rest;

	if (!s)
		return -1;
	rest = rest_ms(s);
	if (rest)
		return rest;
	read_events(s);
	if (!s->all && !s->n_touched)
		return -1;
	look(s);
	s->tat_ms = (s->tat_ms > start ? s->tat_ms : start) + SHARE * (clock_ms() - start);
	rest = rest_ms(s);
	return rest ? rest : -1;
}

int iomem_server_fd(const struct iomem_server *s)
{
	return s && !rest_ms(s) ? xs_fileno(s->xs) : -1;
}

struct iomem_server *iomem_server_open(struct iomem *iomem)
{
	struct iomem_server *s;
	int err;

	errno = 0;
	if (iomem_own(iomem))
		return NULL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->iomem = iomem;
	s->all = true;
	s->xs = xs_open(0);
	if (s->xs && xs_watch(s->xs, "@introduceDomain", "") &&
	    xs_watch(s->xs, "@releaseDomain", "") && xs_watch(s->xs, PCI_ASSIGNED_NODES, ""))
		return s;
	err = errno;
	iomem_server_close(s);
	errno = err;
	return NULL;
}

void iomem_server_close(struct iomem_server *s)
{
	if (!s)
		return;
	xs_close(s->xs);
	free(s);
}
