// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The same addresses again: registered, used, deregistered, and other memory put there before they are registered once
 * more. Whoever remembers registrations has to notice.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "integrity.h"

#define PAGE 4096ul
#define ROUNDS 2

/* What may happen to memory of @len bytes between two registrations. */
struct change {
	void (*run)(uint8_t *at, size_t len);
	bool file; /* the memory is a file, which is cut to nothing */
};

static uint8_t *map_at(uint8_t *at, size_t len, int flags, int fd)
{
	uint8_t *got = mmap(at, len, PROT_READ | PROT_WRITE, flags | (at ? MAP_FIXED : 0), fd, 0);

	require(got != MAP_FAILED, "map %zu bytes", len);
	return got;
}

static void nothing(uint8_t *at, size_t len)
{
	(void)at;
	(void)len;
}

static void map_anew(uint8_t *at, size_t len)
{
	map_at(at, len, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static void unmap_and_map(uint8_t *at, size_t len)
{
	require(!munmap(at, len), "unmap");
	map_anew(at, len);
}

static void drop_pages(uint8_t *at, size_t len)
{
	require(!madvise(at, len, MADV_DONTNEED), "MADV_DONTNEED");
}

static void drop_one_page(uint8_t *at, size_t len)
{
	drop_pages(at + (len / PAGE - 1) * PAGE, PAGE);
}

/* Pages of somewhere else move here. */
static void move_here(uint8_t *at, size_t len)
{
	uint8_t *from = map_at(NULL, len, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	memset(from, 0x5a, len);
	require(mremap(from, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, at) == at, "move pages");
}

/* The child shares the pages, so those that we write to become others. */
static void write_after_fork(uint8_t *at, size_t len)
{
	pid_t pid = fork();

	if (!pid) {
		pause();
		_exit(0);
	}
	require(pid > 0, "fork");
	memset(at, 0x77, len);
	require(!kill(pid, SIGKILL) && waitpid(pid, NULL, 0) == pid, "end the child");
}

/* Nobody may write here for a while, and the HCA neither. */
static void protect_for_a_while(uint8_t *at, size_t len)
{
	require(!mprotect(at, len, PROT_READ), "protect");
	require(!mprotect(at, len, PROT_READ | PROT_WRITE), "unprotect");
}

static struct ibv_mr *reg(struct vp_end *end, uint8_t *at, size_t len)
{
	struct ibv_mr *mr = ibv_reg_mr(end->pd, at, len, VP_ACCESS_ALL);

	require(mr, "register %zu bytes", len);
	return mr;
}

/* The end of what is registered, as filling it takes longer than all else. */
static void use(struct fixture *fix, uint8_t *at, size_t len, struct ibv_mr *mr)
{
	size_t some = len < 4 * PAGE ? len : 4 * PAGE;

	at += len - some;
	there_and_back(&fix->pair.a, fix->pair.a.buf, fix->pair.a.mr, at, (uintptr_t)at, mr, some);
}

static void rounds_of(struct fixture *fix, const struct change *change, size_t pages, size_t skip)
{
	int fd = change->file ? memfd_create("pages", MFD_CLOEXEC) : -1;
	size_t size = pages * PAGE, len = size - skip - 8;
	struct vp_end *b = &fix->pair.b;
	uint8_t *at;
	int i;

	require(!change->file || (fd >= 0 && !ftruncate(fd, size)), "a file of %zu bytes", size);
	at = map_at(NULL, size, change->file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd);
	for (i = 0; i < ROUNDS; i++) {
		struct ibv_mr *mr = reg(b, at + skip, len), *second = reg(b, at + skip, len);

		use(fix, at + skip, len, mr);
		require(!ibv_dereg_mr(mr), "deregister");
		use(fix, at + skip, len, second);
		require(!ibv_dereg_mr(second), "deregister the second");
		change->run(at, size);
		if (change->file)
			require(!ftruncate(fd, 0) && !ftruncate(fd, size),
				"cut the file, and make it longer again");
	}
	munmap(at, size);
	if (fd >= 0)
		close(fd);
}

/* Some pages, and more than fit into one command of a paravirtual device. */
static void changing(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct fixture fix;

	fixture_open(&fix, &conf, 4 * PAGE);
	rounds_of(&fix, arg, 3, 100);
	rounds_of(&fix, arg, 1100, 0);
	fixture_close(&fix);
}

/* Memory that was registered for writing and is read-only now cannot be registered for writing. */
static void read_only_now(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct ibv_mr *mr;
	struct fixture fix;
	uint8_t *at;

	(void)arg;
	fixture_open(&fix, &conf, PAGE);
	at = map_at(NULL, 4 * PAGE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	memset(at, 1, 4 * PAGE);
	require(!ibv_dereg_mr(reg(&fix.pair.b, at, 4 * PAGE)), "deregister");
	require(!mprotect(at, 4 * PAGE, PROT_READ), "protect");
	mr = ibv_reg_mr(fix.pair.b.pd, at, 4 * PAGE, VP_ACCESS_ALL);
	check(!mr && errno == EFAULT, "refused with EFAULT, errno is %d", errno);
	require(!munmap(at, 4 * PAGE), "unmap");
	mr = ibv_reg_mr(fix.pair.b.pd, at, 4 * PAGE, VP_ACCESS_ALL);
	check(!mr && errno == EFAULT, "refused with EFAULT where nothing is, errno is %d", errno);
	fixture_close(&fix);
}

#define CHANGE(name_, help_, run_, ...) \
	CHECK_CASE("mr-" name_, changing, help_, \
		   .arg = &(const struct change){ .run = run_, ##__VA_ARGS__ }, .seconds = 120)

static const struct check_case cases[] = {
	CHANGE("unchanged", "register the same memory again", nothing),
	CHANGE("mapped-anew", "... and meanwhile map other memory over it", map_anew),
	CHANGE("unmapped", "... unmap it and map other memory", unmap_and_map),
	CHANGE("dropped", "... drop its pages", drop_pages),
	CHANGE("one-dropped", "... drop its last page", drop_one_page),
	CHANGE("moved-to", "... move other pages there", move_here),
	CHANGE("forked", "... fork, and write to it", write_after_fork),
	CHANGE("protected", "... make it read-only for a while", protect_for_a_while),
	CHANGE("file-cut", "... cut the file that it is", nothing, .file = true),
	CHECK_CASE("mr-read-only-now", read_only_now,
		   "what has become read-only is not registered for writing"),
};

const struct check_table integrity_remap = { .cases = cases, .count = ARRAY_SIZE(cases) };
