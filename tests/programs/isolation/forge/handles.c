// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Handles that name nothing, nothing any more, something of another kind, or another context's object.
 *
 * A handle is looked up in the caller's own file, by the core. Of a good command one handle at a time is replaced.
 * ENOENT: the file has no such handle. EINVAL: it has, but of another kind; and older kernels say so for any object that a
 * command uses. The driver sees none of this: what counts is that it is never called with a wrong object.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "handles.h"

static int use_reg_mr(int fd, const struct uabi_set *s)
{
	struct ib_uverbs_reg_mr req;
	uint32_t mr;

	uabi_good_mr(s, &req);
	return uabi_reg_mr(fd, &req, &mr);
}

static int use_alloc_mw(int fd, const struct uabi_set *s)
{
	uint32_t mw;

	return uabi_alloc_mw(fd, s->pd, &mw);
}

static int use_create_ah(int fd, const struct uabi_set *s)
{
	uint32_t ah;

	return uabi_create_ah(fd, s->pd, &ah);
}

static int use_create_srq(int fd, const struct uabi_set *s)
{
	struct ib_uverbs_create_srq core;
	struct xenib_create_srq_req driver;
	uint32_t srq;

	uabi_good_srq(s, &core, &driver);
	return uabi_create_srq(fd, &core, &driver, &srq);
}

static int use_create_qp(int fd, const struct uabi_set *s)
{
	struct ib_uverbs_create_qp core;
	struct xenib_create_qp_req driver;
	uint32_t qp;

	uabi_good_qp(s, &core, &driver);
	return uabi_create_qp(fd, &core, &driver, &qp);
}

static int use_create_qp_srq(int fd, const struct uabi_set *s)
{
	struct ib_uverbs_create_qp core;
	struct xenib_create_qp_req driver;
	uint32_t qp;

	uabi_good_qp(s, &core, &driver);
	core.is_srq = 1;
	core.srq_handle = s->srq;
	driver.rq_wqe_count = driver.rq_wqe_shift = 0;
	return uabi_create_qp(fd, &core, &driver, &qp);
}

static int use_modify_qp(int fd, const struct uabi_set *s)
{
	return uabi_modify_qp(fd, s->qp);
}

static int use_query_qp(int fd, const struct uabi_set *s)
{
	return uabi_query_qp(fd, s->qp);
}

static int use_await_qp(int fd, const struct uabi_set *s)
{
	return uabi_await_qp(fd, s->qp);
}

static int use_make_cq(int fd, const struct uabi_set *s)
{
	return uabi_make_cq(fd, s->scq);
}

static int use_attach(int fd, const struct uabi_set *s)
{
	return uabi_attach(fd, s->qp);
}

static int use_modify_srq(int fd, const struct uabi_set *s)
{
	return uabi_modify_srq(fd, s->srq);
}

static int use_query_srq(int fd, const struct uabi_set *s)
{
	return uabi_query_srq(fd, s->srq);
}

#define DESTROY(name, command, member) \
	static int use_##name(int fd, const struct uabi_set *s) \
	{ \
		return uabi_destroy(fd, IB_USER_VERBS_CMD_##command, s->member); \
	}
DESTROY(dealloc_pd, DEALLOC_PD, pd)
DESTROY(dereg_mr, DEREG_MR, mr)
DESTROY(dealloc_mw, DEALLOC_MW, mw)
DESTROY(destroy_cq, DESTROY_CQ, scq)
DESTROY(destroy_srq, DESTROY_SRQ, srq)
DESTROY(destroy_qp, DESTROY_QP, qp)
DESTROY(destroy_ah, DESTROY_AH, ah)

static int use_free_uar(int fd, const struct uabi_set *s)
{
	return uabi_free_uar(fd, s->uar);
}

#define USER(function, member) \
	{ #function " with another " #member, use_##function, offsetof(struct uabi_set, member) }

const struct handle_user handle_users[] = {
	USER(reg_mr, pd),       USER(alloc_mw, pd),       USER(create_ah, pd),
	USER(create_srq, pd),   USER(create_qp, pd),      USER(create_qp, scq),
	USER(create_qp, rcq),   USER(create_qp_srq, srq), USER(modify_qp, qp),
	USER(query_qp, qp),     USER(await_qp, qp),       USER(attach, qp),
	USER(modify_srq, srq),  USER(query_srq, srq),     USER(dealloc_pd, pd),
	USER(dereg_mr, mr),     USER(dealloc_mw, mw),     USER(destroy_cq, scq),
	USER(destroy_srq, srq), USER(destroy_qp, qp),     USER(destroy_ah, ah),
	USER(free_uar, uar),    USER(make_cq, scq),
};

const size_t handle_user_count = ARRAY_SIZE(handle_users);

uint32_t *handle_in(struct uabi_set *set, const struct handle_user *user)
{
	return (uint32_t *)((char *)set + user->member);
}

void handle_refused(struct forge *f, const struct handle_user *user, uint32_t handle,
		    const char *kind)
{
	struct uabi_set set = f->set;
	char what[96];

	*handle_in(&set, user) = handle;
	snprintf(what, sizeof(what), "%s: %s (%#x)", user->name, kind, handle);
	REFUSED_QUICK(user->use(f->fd, &set), what, ENOENT, EINVAL);
}

static void forged(const void *arg)
{
	const uint32_t numbers[] = { 0x40,       0xffff,     0x10000,   0x7fffffff,
				     0x80000000, 0xfffffffe, 0xffffffff };
	struct forge f;
	size_t i, n;

	(void)arg;
	forge_begin(&f);
	for (i = 0; i < handle_user_count; i++) {
		for (n = 0; n < ARRAY_SIZE(numbers); n++)
			handle_refused(&f, &handle_users[i], numbers[n],
				       "a handle that was never given out");
		beside_works(&f.beside, handle_users[i].name);
	}
	forge_end(&f);
}

/* The places in the set that hold handles. */
static const size_t members[] = {
	offsetof(struct uabi_set, pd),  offsetof(struct uabi_set, mr),
	offsetof(struct uabi_set, mw),  offsetof(struct uabi_set, srq),
	offsetof(struct uabi_set, qp),  offsetof(struct uabi_set, ah),
	offsetof(struct uabi_set, uar), offsetof(struct uabi_set, scq),
	offsetof(struct uabi_set, rcq),
};

static bool is_cq(size_t member)
{
	return member == offsetof(struct uabi_set, scq) || member == offsetof(struct uabi_set, rcq);
}

static bool same_kind(size_t a, size_t b)
{
	return a == b || (is_cq(a) && is_cq(b));
}

static void other_kind(const void *arg)
{
	struct forge f;
	size_t i, n;

	(void)arg;
	forge_begin(&f);
	for (i = 0; i < handle_user_count; i++) {
		for (n = 0; n < ARRAY_SIZE(members); n++) {
			if (same_kind(members[n], handle_users[i].member))
				continue;
			handle_refused(&f, &handle_users[i],
				       *(uint32_t *)((char *)&f.set + members[n]),
				       "a handle of another kind");
		}
		beside_works(&f.beside, handle_users[i].name);
	}
	forge_end(&f);
}

/* Nothing new is made in between, so the numbers name nothing. */
static void stale(const void *arg)
{
	struct uabi_set gone;
	struct forge f;
	size_t i;

	(void)arg;
	forge_begin(&f);
	require(!uabi_make(f.fd, &gone), "make another set of objects");
	require(!uabi_unmake(f.fd, &gone), "and destroy it");
	for (i = 0; i < handle_user_count; i++) {
		handle_refused(&f, &handle_users[i], *handle_in(&gone, &handle_users[i]),
			       "a stale handle");
		beside_works(&f.beside, handle_users[i].name);
	}
	forge_end(&f);
}

static void in_use(const void *arg)
{
	struct forge f;

	(void)arg;
	forge_begin(&f);
	/* EBUSY, of the core, which counts users; of the driver for UARs. */
	REFUSED(&f, use_dealloc_pd(f.fd, &f.set), "dealloc_pd with objects in it", EBUSY);
	REFUSED(&f, use_destroy_cq(f.fd, &f.set), "destroy_cq under a QP", EBUSY);
	if (!uabi_is_mlx5()) /* libmlx5 frees pages under queues that a program has forgotten */
		REFUSED(&f, use_free_uar(f.fd, &f.set), "free_uar under CQs and a QP", EBUSY);
	require(!use_create_qp_srq(f.fd, &f.set), "a QP on the SRQ");
	REFUSED(&f, use_destroy_srq(f.fd, &f.set), "destroy_srq under a QP", EBUSY);
	close(f.fd);
	beside_works(&f.beside, "the end of a context with objects in use");
	beside_stop(&f.beside);
}

static const struct check_case cases[] = {
	CHECK_CASE("handle-forged", forged, "handles that were never given out", .seconds = 180),
	CHECK_CASE("handle-kind", other_kind, "handles of another kind of object", .seconds = 180),
	CHECK_CASE("handle-stale", stale, "handles of destroyed objects", .seconds = 180),
	CHECK_CASE("handle-in-use", in_use, "destruction of objects that others need"),
};

const struct check_table forge_handles = { cases, ARRAY_SIZE(cases) };
