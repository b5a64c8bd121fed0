// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What xen-ibgrant refuses, and that nothing is mapped then. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "grants.h"

/* Before a file is bound it does nothing else, and then that no more. */
static void binding(const void *arg)
{
	struct granted g;
	int dev, fd;

	(void)arg;
	granted_read(&g);
	dev = device_open();
	REFUSED(dev_create(dev, 1, 0, &fd), EPERM, "a dma-buf of a file that is not bound");
	REFUSED(dev_bind(dev, 0x7ff0, 0, 1), EINVAL, "no domain");
	REFUSED(dev_bind(dev, 0x10000 + g.domid, 0, 1), EINVAL, "a domain of 17 bits");
	REFUSED(dev_bind(dev, g.domid, 0, 0), EINVAL, "no pages at all");
	REFUSED(dev_bind(dev, g.domid, 2, 1), EINVAL, "a flag that there is not");
	require(!dev_bind(dev, g.domid, 0, 1), "bind it");
	REFUSED(dev_bind(dev, g.domid, 0, 1), EBUSY, "bind it again");
	REFUSED(ioctl(dev, _IO('X', 0x5f), NULL) ? errno : 0, ENOTTY, "a call that there is not");
	close(dev);
}

/* A process without root's rights binds nothing, but uses what root has bound. */
static void without_rights(const void *arg)
{
	struct granted g;
	int unbound, bound, fd;

	(void)arg;
	granted_read(&g);
	unbound = device_open();
	bound = device_bound(&g, 1);
	require(!setresuid(65534, 65534, 65534), "give root's rights away");
	REFUSED(dev_bind(unbound, g.domid, 0, 1), EPERM, "bind it");
	require(!dev_create(bound, 1, 0, &fd) && !dev_add(bound, fd, 0, g.refs, 1),
		"map a page by the one that is bound");
	check(open(XEN_IBGRANT_DEVICE, O_RDWR) < 0 && errno == EACCES, "open the device");
}

/* A PV domain can grant its page tables for reading, and whoever imports a dma-buf may write. */
static void read_only_pages(const void *arg)
{
	struct granted g;
	int dev, fd;

	(void)arg;
	granted_read(&g);
	dev = device_open();
	require(!dev_bind(dev, g.domid, 0, 1), "bind it");
	REFUSED(dev_create(dev, 1, XEN_IBGRANT_READ_ONLY, &fd), EOPNOTSUPP,
		"a dma-buf of a PV domain's pages that can only be read");
	require(!dev_create(dev, 1, 0, &fd), "one that can be written");
	close(fd);
	close(dev);
}

/* No more pages, and no more ranges, than root has said; and again as many when they are gone. */
static void quota(const void *arg)
{
	enum { LIMIT = 8 };
	int dev, fd[LIMIT], range[LIMIT], more; /* descriptors */
	struct granted g;

	(void)arg;
	granted_read(&g);
	dev = device_bound(&g, LIMIT);
	for (int round = 0; round < 3; round++) {
		REFUSED(dev_create(dev, LIMIT + 1, 0, &more), EDQUOT, "one page too many");
		require(!dev_create(dev, LIMIT - 1, 0, &fd[0]), "all but one");
		REFUSED(dev_create(dev, 2, 0, &more), EDQUOT, "one page too many beside others");
		require(!dev_create(dev, 1, 0, &fd[1]), "the last one");
		REFUSED(dev_create(dev, 1, 0, &more), EDQUOT, "one more");
		require(!dev_add(dev, fd[1], 0, g.refs, 1), "add a page");
		for (int i = 0; i < LIMIT; i++)
			require(!dev_range(dev, fd[1], 0, 1, &range[i]), "range %d", i);
		REFUSED(dev_range(dev, fd[1], 0, 1, &more), EDQUOT, "one range too many");
		for (int i = 0; i < LIMIT; i++)
			close(range[i]);
		close(fd[0]);
		close(fd[1]);
	}
	close(dev);
}

static void numbers(const void *arg)
{
	struct xen_ibgrant_create create = { .pages = 1, .reserved = 1 };
	struct granted g;
	int dev, fd, more;

	(void)arg;
	granted_read(&g);
	dev = device_bound(&g, UINT32_MAX);
	REFUSED(dev_create(dev, 0, 0, &fd), EINVAL, "a dma-buf of nothing");
	REFUSED(dev_create(dev, XEN_IBGRANT_MAX_PAGES + 1, 0, &fd), EINVAL, "one too large");
	REFUSED(dev_create(dev, 1, 2, &fd), EINVAL, "a flag that there is not");
	REFUSED(ioctl(dev, XEN_IBGRANT_CREATE, &create) ? errno : 0, EINVAL, "reserved");
	REFUSED(ioctl(dev, XEN_IBGRANT_CREATE, 8) ? errno : 0, EFAULT, "no memory");
	require(!dev_create(dev, 4, 0, &fd), "a dma-buf");
	REFUSED(dev_add(dev, fd, 0, g.refs, 0), EINVAL, "add none");
	REFUSED(dev_add(dev, fd, 4, g.refs, 1), EINVAL, "add behind the end");
	REFUSED(dev_add(dev, fd, 3, g.refs, 2), EINVAL, "add beyond the end");
	REFUSED(dev_add(dev, fd, 2, g.refs, UINT32_MAX), EINVAL, "add more than fits in 32 bits");
	REFUSED(dev_add(dev, fd, 0, (void *)8, 1), EFAULT, "references that are nowhere");
	REFUSED(dev_add(dev, -1, 0, g.refs, 1), EBADF, "no descriptor");
	REFUSED(dev_add(dev, dev, 0, g.refs, 1), EINVAL, "no dma-buf");
	REFUSED(dev_range(dev, fd, 0, 1, &more), ENODATA, "a range of what is not complete");
	require(!dev_add(dev, fd, 0, g.refs, 4), "add all");
	REFUSED(dev_range(dev, fd, 0, 5, &more), EINVAL, "a range beyond the end");
	REFUSED(dev_range(dev, fd, 1, 0, &more), EINVAL, "a range of nothing");
	require(!dev_range(dev, fd, 1, 2, &more), "a range");
	REFUSED(dev_range(dev, more, 0, 1, &more), EINVAL, "a range of a range");
	check(mmap(NULL, GRANTER_PAGE, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED,
	      "no process maps it");
	close(fd);
	close(dev);
}

/* A bad reference among good ones, at each place: none is mapped, and the good ones can be. */
static void all_or_none(const void *arg)
{
	static const uint32_t places[] = { 0, 1, 511, 512, 513, 599 };
	const uint32_t count = 600;
	unsigned long before = mapped();
	struct granted g;
	int dev, fd;

	(void)arg;
	granted_read(&g);
	require(g.pages >= count, "%u pages", count);
	dev = device_bound(&g, count);
	require(!dev_create(dev, count, 0, &fd), "a dma-buf");
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		uint32_t good = g.refs[places[i]];

		g.refs[places[i]] = 0xfffffff0;
		REFUSED(dev_add(dev, fd, 0, g.refs, count), EINVAL, "a bad reference");
		check(mapped() == before, "nothing is mapped (%lu pages)", mapped() - before);
		g.refs[places[i]] = good;
	}
	require(!dev_add(dev, fd, 0, g.refs, 5), "add some");
	REFUSED(dev_add(dev, fd, 4, g.refs, 5), EBUSY, "add one again");
	REFUSED(dev_add(dev, fd, 4, g.refs, 1), EBUSY, "add one again");
	check(mapped() == before + 5, "none of them is mapped");
	require(!dev_add(dev, fd, 5, g.refs, count - 5), "add the rest");
	close(fd);
	until_mapped(before);
	close(dev);
}

/* One that lacks a page is no memory; nor is one of a file another file's. */
static void foreign(const void *arg)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct vp_both both;
	struct granted g;
	int dev, other, fd, more;

	(void)arg;
	granted_read(&g);
	dev = device_bound(&g, 4);
	other = device_bound(&g, 4);
	require(!dev_create(dev, 4, 0, &fd), "a dma-buf");
	require(!dev_add(dev, fd, 0, g.refs, 3), "all but one");
	vp_both_make(&both, conf);
	check(!ibv_reg_dmabuf_mr(both.pair.a.pd, 0, 4096, 0, fd, VP_ACCESS_ALL) && errno == ENODATA,
	      "register a part of what is not complete (%s)", strerror(errno));
	REFUSED(dev_add(other, fd, 3, g.refs, 1), EPERM, "add to another file's");
	require(!dev_add(dev, fd, 3, g.refs, 1), "the last one");
	REFUSED(dev_range(other, fd, 0, 1, &more), EPERM, "a range of another file's");
	close(fd);
	close(dev);
	close(other);
	vp_both_free(&both);
}

/* References, by a file that is bound to a domain that there is not. */
static void another_domain(const void *arg)
{
	unsigned long before = mapped();
	struct granted g;
	int dev, fd;

	(void)arg;
	granted_read(&g);
	g.domid = 0x7fef;
	dev = device_bound(&g, 1);
	require(!dev_create(dev, 1, 0, &fd), "a dma-buf");
	REFUSED(dev_add(dev, fd, 0, g.refs, 1), EINVAL, "a reference of no domain");
	check(mapped() == before, "nothing is mapped");
	close(fd);
	close(dev);
}

/* Grants that allow to read alone are not mapped for writing. */
static void writable(const void *arg)
{
	unsigned long before = mapped();
	struct granted g;
	int dev, fd;

	(void)arg;
	granted_read(&g);
	dev = device_bound(&g, g.pages);
	require(!dev_create(dev, g.pages, 0, &fd), "a dma-buf");
	REFUSED(dev_add(dev, fd, 0, g.refs, g.pages), EINVAL, "read-only grants");
	check(mapped() == before, "nothing is mapped");
	close(fd);
	close(dev);
}

struct adder {
	const struct granted *g;
	int dev, fd, err;
};

static void *add_all(void *arg)
{
	struct adder *a = arg;

	a->err = dev_add(a->dev, a->fd, 0, a->g->refs, a->g->pages);
	return NULL;
}

/* Threads that add the same pages at once: one does, and each page is mapped once. */
static void at_once(const void *arg)
{
	enum { THREADS = 4 };
	unsigned long before = mapped();
	struct adder adders[THREADS];
	pthread_t threads[THREADS];
	struct granted g;
	int dev, fd, done;

	(void)arg;
	granted_read(&g);
	dev = device_bound(&g, g.pages);
	for (int round = 0; round < 20; round++) {
		require(!dev_create(dev, g.pages, 0, &fd), "a dma-buf");
		for (int i = 0; i < THREADS; i++) {
			adders[i] = (struct adder){ &g, dev, fd, -1 };
			require(!pthread_create(&threads[i], NULL, add_all, &adders[i]), "thread");
		}
		done = 0;
		for (int i = 0; i < THREADS; i++) {
			require(!pthread_join(threads[i], NULL), "its end");
			done += !adders[i].err;
			check(!adders[i].err || adders[i].err == EBUSY,
			      "it has them, or others do");
		}
		check(done == 1, "one of them has added the pages (%d)", done);
		check(mapped() == before + g.pages, "each is mapped once");
		close(fd);
		until_mapped(before);
	}
	close(dev);
}

static const struct check_case cases[] = {
	CHECK_CASE("binding", binding, "a file that is not bound, and one that is"),
	CHECK_CASE("without-rights", without_rights, "a process that is not root's"),
	CHECK_CASE("read-only-pages", read_only_pages, "read-only dma-bufs of a PV domain's pages"),
	CHECK_CASE("quota", quota, "pages and dma-bufs of a file"),
	CHECK_CASE("numbers", numbers, "arguments that make no sense"),
	CHECK_CASE("all-or-none", all_or_none, "a bad reference among good ones"),
	CHECK_CASE("foreign", foreign, "dma-bufs that are not complete, or of another file"),
	CHECK_CASE("another-domain", another_domain, "references of another domain"),
	CHECK_CASE("at-once", at_once, "threads that add the same pages"),
	CHECK_CASE("writable", writable, "read-only grants (granter PAGES FILE read-only)",
		   .on_demand = true),
};

const struct check_table grants_refused = { .cases = cases, .count = ARRAY_SIZE(cases) };
