// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What another process has, by its true numbers: it passes them over a pipe.
 *
 * A handle means something in the file that it was given to alone, so the errors are those of handles.c. Doorbell
 * pages have indexes in their context alone: the driver says EINVAL.
 */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "handles.h"

/* More objects than the attacker has, so that the owner's numbers are none of his. */
#define AHEAD 64
#define UARS_AHEAD 3

struct owner {
	pid_t pid;
	int numbers, go; /* what it says, what it is told */
	struct uabi_set set;
};

/* PDs and doorbell pages before the set, and then the set. */
static int make_ahead(int fd, struct uabi_set *set)
{
	struct xenib_uar_alloc_resp resp;
	uint32_t handle;
	int i, err = 0;

	for (i = 0; !err && i < AHEAD; i++)
		err = uabi_alloc_pd(fd, &handle);
	for (i = 0; !err && i < UARS_AHEAD; i++)
		err = uabi_alloc_uar(fd, XENIB_UAR_NC, &handle, &resp);
	return err ? err : uabi_make(fd, set);
}

static void be_owner(const struct forge *f, int numbers, int go)
{
	struct uabi_set set;
	int fd = forge_open(f);
	size_t i;
	char c;

	require(!make_ahead(fd, &set), "the owner makes its objects");
	require(write(numbers, &set, sizeof(set)) == sizeof(set), "the owner tells its numbers");
	require(read(go, &c, 1) == 1, "the owner waits");
	require(!uabi_query_qp(fd, set.qp) && !uabi_query_srq(fd, set.srq),
		"the owner's queues are there");
	for (i = 0; i < 5; i++) /* those that make something in its PD and on its CQs */
		require(!handle_users[i].use(fd, &set), "the owner's PD and CQs work: %s",
			handle_users[i].name);
	close(fd);
}

static void owner_start(const struct forge *f, struct owner *o)
{
	int numbers[2], go[2];

	require(!pipe(numbers) && !pipe(go), "make pipes");
	o->pid = check_fork();
	if (!o->pid) {
		be_owner(f, numbers[1], go[0]);
		check_end_case();
	}
	close(numbers[1]);
	close(go[0]);
	o->numbers = numbers[0];
	o->go = go[1];
	require(read(o->numbers, &o->set, sizeof(o->set)) == sizeof(o->set),
		"the owner has its objects");
}

static void owner_is_well(struct owner *o)
{
	int status = -1;

	require(write(o->go, "", 1) == 1, "tell the owner");
	require(waitpid(o->pid, &status, 0) == o->pid, "wait for the owner");
	check(WIFEXITED(status) && !WEXITSTATUS(status),
	      "what the owner has still works (status %#x)", status);
}

static void foreign_handles(const void *arg)
{
	struct forge f;
	struct owner o;
	size_t i;

	(void)arg;
	forge_begin(&f);
	owner_start(&f, &o);
	for (i = 0; i < handle_user_count; i++) {
		handle_refused(&f, &handle_users[i], *handle_in(&o.set, &handle_users[i]),
			       "another process's handle");
		beside_works(&f.beside, handle_users[i].name);
	}
	owner_is_well(&o);
	forge_end(&f);
}

/* The same process may open the device twice; its contexts are as apart as two processes. */
static void second_context(const void *arg)
{
	struct uabi_set set;
	struct forge f;
	size_t i;
	int fd;

	(void)arg;
	forge_begin(&f);
	fd = forge_open(&f);
	require(!make_ahead(fd, &set), "a second context makes its objects");
	for (i = 0; i < handle_user_count; i++) {
		handle_refused(&f, &handle_users[i], *handle_in(&set, &handle_users[i]),
			       "another context's handle");
		beside_works(&f.beside, handle_users[i].name);
	}
	require(!uabi_unmake(fd, &set), "the second context's objects were not touched");
	close(fd);
	forge_end(&f);
}

static int cq_on_uar(struct forge *f, uint32_t index)
{
	struct ib_uverbs_create_cq core;
	struct xenib_create_cq_req driver;
	uint32_t cq;

	uabi_good_cq(&f->set, &core, &driver);
	driver.uar = index;
	return uabi_create_cq(f->fd, &core, &driver, &cq);
}

static int qp_on_uar(struct forge *f, uint32_t index)
{
	struct ib_uverbs_create_qp core;
	struct xenib_create_qp_req driver;
	uint32_t qp;

	uabi_good_qp(&f->set, &core, &driver);
	driver.uar = index;
	return uabi_create_qp(f->fd, &core, &driver, &qp);
}

static void foreign_uar(const void *arg)
{
	const uint32_t indexes[] = { 1, 2, 1000, 0x7fffffff, 0x80000000, 0xffffffff };
	struct xenib_uar_alloc_resp resp;
	struct forge f;
	struct owner o;
	uint32_t uar;
	size_t i;

	(void)arg;
	forge_begin(&f);
	owner_start(&f, &o);
	require(o.set.uar_index > f.set.uar_index,
		"the owner's page has an index that is none of the attacker's");
	REFUSED(&f, cq_on_uar(&f, o.set.uar_index), "a CQ on another process's doorbell page",
		EINVAL);
	REFUSED(&f, qp_on_uar(&f, o.set.uar_index), "a QP on another process's doorbell page",
		EINVAL);
	for (i = 0; i < ARRAY_SIZE(indexes); i++) {
		REFUSED_QUICK(cq_on_uar(&f, indexes[i]),
			      "a CQ on a doorbell page that does not exist", EINVAL);
		REFUSED_QUICK(qp_on_uar(&f, indexes[i]),
			      "a QP on a doorbell page that does not exist", EINVAL);
	}
	require(!uabi_alloc_uar(f.fd, XENIB_UAR_NC, &uar, &resp), "one more doorbell page");
	require(!uabi_free_uar(f.fd, uar), "and free it");
	REFUSED(&f, cq_on_uar(&f, resp.index), "a CQ on a doorbell page that was freed", EINVAL);
	owner_is_well(&o);
	forge_end(&f);
}

static const struct check_case cases[] = {
	CHECK_CASE("process-handle", foreign_handles, "the true handles of another process",
		   .seconds = 180),
	CHECK_CASE("process-context", second_context, "the true handles of another context",
		   .seconds = 180),
	CHECK_CASE("process-uar", foreign_uar, "queues on doorbell pages of others"),
};

const struct check_table forge_process = { cases, ARRAY_SIZE(cases) };
