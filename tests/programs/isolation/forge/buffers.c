// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Messages of wrong length: headers that lie, parts that are missing or too long, responses without room.
 *
 * The core: EINVAL for lengths that contradict each other or a command that does not exist, ENOSPC for a common part that is
 * too short, EFAULT for an address where a response cannot be written, EOPNOTSUPP for a command that the driver has not.
 * The driver: EINVAL for a part of its own that is too short, EOPNOTSUPP for one that is longer and not zero.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "forge.h"

/* A message as it goes to write(): a CREATE_CQ, of the core's part and the driver's. */
struct message {
	struct ib_uverbs_cmd_hdr hdr;
	uint8_t bytes[256];
};

#define CORE_BYTES sizeof(struct ib_uverbs_create_cq)
#define CQ_BYTES \
	(sizeof(struct ib_uverbs_cmd_hdr) + CORE_BYTES + sizeof(struct xenib_create_cq_req))

/* Its answer: handle and size are the core's, number and padding the driver's. */
enum { ANSWER_HANDLE, ANSWER_WORDS = 4, ANSWER_CORE_BYTES = 8 };

static struct message good_message(struct forge *f, const void *answer)
{
	struct message m = { .hdr = { IB_USER_VERBS_CMD_CREATE_CQ, CQ_BYTES / 4, ANSWER_WORDS } };
	struct ib_uverbs_create_cq core;
	struct xenib_create_cq_req driver;

	uabi_good_cq(&f->set, &core, &driver);
	core.response = (uintptr_t)answer;
	memcpy(m.bytes, &core, CORE_BYTES);
	memcpy(m.bytes + CORE_BYTES, &driver, sizeof(driver));
	return m;
}

static int send_bytes(struct forge *f, const void *m, size_t bytes)
{
	ssize_t n = write(f->fd, m, bytes);

	return n < 0 ? -errno : n == (ssize_t)bytes ? 0 : -EIO;
}

/* The header says what is sent. */
static int send_length(struct forge *f, struct message *m, size_t bytes)
{
	m->hdr.in_words = bytes / 4;
	return send_bytes(f, m, bytes);
}

static void destroy_cq(struct forge *f, const uint32_t *answer)
{
	require(!uabi_destroy(f->fd, IB_USER_VERBS_CMD_DESTROY_CQ, answer[ANSWER_HANDLE]),
		"destroy the CQ");
}

static void run_short(const void *arg)
{
	const size_t core_end = sizeof(struct ib_uverbs_cmd_hdr) + CORE_BYTES;
	uint32_t answer[ANSWER_WORDS];
	struct message m;
	struct forge f;
	char what[64];
	size_t n;

	(void)arg;
	forge_begin_xenib(&f);
	m = good_message(&f, answer);
	for (n = 0; n < CQ_BYTES; n += 4) {
		snprintf(what, sizeof(what), "%zu bytes of a CREATE_CQ of %zu", n, CQ_BYTES);
		if (n < core_end)
			REFUSED_QUICK(send_length(&f, &m, n), what, EINVAL, ENOSPC);
		else
			REFUSED_QUICK(send_length(&f, &m, n), what, EINVAL);
	}
	beside_works(&f.beside, "messages that are too short");
	require(!send_length(&f, &m, CQ_BYTES), "the message of the right length");
	destroy_cq(&f, answer);
	forge_end(&f);
}

/* Longer is allowed as long as what is more is zero: a newer library may say what means nothing. */
static void run_long(const void *arg)
{
	uint32_t answer[ANSWER_WORDS];
	struct message m;
	struct forge f;

	(void)arg;
	forge_begin_xenib(&f);
	m = good_message(&f, answer);
	require(!send_length(&f, &m, CQ_BYTES + 64), "a longer message, zero at its end");
	destroy_cq(&f, answer);
	m.bytes[CQ_BYTES - sizeof(m.hdr) + 63] = 1;
	REFUSED(&f, send_length(&f, &m, CQ_BYTES + 64), "a longer message, not zero at its end",
		EOPNOTSUPP);
	forge_end(&f);
}

static void run_lies(const void *arg)
{
	const uint16_t words[] = { 0, 1, CQ_BYTES / 4 - 1, CQ_BYTES / 4 + 1, 0x4000, 0xffff };
	const size_t odd[] = { 1, 2, 3, 7, CQ_BYTES - 1, CQ_BYTES + 1 };
	uint32_t answer[ANSWER_WORDS];
	struct message m;
	struct forge f;
	size_t i;

	(void)arg;
	forge_begin_xenib(&f);
	m = good_message(&f, answer);
	for (i = 0; i < ARRAY_SIZE(words); i++) {
		m.hdr.in_words = words[i];
		REFUSED_QUICK(send_bytes(&f, &m, CQ_BYTES), "a header that says another length",
			      EINVAL);
	}
	m.hdr.in_words = CQ_BYTES / 4;
	for (i = 0; i < ARRAY_SIZE(odd); i++)
		REFUSED_QUICK(send_bytes(&f, &m, odd[i]), "a length that is no number of words",
			      EINVAL);
	beside_works(&f.beside, "headers that lie");
	forge_end(&f);
}

static void run_commands(const void *arg)
{
	const uint32_t commands[] = {
		0x3f,       0x7f,
		0xff,       0x100,
		0x7fffffff, 0x40000000,
		0x80000000, 0x800000ff,
		0xffffffff, IB_USER_VERBS_CMD_GET_CONTEXT, /* there is one already */
	};
	struct forge f;
	struct message m;
	char what[64];
	size_t i;

	(void)arg;
	forge_begin(&f);
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		memset(&m, 0, sizeof(m));
		m.hdr.command = commands[i];
		snprintf(what, sizeof(what), "command %#x", commands[i]);
		REFUSED(&f, send_length(&f, &m, 128), what, EINVAL, EOPNOTSUPP, ENOSPC);
	}
	forge_end(&f);
}

/* Commands of the core that need what this driver does not do: posting and polling by the kernel, for one. */
static void run_not_offered(const void *arg)
{
	const uint32_t commands[] = {
		IB_USER_VERBS_CMD_REREG_MR,  IB_USER_VERBS_CMD_RESIZE_CQ,
		IB_USER_VERBS_CMD_POLL_CQ,   IB_USER_VERBS_CMD_POST_SEND,
		IB_USER_VERBS_CMD_POST_RECV, IB_USER_VERBS_CMD_POST_SRQ_RECV,
		IB_USER_VERBS_CMD_REG_SMR,   IB_USER_VERBS_CMD_QUERY_MR,
		IB_USER_VERBS_CMD_MODIFY_AH, IB_USER_VERBS_CMD_QUERY_AH,
		IB_USER_VERBS_CMD_BIND_MW,   IB_USER_VERBS_CMD_PEEK_CQ,
	};
	uint64_t answer[32];
	uint64_t response = (uintptr_t)answer;
	struct message m;
	struct forge f;
	char what[64];
	size_t i;

	(void)arg;
	forge_begin(&f);
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		memset(&m, 0, sizeof(m));
		m.hdr.command = commands[i];
		m.hdr.out_words = sizeof(answer) / 4;
		memcpy(m.bytes, &response, sizeof(response));
		snprintf(what, sizeof(what), "command %u, which is not offered", commands[i]);
		REFUSED_QUICK(send_length(&f, &m, 128), what, EOPNOTSUPP, EINVAL);
	}
	beside_works(&f.beside, "commands that are not offered");
	forge_end(&f);
}

/* Where the answer is to go. What was made must be gone again: the same objects can be made as often as one likes. */
static void run_answer(const void *arg)
{
	uint8_t *read_only, *half;
	uint32_t answer[ANSWER_WORDS];
	struct message m;
	struct forge f;
	uint32_t pd, first;
	int i;

	(void)arg;
	forge_begin_xenib(&f);
	m = good_message(&f, answer);
	m.hdr.out_words = 0;
	REFUSED(&f, send_bytes(&f, &m, CQ_BYTES), "no room for an answer", ENOSPC);
	m = good_message(&f, answer);
	m.hdr.out_words = 1;
	REFUSED(&f, send_bytes(&f, &m, CQ_BYTES), "a word of room for an answer", ENOSPC);

	require(!uabi_alloc_pd(f.fd, &first), "the handle that comes next");
	require(!uabi_destroy(f.fd, IB_USER_VERBS_CMD_DEALLOC_PD, first), "and comes again");
	read_only = mmap(NULL, 2 * UABI_PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	half = mmap(NULL, 2 * UABI_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	require(read_only != MAP_FAILED && half != MAP_FAILED &&
			!munmap(half + UABI_PAGE, UABI_PAGE),
		"places");
	for (i = 0; i < 50; i++) {
		m = good_message(&f, read_only);
		REFUSED_QUICK(send_bytes(&f, &m, CQ_BYTES), "an answer to memory that is read-only",
			      EFAULT);
		/* The common part has room, the driver's has not. */
		m = good_message(&f, half + UABI_PAGE - ANSWER_CORE_BYTES);
		REFUSED_QUICK(send_bytes(&f, &m, CQ_BYTES), "an answer half in a hole", EFAULT);
		m = good_message(&f, (void *)0xffffffff81000000u);
		REFUSED_QUICK(send_bytes(&f, &m, CQ_BYTES), "an answer into the kernel", EFAULT);
	}
	beside_works(&f.beside, "answers without room");
	require(!uabi_alloc_pd(f.fd, &pd), "one more PD");
	check(pd == first,
	      "nothing is left of what could not be answered (the next handle is %u, not %u)", pd,
	      first);
	forge_end(&f);
}

/* The driver's part of opening a context: a file without one, each time. */
static void run_context(const void *arg)
{
	struct {
		struct xenib_alloc_ucontext_req req;
		uint8_t more[56];
	} req = { 0 };
	struct xenib_alloc_ucontext_resp resp;
	struct forge f;
	int fd;

	(void)arg;
	forge_begin_xenib(&f);
	fd = uverbs_open(f.device);
	require(fd >= 0, "open the device");
	REFUSED(&f, uabi_context(fd, 4, &req.req, &resp), "a context with half of a request",
		EINVAL);
	req.req.comp_mask = 1;
	REFUSED(&f, uabi_context(fd, 8, &req.req, &resp),
		"a context with a flag that does not exist", EINVAL);
	req.req = (struct xenib_alloc_ucontext_req){ .reserved = 1 };
	REFUSED(&f, uabi_context(fd, 8, &req.req, &resp), "a context with a reserved field",
		EINVAL);
	req.req.reserved = 0;
	req.more[40] = 1;
	REFUSED(&f, uabi_context(fd, sizeof(req), &req.req, &resp),
		"a context with more than is known", EOPNOTSUPP);
	req.more[40] = 0;
	require(!uabi_context(fd, sizeof(req), &req.req, &resp),
		"a context with more zeros than is known");
	close(fd);
	forge_end(&f);
}

static const struct check_case cases[] = {
	CHECK_CASE("message-short", run_short, "a message cut at every word"),
	CHECK_CASE("message-long", run_long, "a message longer than it should be"),
	CHECK_CASE("message-lies", run_lies, "headers that say another length"),
	CHECK_CASE("message-command", run_commands, "commands that do not exist"),
	CHECK_CASE("message-not-offered", run_not_offered, "commands that the driver has not"),
	CHECK_CASE("message-answer", run_answer, "no room for the answer"),
	CHECK_CASE("message-context", run_context, "requests for a context that are wrong"),
};

const struct check_table forge_buffers = { cases, ARRAY_SIZE(cases) };
