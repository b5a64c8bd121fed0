// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Two threads of one process that do at once what excludes each other.
 *
 * What each of them gets is a matter of luck. Not so what is left: nothing that cannot be destroyed, and no word of the
 * kernel on the console (which the test runner looks for).
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/userfaultfd.h>

#include "forge.h"

#define ROUNDS 200
#define ROUNDS_MAX 5000 /* for what must have happened once */

struct race {
	struct forge f;
	_Atomic bool stop;
	_Atomic unsigned int won, busy; /* what the thread beside got, and what it found in use */
};

static void start(struct race *r, pthread_t *thread, void *(*other)(void *))
{
	memset(r, 0, sizeof(*r));
	forge_begin(&r->f);
	require(!pthread_create(thread, NULL, other, r), "start a thread");
}

static void end(struct race *r, pthread_t thread)
{
	atomic_store(&r->stop, true);
	pthread_join(thread, NULL);
	note("%u went to the other thread, which found %u in use", r->won, r->busy);
	beside_works(&r->f.beside, "the race");
}

/* A page that is not there yet, and whose first user is kept waiting until somebody has looked at it. */
struct trap {
	int fd;
	uint8_t *page;
};

static void trap_set(struct trap *t)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .range.len = UABI_PAGE,
				       .mode = UFFDIO_REGISTER_MODE_MISSING };

	t->fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (t->fd < 0)
		skip("no userfaultfd()");
	t->page = mmap(NULL, UABI_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	reg.range.start = (uintptr_t)t->page;
	require(!ioctl(t->fd, UFFDIO_API, &api) && !ioctl(t->fd, UFFDIO_REGISTER, &reg),
		"set a trap");
}

/* Waits for its first user. */
static void trap_wait(struct trap *t)
{
	struct uffd_msg message;

	require(read(t->fd, &message, sizeof(message)) == sizeof(message),
		"somebody is in the trap");
}

/* Lets it go on, and find nothing there. */
static void trap_vanish(struct trap *t)
{
	struct uffdio_range range = { .start = (uintptr_t)t->page, .len = UABI_PAGE };

	require(!munmap(t->page, UABI_PAGE), "take the page away");
	ioctl(t->fd, UFFDIO_WAKE, &range); /* munmap() has woken it, perhaps */
	close(t->fd);
}

struct half_made {
	struct forge *f;
	struct trap trap;
	int ret; /* of the CQ */
};

/* Puts a CQ on the doorbell page whose maker has no answer yet. */
static void *use_half_made(void *arg)
{
	struct half_made *h = arg;
	struct ib_uverbs_create_cq core;
	struct xenib_create_cq_req driver;
	uint32_t cq;

	trap_wait(&h->trap);
	uabi_good_cq(&h->f->set, &core, &driver);
	driver.uar = h->f->set.uar_index + 1;
	h->ret = uabi_create_cq(h->f->fd, &core, &driver, &cq);
	trap_vanish(&h->trap);
	return NULL;
}

/*
 * A page whose maker does not get the answer is taken down again at once, so nothing may be on it then: its index means
 * nothing before the answer is out. The answer is to go to a page that vanishes while it is written.
 */
static void run_half_made(const void *arg)
{
	struct uverbs_arg args[3];
	struct half_made h;
	pthread_t thread;
	struct forge f;
	int ret;

	(void)arg;
	forge_begin_xenib(&f);
	h.f = &f;
	trap_set(&h.trap);
	require(!pthread_create(&thread, NULL, use_half_made, &h), "start a thread");
	args[0] = (struct uverbs_arg){ XENIB_ATTR_UAR_ALLOC_HANDLE, 0, 0 };
	args[1] = (struct uverbs_arg){ XENIB_ATTR_UAR_ALLOC_TYPE, 8, XENIB_UAR_NC };
	args[2] = (struct uverbs_arg){
		XENIB_ATTR_UAR_ALLOC_RESP,
		sizeof(struct xenib_uar_alloc_resp),
		(uintptr_t)h.trap.page,
	};
	ret = uverbs_ioctl(f.fd, RDMA_DRIVER_UNKNOWN, XENIB_OBJECT_UAR, XENIB_METHOD_UAR_ALLOC,
			   args, 3);
	pthread_join(thread, NULL);
	REFUSED(&f, ret, "a page whose maker gets no answer", EFAULT);
	REFUSED(&f, h.ret, "a CQ on it in the meantime", EINVAL);
	forge_end(&f);
}

/* Frees whatever page comes next. */
static void *free_next_uar(void *arg)
{
	struct race *r = arg;
	uint32_t handle;
	int err;

	while (!atomic_load(&r->stop)) {
		for (handle = r->f.set.ah + 1; handle < r->f.set.ah + 3; handle++) {
			err = uabi_free_uar(r->f.fd, handle);
			r->won += !err;
			r->busy += err == -EBUSY;
		}
	}
	return NULL;
}

/* A page under a queue is not freed. libmlx5's is, for new queues, by one of the two; EBUSY while the other is at it. */
static void check_in_use(int err)
{
	if (uabi_is_mlx5())
		check(!err || err == -ENOENT || err == -EBUSY,
		      "the CQ's page can be freed, once (got %d)", err);
	else
		check(err == -EBUSY, "the CQ's page is there, and in use (got %d)", err);
}

/*
 * One thread makes a page and a CQ on it, the other frees the page: before, in between, after, and not while it is used.
 * Each of these must have been seen: the page gone before the CQ, the CQ made, the other refused because of it.
 */
static void run_freed(const void *arg)
{
	struct xenib_uar_alloc_resp resp;
	struct ib_uverbs_create_cq core;
	struct xenib_create_cq_req driver;
	unsigned int i, gone = 0, made = 0;
	uint32_t uar, cq;
	pthread_t thread;
	struct race r;
	int err;

	(void)arg;
	start(&r, &thread, free_next_uar);
	r.busy = uabi_is_mlx5();
	for (i = 0; i < ROUNDS || (i < ROUNDS_MAX && !(gone && made && r.busy)); i++) {
		if (uabi_alloc_uar(r.f.fd, XENIB_UAR_NC, &uar, &resp))
			continue;
		if (i % 2)
			sched_yield(); /* on one CPU the other thread has no chance else */
		uabi_good_cq(&r.f.set, &core, &driver);
		driver.uar = resp.index;
		err = uabi_create_cq(r.f.fd, &core, &driver, &cq);
		check(!err || err == -EINVAL, "the CQ is made, or its page is gone (got %d)", err);
		made += !err;
		gone += err == -EINVAL;
		if (!err) {
			check_in_use(uabi_free_uar(r.f.fd, uar));
			require(!uabi_destroy(r.f.fd, IB_USER_VERBS_CMD_DESTROY_CQ, cq),
				"destroy the CQ");
		}
		uabi_free_uar(r.f.fd, uar);
	}
	end(&r, thread);
	check(gone && made && r.busy,
	      "in %u rounds %u pages were gone before the CQ, %u CQs were made, %u found in use", i,
	      gone, made, r.busy);
	forge_end(&r.f);
}

/* Destroys the set's own MR again and again. */
static void *dereg(void *arg)
{
	struct race *r = arg;

	while (!atomic_load(&r->stop))
		if (!uabi_destroy(r->f.fd, IB_USER_VERBS_CMD_DEREG_MR, r->f.set.mr))
			r->won++;
	return NULL;
}

/* Every MR is destroyed exactly once, by whom does not matter. */
static void run_twice(const void *arg)
{
	struct ib_uverbs_reg_mr req;
	unsigned int own = 0, made = 1; /* that of the set */
	pthread_t thread;
	struct race r;
	uint32_t mr;
	int i;

	(void)arg;
	start(&r, &thread, dereg);
	uabi_good_mr(&r.f.set, &req);
	for (i = 0; i < ROUNDS; i++) {
		require(!uabi_reg_mr(r.f.fd, &req, &mr), "register memory");
		made++;
		if (!uabi_destroy(r.f.fd, IB_USER_VERBS_CMD_DEREG_MR, mr))
			own++;
	}
	end(&r, thread);
	check(own + r.won == made, "%u MRs were destroyed %u times", made, own + r.won);
	require(!uabi_reg_mr(r.f.fd, &req, &r.f.set.mr), "one more for the end");
	forge_end(&r.f);
}

/* Opens a context, makes one of each and is gone, while the other does the same: no order of ends is special. */
static void *open_and_close(void *arg)
{
	struct race *r = arg;
	struct uabi_set set;
	int fd;

	while (!atomic_load(&r->stop)) {
		fd = uabi_open(r->f.device);
		if (fd < 0)
			continue;
		if (!uabi_make(fd, &set))
			r->won++;
		close(fd);
	}
	return NULL;
}

static void run_contexts(const void *arg)
{
	struct uabi_set set;
	pthread_t thread;
	struct race r;
	int i, fd;

	(void)arg;
	start(&r, &thread, open_and_close);
	for (i = 0; i < 20; i++) {
		fd = forge_open(&r.f);
		require(!uabi_make(fd, &set), "one of each in another context");
		close(fd);
	}
	end(&r, thread);
	check(r.won, "the other thread made something as well");
	forge_end(&r.f);
}

static const struct check_case cases[] = {
	CHECK_CASE("race-half-made", run_half_made,
		   "a queue on a doorbell page that is not out yet"),
	CHECK_CASE("race-freed", run_freed, "a doorbell page freed while a queue is put on it",
		   .seconds = 180),
	CHECK_CASE("race-twice", run_twice, "an object destroyed twice at once", .seconds = 180),
	CHECK_CASE("race-contexts", run_contexts,
		   "contexts that come and go, with all that they have", .seconds = 120),
};

const struct check_table forge_races = { cases, ARRAY_SIZE(cases) };
