// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * exhaust - makes as many verbs objects of a kind as a device allows, and checks where it stops.
 */
#include <errno.h>
#include <getopt.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096
#define CHUNK 65536 /* of "bytes" */

static struct ibv_device *device;
static unsigned int failures;

/* What objects are made from: a context of their own, so that each kind starts from nothing. */
struct base {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_port_attr port;
	char *memory;
};

static void failed(const char *what, int err)
{
	printf("FAILED: %s: %s\n", what, strerror(err));
	failures++;
}

static void die(const char *what)
{
	printf("FAILED: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static void base_open(struct base *b)
{
	b->ctx = ibv_open_device(device);
	if (!b->ctx)
		die("open the device");
	if (ibv_query_port(b->ctx, 1, &b->port))
		die("query the port");
	b->pd = ibv_alloc_pd(b->ctx);
	b->cq = ibv_create_cq(b->ctx, 16, NULL, NULL, 0);
	b->memory = aligned_alloc(PAGE, PAGE);
	if (!b->pd || !b->cq || !b->memory)
		die("make a PD and a CQ");
	memset(b->memory, 0, PAGE);
}

static void base_close(struct base *b)
{
	if (ibv_destroy_cq(b->cq) || ibv_dealloc_pd(b->pd) || ibv_close_device(b->ctx))
		die("close the device");
	free(b->memory);
}

/* The kinds. Each makes one, or returns NULL with errno set. */

static void *make_ctx(struct base *b)
{
	(void)b;
	return ibv_open_device(device);
}

static int drop_ctx(void *object)
{
	return ibv_close_device(object);
}

static void *make_pd(struct base *b)
{
	return ibv_alloc_pd(b->ctx);
}

static int drop_pd(void *object)
{
	return ibv_dealloc_pd(object);
}

static void *make_mr(struct base *b)
{
	return ibv_reg_mr(b->pd, b->memory, PAGE, IBV_ACCESS_LOCAL_WRITE);
}

static int drop_mr(void *object)
{
	return ibv_dereg_mr(object);
}

static void *make_bytes(struct base *b)
{
	char *memory = aligned_alloc(PAGE, CHUNK);
	struct ibv_mr *mr;

	if (!memory)
		return NULL;
	memset(memory, 0, CHUNK);
	mr = ibv_reg_mr(b->pd, memory, CHUNK, IBV_ACCESS_LOCAL_WRITE);
	if (!mr) {
		int err = errno;

		free(memory);
		errno = err;
	}
	return mr;
}

static int drop_bytes(void *object)
{
	struct ibv_mr *mr = object;
	void *memory = mr->addr;
	int err = ibv_dereg_mr(mr);

	free(memory);
	return err;
}

static void *make_cq(struct base *b)
{
	return ibv_create_cq(b->ctx, 4, NULL, NULL, 0);
}

static int drop_cq(void *object)
{
	return ibv_destroy_cq(object);
}

/* In INIT: the HCA has taken it in earnest. */
static void *make_qp(struct base *b)
{
	struct ibv_qp_init_attr init = {
		.send_cq = b->cq,
		.recv_cq = b->cq,
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_qp *qp = ibv_create_qp(b->pd, &init);
	int err;

	if (!qp)
		return NULL;
	err = ibv_modify_qp(qp, &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	if (!err)
		return qp;
	ibv_destroy_qp(qp);
	errno = err;
	return NULL;
}

static int drop_qp(void *object)
{
	return ibv_destroy_qp(object);
}

/* A UD QP in a group that is always the same. */
static union ibv_gid group = { .raw = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0,
					0xa5, 0x5a, 0x77 } };
#define GROUP_LID 0xc0b5

static void *make_mcast(struct base *b)
{
	struct ibv_qp_init_attr init = {
		.send_cq = b->cq,
		.recv_cq = b->cq,
		.qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp *qp = ibv_create_qp(b->pd, &init);
	int err;

	if (!qp)
		return NULL;
	err = ibv_attach_mcast(qp, &group, GROUP_LID);
	if (!err)
		return qp;
	ibv_destroy_qp(qp);
	errno = err;
	return NULL;
}

static int drop_mcast(void *object)
{
	return ibv_detach_mcast(object, &group, GROUP_LID) ?: ibv_destroy_qp(object);
}

static void *make_srq(struct base *b)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };

	return ibv_create_srq(b->pd, &init);
}

static int drop_srq(void *object)
{
	return ibv_destroy_srq(object);
}

static void *make_ah(struct base *b)
{
	struct ibv_ah_attr attr = { .dlid = b->port.lid, .port_num = 1 };

	return ibv_create_ah(b->pd, &attr);
}

static int drop_ah(void *object)
{
	return ibv_destroy_ah(object);
}

static const struct kind {
	const char *name;
	void *(*make)(struct base *b);
	int (*drop)(void *object);
	unsigned int own;   /* of this kind that the base has itself */
	unsigned long unit; /* what each counts */
} kinds[] = {
	{ "ctx", make_ctx, drop_ctx, 1, 1 },       { "pd", make_pd, drop_pd, 1, 1 },
	{ "mr", make_mr, drop_mr, 0, 1 },          { "bytes", make_bytes, drop_bytes, 0, CHUNK },
	{ "cq", make_cq, drop_cq, 1, 1 },          { "qp", make_qp, drop_qp, 0, 1 },
	{ "srq", make_srq, drop_srq, 0, 1 },       { "ah", make_ah, drop_ah, 0, 1 },
	{ "mcast", make_mcast, drop_mcast, 0, 1 },
};

static const struct kind *find_kind(const char *name, size_t length)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strlen(kinds[i].name) == length && !memcmp(kinds[i].name, name, length))
			return &kinds[i];
	return NULL;
}

/* The queues and records of the base take a few pages of the bytes. */
static bool is_limit(const struct kind *kind, unsigned long made, unsigned long limit)
{
	unsigned long count = (made + kind->own) * kind->unit;

	return kind->unit == 1 ? count == limit : count <= limit && count + limit / 4 >= limit;
}

static void drop_all(const struct kind *kind, void **objects, unsigned long made)
{
	while (made) {
		int err = kind->drop(objects[--made]);

		if (err)
			failed("destroy an object", err);
	}
}

/* One more than is allowed is refused; when one is gone, one can be made again. */
static void check_limit(const struct kind *kind, struct base *b, void **objects, unsigned long made,
			unsigned long limit, int err)
{
	if (err != ENOMEM)
		failed("the refusal is ENOMEM", err);
	if (!is_limit(kind, made, limit)) {
		printf("FAILED: %s: %lu were made (and %u before), the limit is %lu\n", kind->name,
		       made, kind->own, limit);
		failures++;
	}
	if (!made)
		return;
	if (kind->drop(objects[made - 1]))
		failed("destroy one", errno);
	objects[made - 1] = kind->make(b);
	if (!objects[made - 1]) {
		failed("make one again", errno);
		exit(EXIT_FAILURE);
	}
}

/* How far to go. */
enum mode {
	EXACTLY,  /* there is to be a limit, and it is known */
	AT_LEAST, /* and no further */
	HOLD,     /* as many as there can be, and they are kept until standard input ends */
};

static void hold(void)
{
	char byte;

	printf("holding\n");
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
}

static void exhaust(const struct kind *kind, unsigned long limit, enum mode mode)
{
	unsigned long most = limit / kind->unit + 1, made = 0;
	void **objects = calloc(most, sizeof(*objects));
	struct base b;
	int err = 0;

	if (!objects)
		die("memory");
	base_open(&b);
	if (mode == AT_LEAST)
		most--;
	while (made < most && (objects[made] = kind->make(&b)))
		made++;
	if (made < most)
		err = errno;
	printf("%s: %lu made%s%s\n", kind->name, made, err ? ", then: " : "",
	       err ? strerror(err) : "");
	if (mode == HOLD)
		hold();
	else if (mode == EXACTLY)
		check_limit(kind, &b, objects, made, limit, err);
	else if (made < most)
		failed(kind->name, err);
	drop_all(kind, objects, made);
	base_close(&b);
	free(objects);
}

/* A process: opens all, says so, and keeps it until told. Returns its exit status. */
static int one_process(int ready, int go)
{
	struct base b;
	void *mr, *qp;
	char byte = 0;

	base_open(&b);
	mr = make_mr(&b);
	qp = make_qp(&b);
	if (!mr || !qp)
		die("make an MR and a QP");
	if (write(ready, &byte, 1) != 1 || close(ready) || read(go, &byte, 1) < 0)
		die("wait for the others");
	if (drop_qp(qp) || drop_mr(mr))
		die("destroy QP and MR");
	base_close(&b);
	return EXIT_SUCCESS;
}

static void processes(unsigned long count)
{
	unsigned long i, ready = 0;
	int to[2], from[2], status;
	char byte;

	if (pipe(to) || pipe(from))
		die("pipe");
	for (i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid) {
			close(to[1]);
			close(from[0]);
			exit(one_process(from[1], to[0]));
		}
	}
	close(from[1]);
	/* Each closes its end when it is ready, or by failing. */
	while (read(from[0], &byte, 1) == 1)
		ready++;
	close(to[1]);
	printf("%lu of %lu processes had the device open at once\n", ready, count);
	if (ready != count)
		failures++;
	while (wait(&status) > 0)
		if (status)
			failures++;
}

static void find_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i]; i++)
		if (!name || !strcmp(ibv_get_device_name(list[i]), name))
			device = list[i];
	if (device)
		return;
	printf("there is no device %s\n", name ? name : "");
	exit(EXIT_FAILURE);
}

static void usage(FILE *to)
{
	fputs("usage: exhaust [-d DEVICE] [--at-least|--hold] KIND=N...\n"
	      "       exhaust [-d DEVICE] --processes N\n"
	      "Makes objects of a kind until the device refuses, and checks that it does so with\n"
	      "ENOMEM after exactly N; with --at-least, that N can be made. --hold makes N, or as many\n"
	      "as it can, says \"holding\" and keeps them until standard input ends. --processes has that\n"
	      "many processes open the device at once, each with an MR and a QP.\n"
	      "\n"
	      "Kinds: ctx pd mr cq qp srq ah, mcast (UD QPs in one multicast group), and bytes\n"
	      "(registered, roughly).\n",
	      to);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "at-least", no_argument, NULL, 'a' },
		{ "hold", no_argument, NULL, 'o' },
		{ "processes", required_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	unsigned long many = 0;
	const char *name = NULL;
	enum mode mode = EXACTLY;
	int option;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((option = getopt_long(argc, argv, "d:h", options, NULL)) != -1) {
		switch (option) {
		case 'd':
			name = optarg;
			break;
		case 'a':
			mode = AT_LEAST;
			break;
		case 'o':
			mode = HOLD;
			break;
		case 'p':
			many = strtoul(optarg, NULL, 0);
			break;
		case 'h':
			usage(stdout);
			return EXIT_SUCCESS;
		default:
			usage(stderr);
			return 2;
		}
	}
	find_device(name);
	if (many)
		processes(many);
	for (; optind < argc; optind++) {
		const char *equals = strchr(argv[optind], '=');
		const struct kind *kind = equals ? find_kind(argv[optind], equals - argv[optind]) :
						   NULL;

		if (!kind) {
			usage(stderr);
			return 2;
		}
		exhaust(kind, strtoul(equals + 1, NULL, 0), mode);
	}
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
