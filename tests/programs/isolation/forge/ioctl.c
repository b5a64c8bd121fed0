// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The driver's own ioctl object, doorbell pages: attributes that are missing, doubled, unknown, of wrong length.
 *
 * All of it is the core's: EINVAL; EPROTONOSUPPORT for objects, methods and mandatory attributes that it does not know,
 * and for what is reserved; EFAULT for a response that cannot be written. The driver adds EOPNOTSUPP for a type of page that
 * does not exist. After all of them the next page has the index that it would have had without them: none was left.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "forge.h"

#define DRIVER RDMA_DRIVER_UNKNOWN

struct good {
	struct xenib_uar_alloc_resp resp;
	struct uverbs_arg args[UVERBS_MAX_ARGS]; /* handle, type, response */
};

enum { HANDLE, TYPE, RESP, GOOD_ARGS };

static struct good *good(void)
{
	static struct good g;

	memset(&g, 0, sizeof(g));
	g.args[HANDLE] = (struct uverbs_arg){ XENIB_ATTR_UAR_ALLOC_HANDLE, 0, 0 };
	g.args[TYPE] = (struct uverbs_arg){ XENIB_ATTR_UAR_ALLOC_TYPE, 8, XENIB_UAR_NC };
	g.args[RESP] = (struct uverbs_arg){ XENIB_ATTR_UAR_ALLOC_RESP, sizeof(g.resp),
					    (uintptr_t)&g.resp };
	return &g;
}

static int alloc(struct forge *f, struct good *g, unsigned int n)
{
	return uverbs_ioctl(f->fd, DRIVER, XENIB_OBJECT_UAR, XENIB_METHOD_UAR_ALLOC, g->args, n);
}

/* No page was left over: the next one is the second. */
static void none_left(struct forge *f)
{
	struct xenib_uar_alloc_resp resp = { 0 };
	uint32_t uar;

	require(!uabi_alloc_uar(f->fd, XENIB_UAR_NC, &uar, &resp), "a page in the right way");
	check(resp.index == f->set.uar_index + 1,
	      "nothing is left of the attempts (the next index is %u)", resp.index);
	require(!uabi_free_uar(f->fd, uar), "free it");
}

static void run_missing(const void *arg)
{
	struct forge f;
	struct good *g;
	int gone;

	(void)arg;
	forge_begin_xenib(&f);
	for (gone = 0; gone < GOOD_ARGS; gone++) {
		g = good();
		memmove(&g->args[gone], &g->args[gone + 1],
			(GOOD_ARGS - 1 - gone) * sizeof(g->args[0]));
		REFUSED(&f, alloc(&f, g, GOOD_ARGS - 1), "an attribute that is missing", EINVAL);
	}
	REFUSED(&f, alloc(&f, good(), 0), "no attributes at all", EINVAL);
	none_left(&f);
	forge_end(&f);
}

static void run_doubled(const void *arg)
{
	struct forge f;
	struct good *g;
	int twice;

	(void)arg;
	forge_begin_xenib(&f);
	for (twice = 0; twice < GOOD_ARGS; twice++) {
		g = good();
		g->args[GOOD_ARGS] = g->args[twice];
		REFUSED(&f, alloc(&f, g, GOOD_ARGS + 1), "an attribute twice", EINVAL);
	}
	none_left(&f);
	forge_end(&f);
}

static void run_length(const void *arg)
{
	const uint16_t types[] = { 0, 1, 4, 7, 9, 16, 0xffff }, responses[] = { 0, 1, 8, 23 };
	struct forge f;
	struct good *g;
	size_t i;

	(void)arg;
	forge_begin_xenib(&f);
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		g = good();
		g->args[TYPE].len = types[i];
		REFUSED(&f, alloc(&f, g, GOOD_ARGS), "a type of wrong length", EINVAL, EOPNOTSUPP,
			EFAULT);
	}
	for (i = 0; i < ARRAY_SIZE(responses); i++) {
		g = good();
		g->args[RESP].len = responses[i];
		REFUSED(&f, alloc(&f, g, GOOD_ARGS), "a response of wrong length", EINVAL);
	}
	g = good();
	g->args[HANDLE].len = 4;
	REFUSED(&f, alloc(&f, g, GOOD_ARGS), "a handle that has a length", EINVAL);
	none_left(&f);
	forge_end(&f);
}

static void run_values(const void *arg)
{
	const uint64_t types[] = { 2, 3, 0x7fffffff, 0x80000000, 0xffffffff, 1ull << 32, ~0ull };
	struct forge f;
	struct good *g;
	size_t i;

	(void)arg;
	forge_begin_xenib(&f);
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		g = good();
		g->args[TYPE].data = types[i];
		REFUSED(&f, alloc(&f, g, GOOD_ARGS), "a type of page that does not exist", EINVAL,
			EOPNOTSUPP);
	}
	none_left(&f);
	forge_end(&f);
}

static void run_unknown(const void *arg)
{
	struct forge f;
	struct good *g;

	(void)arg;
	forge_begin_xenib(&f);
	g = good();
	g->args[GOOD_ARGS] = (struct uverbs_arg){ XENIB_ATTR_UAR_ALLOC_RESP + 1, 8, 0 };
	REFUSED(&f, alloc(&f, g, GOOD_ARGS + 1), "an attribute that does not exist",
		EPROTONOSUPPORT);
	g = good();
	REFUSED(&f,
		uverbs_ioctl(f.fd, DRIVER, XENIB_OBJECT_UAR, XENIB_METHOD_UAR_FREE + 1, g->args,
			     GOOD_ARGS),
		"a method that does not exist", EPROTONOSUPPORT);
	REFUSED(&f,
		uverbs_ioctl(f.fd, DRIVER, XENIB_OBJECT_UAR + 1, XENIB_METHOD_UAR_ALLOC, g->args,
			     GOOD_ARGS),
		"an object that does not exist", EPROTONOSUPPORT);
	REFUSED(&f,
		uverbs_ioctl(f.fd, RDMA_DRIVER_MLX5, XENIB_OBJECT_UAR, XENIB_METHOD_UAR_ALLOC,
			     g->args, GOOD_ARGS),
		"another driver's ioctl", EINVAL);
	none_left(&f);
	forge_end(&f);
}

/* The message itself. */
static int send_header(struct forge *f, const struct ib_uverbs_ioctl_hdr *hdr)
{
	return ioctl(f->fd, RDMA_VERBS_IOCTL, hdr) ? -errno : 0;
}

static void run_header(const void *arg)
{
	const struct ib_uverbs_ioctl_hdr empty = {
		.length = sizeof(empty),
		.object_id = XENIB_OBJECT_UAR,
		.method_id = XENIB_METHOD_UAR_ALLOC,
		.driver_id = DRIVER,
	};
	struct ib_uverbs_ioctl_hdr hdr;
	struct forge f;

	(void)arg;
	forge_begin_xenib(&f);
	hdr = empty;
	hdr.length = 0;
	REFUSED(&f, send_header(&f, &hdr), "a message of no length", EINVAL);
	hdr = empty;
	hdr.num_attrs = 3;
	REFUSED(&f, send_header(&f, &hdr), "three attributes in the length of none", EINVAL);
	hdr = empty;
	hdr.num_attrs = 0xffff;
	hdr.length = 0xffff;
	REFUSED(&f, send_header(&f, &hdr), "65535 attributes", EINVAL);
	hdr = empty;
	hdr.length = 0xfff8;
	REFUSED(&f, send_header(&f, &hdr), "no attributes in the length of many", EINVAL);
	hdr = empty;
	hdr.reserved1 = 1;
	REFUSED(&f, send_header(&f, &hdr), "a reserved field", EPROTONOSUPPORT, EINVAL);
	hdr = empty;
	hdr.reserved2 = 1;
	REFUSED(&f, send_header(&f, &hdr), "a reserved field", EPROTONOSUPPORT, EINVAL);
	REFUSED(&f, send_header(&f, (void *)UABI_PAGE), "a message that is nowhere", EFAULT);
	none_left(&f);
	forge_end(&f);
}

static void run_answer(const void *arg)
{
	struct forge f;
	struct good *g;
	uint8_t *page;
	int i;

	(void)arg;
	forge_begin_xenib(&f);
	page = mmap(NULL, UABI_PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	require(page != MAP_FAILED, "a page that is read-only");
	for (i = 0; i < 100; i++) {
		g = good();
		g->args[RESP].data = i & 1 ? (uintptr_t)page : UABI_PAGE;
		REFUSED_QUICK(alloc(&f, g, GOOD_ARGS), "a response that cannot be written", EFAULT);
	}
	beside_works(&f.beside, "responses that cannot be written");
	none_left(&f);
	forge_end(&f);
}

static const struct check_case cases[] = {
	CHECK_CASE("ioctl-missing", run_missing, "attributes that are missing"),
	CHECK_CASE("ioctl-doubled", run_doubled, "attributes that are there twice"),
	CHECK_CASE("ioctl-length", run_length, "attributes of wrong length"),
	CHECK_CASE("ioctl-value", run_values, "types of doorbell pages that do not exist"),
	CHECK_CASE("ioctl-unknown", run_unknown,
		   "objects, methods, attributes and drivers that do not exist"),
	CHECK_CASE("ioctl-header", run_header, "headers that lie"),
	CHECK_CASE("ioctl-answer", run_answer, "no room for the answer"),
};

const struct check_table forge_ioctl = { cases, ARRAY_SIZE(cases) };
