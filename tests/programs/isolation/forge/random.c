// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A fuzzer of the driver's user interface: good requests in which a few numbers are changed at random.
 *
 * What comes of each is not judged: it may have become another good one. But nothing happens to others, nothing is said on
 * the console, and what the fuzzing process had is gone with it. FORGE_SEED and FORGE_BATCHES in the environment make other
 * and longer runs.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "forge.h"

#define BATCHES 16 /* a process each, */
#define ROUNDS 150 /* which sends so many requests */
#define MOST_CHANGES 3

static uint64_t state;

/* xorshift: the same in every run with the same seed. */
static uint32_t any(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state >> 16;
}

static uint32_t any_word(uint32_t old)
{
	static const uint32_t odd[] = {
		0,      1,       2,          3,          7,          8,          63,     64,
		65,     127,     128,        255,        256,        0xfff,      0x1000, 0x1001,
		0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xfffff000, 0xffffffff,
	};

	switch (any() % 4) {
	case 0:
		return any();
	case 1:
		return old ^ 1u << any() % 32;
	case 2:
		return old + any() % 17 - 8;
	default:
		return odd[any() % ARRAY_SIZE(odd)];
	}
}

/* Changes a few words of a request, or none. */
static void spoil(void *request, size_t size)
{
	unsigned int n = any() % (MOST_CHANGES + 1);
	uint32_t word;
	char *at;

	for (; n; n--) {
		at = (char *)request + any() % (size / sizeof(word)) * sizeof(word);
		memcpy(&word, at, sizeof(word));
		word = any_word(word);
		memcpy(at, &word, sizeof(word));
	}
}

static int ask_mr(int fd, const struct uabi_set *set, uint32_t *handle)
{
	struct ib_uverbs_reg_mr req;

	uabi_good_mr(set, &req);
	spoil(&req, sizeof(req));
	return uabi_reg_mr(fd, &req, handle);
}

static int ask_cq(int fd, const struct uabi_set *set, uint32_t *handle)
{
	struct ib_uverbs_create_cq core;
	struct xenib_create_cq_req driver;

	uabi_good_cq(set, &core, &driver);
	if (!uabi_is_mlx5() && any() % 2)
		driver.comp_mask = XENIB_CREATE_CQ_DEFERRED;
	spoil(&core, sizeof(core));
	spoil(&driver, sizeof(driver));
	return uabi_create_cq(fd, &core, &driver, handle);
}

static int ask_srq(int fd, const struct uabi_set *set, uint32_t *handle)
{
	struct ib_uverbs_create_srq core;
	struct xenib_create_srq_req driver;

	uabi_good_srq(set, &core, &driver);
	spoil(&core, sizeof(core));
	spoil(&driver, sizeof(driver));
	return uabi_create_srq(fd, &core, &driver, handle);
}

static int ask_qp(int fd, const struct uabi_set *set, uint32_t *handle)
{
	struct ib_uverbs_create_qp core;
	struct xenib_create_qp_req driver;

	uabi_good_qp(set, &core, &driver);
	spoil(&core, sizeof(core));
	spoil(&driver, sizeof(driver));
	return uabi_create_qp(fd, &core, &driver, handle);
}

/* Kinds that are made and can be destroyed again. */
static const struct {
	int (*ask)(int fd, const struct uabi_set *set, uint32_t *handle);
	uint32_t destroy;
} made[] = {
	{ ask_mr, IB_USER_VERBS_CMD_DEREG_MR },
	{ ask_cq, IB_USER_VERBS_CMD_DESTROY_CQ },
	{ ask_srq, IB_USER_VERBS_CMD_DESTROY_SRQ },
	{ ask_qp, IB_USER_VERBS_CMD_DESTROY_QP },
};

static uint32_t any_handle(void)
{
	return any() % 8 ? any() % 32 : any();
}

/* Any message for any command, of any length; what it answers goes to a place of its own. */
static void send_anything(int fd)
{
	static const uint32_t commands[] = {
		IB_USER_VERBS_CMD_GET_CONTEXT,  IB_USER_VERBS_CMD_QUERY_DEVICE,
		IB_USER_VERBS_CMD_QUERY_PORT,   IB_USER_VERBS_CMD_ALLOC_PD,
		IB_USER_VERBS_CMD_REG_MR,       IB_USER_VERBS_CMD_CREATE_CQ,
		IB_USER_VERBS_CMD_CREATE_QP,    IB_USER_VERBS_CMD_MODIFY_QP,
		IB_USER_VERBS_CMD_QUERY_QP,     IB_USER_VERBS_CMD_ATTACH_MCAST,
		IB_USER_VERBS_CMD_DETACH_MCAST, IB_USER_VERBS_CMD_CREATE_SRQ,
		IB_USER_VERBS_CMD_MODIFY_SRQ,   IB_USER_VERBS_CMD_QUERY_SRQ,
		IB_USER_VERBS_CMD_CREATE_AH,    IB_USER_VERBS_CMD_ALLOC_MW,
		IB_USER_VERBS_CMD_RESIZE_CQ,    IB_USER_VERBS_CMD_REREG_MR,
	};
	uint32_t words[64], answer[64];
	struct uverbs_msg req = { .core = words, .core_len = 8 + any() % 47 * 4 };
	struct uverbs_msg rsp = { .core = answer, .core_len = any() % 49 * 4 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		words[i] = any() % 2 ? any_handle() : any_word(0);
	uverbs_write(fd, commands[any() % ARRAY_SIZE(commands)], &req, &rsp);
}

static void ask_for_page(int fd)
{
	struct xenib_uar_alloc_resp resp = { 0 };
	uint32_t uar;
	void *at;

	if (uabi_alloc_uar(fd, any_word(0) % 4, &uar, &resp))
		return;
	spoil(&resp.mmap_offset, sizeof(resp.mmap_offset));
	at = mmap(NULL, UABI_PAGE << any() % 2, any() % 8, any() % 2 ? MAP_SHARED : MAP_PRIVATE, fd,
		  resp.mmap_offset & -UABI_PAGE);
	uabi_free_uar(fd, any() % 2 ? uar : any_handle());
	if (at != MAP_FAILED)
		munmap(at, UABI_PAGE);
}

static void one_round(int fd, const struct uabi_set *set)
{
	unsigned int kind = any() % (ARRAY_SIZE(made) + 5);
	uint32_t handle;

	switch (kind) {
	case 0 ... ARRAY_SIZE(made) - 1:
		if (!made[kind].ask(fd, set, &handle) && any() % 4)
			uabi_destroy(fd, made[kind].destroy, any() % 8 ? handle : any_handle());
		break;
	case ARRAY_SIZE(made):
		ask_for_page(fd);
		break;
	case ARRAY_SIZE(made) + 1:
		uabi_destroy(fd, made[any() % ARRAY_SIZE(made)].destroy, any_handle());
		break;
	case ARRAY_SIZE(made) + 2:
		uabi_modify_qp(fd, any_handle());
		uabi_await_qp(fd, any_handle());
		uabi_make_cq(fd, any_handle());
		uabi_attach(fd, any_handle());
		break;
	default:
		send_anything(fd);
	}
}

/* In a process of its own: what it asks for may be its own memory. */
static void batch(const struct forge *f, uint64_t seed)
{
	struct uabi_set set;
	int fd, i;

	state = seed * 0x9e3779b97f4a7c15 + 1;
	fd = uabi_open(f->device);
	if (fd < 0 || uabi_make(fd, &set))
		_exit(EXIT_FAILURE);
	for (i = 0; i < ROUNDS; i++)
		one_round(fd, &set);
	_exit(EXIT_SUCCESS);
}

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

static void run_random(const void *arg)
{
	uint64_t seed = from_environment("FORGE_SEED", 1),
		 batches = from_environment("FORGE_BATCHES", BATCHES), i;
	struct forge f;
	int status;
	pid_t pid;

	(void)arg;
	forge_begin(&f);
	for (i = 0; i < batches; i++) {
		pid = check_fork();
		if (!pid)
			batch(&f, seed + i);
		require(waitpid(pid, &status, 0) == pid, "wait for the process");
		check(WIFEXITED(status) && !WEXITSTATUS(status),
		      "batch %llu of seed %llu (status %#x)", (unsigned long long)i,
		      (unsigned long long)seed, status);
		beside_works(&f.beside, "a batch of requests");
	}
	forge_end(&f);
}

static const struct check_case cases[] = {
	CHECK_CASE("random-requests", run_random, "requests with a few numbers changed at random",
		   .seconds = 200),
};

const struct check_table forge_random = { cases, ARRAY_SIZE(cases) };
