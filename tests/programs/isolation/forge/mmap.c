// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Mappings of doorbell pages: what may not be mapped, and what may not become of a mapping.
 *
 * EINVAL: the core knows no page of that offset in this context, or not of that length, or wants a shared mapping. EPERM:
 * the driver lets nobody execute one; EACCES: one that is not to be written is of no use. What comes later is the memory
 * management's: EACCES, EFAULT, EINVAL as it says.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "forge.h"

#define CQ_DOORBELL 0x20

static int try_map(int fd, uint64_t offset, size_t pages, int prot, int flags)
{
	void *at = mmap(NULL, pages * UABI_PAGE, prot, flags, fd, offset);

	if (at == MAP_FAILED)
		return -errno;
	munmap(at, pages * UABI_PAGE);
	return 0;
}

static int try_plain(int fd, uint64_t offset)
{
	return try_map(fd, offset, 1, PROT_WRITE, MAP_SHARED);
}

static uint8_t *map_own(struct forge *f)
{
	void *at = mmap(NULL, UABI_PAGE, PROT_WRITE, MAP_SHARED, f->fd, f->set.uar_offset);

	require(at != MAP_FAILED, "map the attacker's own doorbell page");
	return at;
}

/* Arms CQ 0, which is nobody's: a doorbell that the HCA refuses, and whose only effect is that it was possible. */
static void ring(uint8_t *page)
{
	atomic_store((_Atomic uint64_t *)(page + CQ_DOORBELL), 0);
}

static void run_offsets(const void *arg)
{
	const uint64_t offsets[] = { 1ull << 12, 2ull << 12, 1000ull << 12,
				     1ull << 32, 1ull << 43, 0x7ffffffffffff000 };
	struct forge f;
	size_t i;

	(void)arg;
	forge_begin(&f);
	for (i = 0; i < ARRAY_SIZE(offsets); i++)
		REFUSED(&f, try_plain(f.fd, f.set.uar_offset + offsets[i]),
			"an offset that was never given out", EINVAL, EOVERFLOW);
	forge_end(&f);
}

static void run_foreign(const void *arg)
{
	struct xenib_uar_alloc_resp resp = { 0 };
	struct forge f;
	uint32_t uar;
	int fd, bare, i;

	(void)arg;
	forge_begin(&f);
	fd = forge_open(&f);
	for (i = 0; i < 4; i++)
		require(!uabi_alloc_uar(fd, XENIB_UAR_NC, &uar, &resp),
			"another context has doorbell pages");
	require(resp.mmap_offset > f.set.uar_offset,
		"with an offset that is none of the attacker's");
	REFUSED(&f, try_plain(f.fd, resp.mmap_offset), "another context's offset", EINVAL);
	require(!try_plain(fd, resp.mmap_offset), "the other context itself can map it");
	bare = uverbs_open(f.device);
	require(bare >= 0, "open the device without a context");
	REFUSED(&f, try_plain(bare, f.set.uar_offset), "a mapping without a context", EINVAL);
	close(bare);
	close(fd);
	forge_end(&f);
}

static void run_freed(const void *arg)
{
	struct xenib_uar_alloc_resp resp;
	struct forge f;
	uint8_t *page;
	uint32_t uar;

	(void)arg;
	forge_begin(&f);
	require(!uabi_alloc_uar(f.fd, XENIB_UAR_NC, &uar, &resp), "one more doorbell page");
	page = mmap(NULL, UABI_PAGE, PROT_WRITE, MAP_SHARED, f.fd, resp.mmap_offset);
	require(page != MAP_FAILED, "map it");
	require(!uabi_free_uar(f.fd, uar), "free it while it is mapped");
	REFUSED(&f, try_plain(f.fd, resp.mmap_offset), "a page that was freed, but is mapped",
		EINVAL);
	ring(page); /* still the attacker's own */
	beside_works(&f.beside, "doorbells on a page that was freed");
	require(!munmap(page, UABI_PAGE), "unmap it");
	REFUSED(&f, try_plain(f.fd, resp.mmap_offset), "a page that was freed", EINVAL);
	REFUSED(&f, uabi_free_uar(f.fd, uar), "to free it once more", ENOENT);
	forge_end(&f);
}

static void run_flags(const void *arg)
{
	const int rw = PROT_READ | PROT_WRITE;
	struct forge f;

	(void)arg;
	forge_begin(&f);
	REFUSED(&f, try_map(f.fd, f.set.uar_offset, 2, rw, MAP_SHARED), "two pages", EINVAL);
	REFUSED(&f, try_map(f.fd, f.set.uar_offset, 4096, rw, MAP_SHARED), "4096 pages", EINVAL);
	REFUSED(&f, try_map(f.fd, f.set.uar_offset, 1, rw, MAP_PRIVATE), "a private mapping",
		EINVAL);
	REFUSED(&f, try_map(f.fd, f.set.uar_offset, 1, PROT_READ, MAP_PRIVATE),
		"a private mapping to read", EINVAL, EACCES);
	REFUSED(&f, try_map(f.fd, f.set.uar_offset, 1, rw | PROT_EXEC, MAP_SHARED), "to execute",
		EPERM);
	REFUSED(&f, try_map(f.fd, f.set.uar_offset, 1, PROT_EXEC, MAP_SHARED), "to execute only",
		EPERM);
	require(!try_plain(f.fd, f.set.uar_offset), "the mapping that is meant");
	forge_end(&f);
}

static int result(int ret)
{
	return ret ? -errno : 0;
}

static int try_remap(uint8_t *page, size_t from, size_t to)
{
	return result(mremap(page, from, to, MREMAP_MAYMOVE) == MAP_FAILED);
}

/* A mapping must not be had twice, become longer, be executed, or pass to a child. */
static void run_change(const void *arg)
{
	struct forge f;
	uint8_t *page;

	(void)arg;
	forge_begin(&f);
	page = map_own(&f);
	REFUSED(&f, result(mprotect(page, UABI_PAGE, PROT_WRITE | PROT_EXEC)),
		"mprotect() to execute", EACCES);
	REFUSED(&f, try_remap(page, UABI_PAGE, 2 * UABI_PAGE), "mremap() to two pages", EFAULT,
		EINVAL);
	REFUSED(&f, try_remap(page, 0, UABI_PAGE), "mremap() to have it twice", EFAULT, EINVAL);
	REFUSED(&f, result(madvise(page, UABI_PAGE, MADV_DOFORK)),
		"madvise() to pass it to children", EINVAL);
	REFUSED(&f, result(madvise(page, UABI_PAGE, MADV_DONTNEED)), "madvise() to drop it",
		EINVAL);
	ring(page);
	beside_works(&f.beside, "a doorbell after all that");
	require(!munmap(page, UABI_PAGE), "unmap it");
	forge_end(&f);
}

/*
 * Rights that are taken and given back. In a PV guest the page is a machine frame, which the kernel cannot name when it
 * makes an entry of the page table anew: so no rights can be given (EACCES), not even those that there are, and a mapping
 * whose rights were taken is of no use any more. In other guests all of it works.
 */
static void run_rights(const void *arg)
{
	const int rights[] = { PROT_READ, PROT_READ | PROT_WRITE, PROT_WRITE };
	struct forge f;
	uint8_t *page;
	size_t i;
	int ret;

	(void)arg;
	forge_begin(&f);
	page = map_own(&f);
	for (i = 0; i < ARRAY_SIZE(rights); i++) {
		ret = result(mprotect(page, UABI_PAGE, rights[i]));
		check(!ret || ret == -EACCES, "mprotect() to rights %d (got %d)", rights[i], ret);
	}
	ring(page);
	beside_works(&f.beside, "a doorbell after rights were given");
	ret = result(mprotect(page, UABI_PAGE, PROT_NONE));
	check(!ret || ret == -EACCES, "mprotect() to no rights (got %d)", ret);
	ret = result(mprotect(page, UABI_PAGE, PROT_WRITE));
	check(!ret || ret == -EACCES, "mprotect() back (got %d)", ret);
	if (!ret)
		ring(page);
	beside_works(&f.beside, "rights that were taken");
	require(!munmap(page, UABI_PAGE), "unmap it");

	REFUSED(&f, try_map(f.fd, f.set.uar_offset, 1, PROT_NONE, MAP_SHARED),
		"a mapping without rights", EACCES);
	REFUSED(&f, try_map(f.fd, f.set.uar_offset, 1, PROT_READ, MAP_SHARED), "a mapping to read",
		EACCES);
	page = map_own(&f);
	ring(page);
	require(!munmap(page, UABI_PAGE), "unmap it");
	forge_end(&f);
}

/* So that the kernel does not report it. */
static void on_fault(int number)
{
	_exit(number);
}

static void run_child(const void *arg)
{
	struct forge f;
	uint8_t *page;
	int status;
	pid_t pid;

	(void)arg;
	forge_begin(&f);
	page = map_own(&f);
	pid = check_fork();
	if (!pid) {
		signal(SIGSEGV, on_fault);
		ring(page);
		_exit(0);
	}
	require(waitpid(pid, &status, 0) == pid, "wait for the child");
	check(WIFEXITED(status) && WEXITSTATUS(status) == SIGSEGV,
	      "a child has no doorbell page (status %#x)", status);
	ring(page);
	beside_works(&f.beside, "fork()");
	require(!munmap(page, UABI_PAGE), "unmap it");
	forge_end(&f);
}

/* Moved as a whole it is the same page at another address, and goes with its mapping. */
static void run_moved(const void *arg)
{
	struct forge f;
	uint8_t *page, *moved, *room;

	(void)arg;
	forge_begin(&f);
	page = map_own(&f);
	room = mmap(NULL, UABI_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	moved = mremap(page, UABI_PAGE, UABI_PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, room);
	require(moved == room, "move the mapping");
	ring(moved);
	beside_works(&f.beside, "a doorbell at another address");
	require(!munmap(moved, UABI_PAGE), "unmap it");
	require(!try_plain(f.fd, f.set.uar_offset), "it can be mapped again");
	forge_end(&f);
}

static const struct check_case cases[] = {
	CHECK_CASE("mmap-offset", run_offsets, "offsets that were never given out"),
	CHECK_CASE("mmap-foreign", run_foreign, "offsets of another context, or without a context"),
	CHECK_CASE("mmap-freed", run_freed, "a doorbell page that was freed, mapped or not"),
	CHECK_CASE("mmap-flags", run_flags, "too long, private, to execute"),
	CHECK_CASE("mmap-change", run_change,
		   "a mapping cannot be doubled, prolonged, executed, inherited"),
	CHECK_CASE("mmap-rights", run_rights,
		   "rights that are taken from a mapping and given back"),
	CHECK_CASE("mmap-child", run_child, "a child of fork() has no doorbell page"),
	CHECK_CASE("mmap-moved", run_moved, "a mapping that is moved"),
};

const struct check_table forge_mmap = { cases, ARRAY_SIZE(cases) };
