// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * blackout: what a suspension of the guest costs its programs. One process looks at a clock that goes on while the guest
 * is suspended; the longest time between two looks is that in which nothing ran. Another one has the device in use: what
 * it has registered it writes to all the time. When it loses the device it is started again, until that works.
 */
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "loopback.h"
#include "measure.h"

#define LOOK_US 1000
#define MIB (1ul << 20)
#define WRITTEN 64 /* octets */

/* What both processes see. */
struct shared {
	double written_ms; /* at that time the last write was completed */
};

static volatile sig_atomic_t enough;

static void stop(int signal)
{
	(void)signal;
	enough = 1;
}

static double clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

/* -- who uses the device -- */

/* One that is gone completes nothing any more, but says so. */
static bool is_there(struct ibv_context *ctx)
{
	struct pollfd event = { .fd = ctx->async_fd, .events = POLLIN };

	return poll(&event, 1, 0) == 0;
}

static void write_once(struct ibv_qp *qp, struct ibv_mr *mr)
{
	struct ibv_sge sge = { .addr = (uintptr_t)mr->addr, .length = WRITTEN, .lkey = mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma = { .remote_addr = sge.addr + WRITTEN, .rkey = mr->rkey },
	};
	struct ibv_wc wc;
	int got;

	if (ibv_post_send(qp, &wr, &bad))
		die("posting a write: %m");
	while (!(got = ibv_poll_cq(qp->send_cq, 1, &wc))) {
		if (!is_there(qp->context))
			die("the device is gone");
		usleep(LOOK_US);
	}
	if (got < 0 || wc.status != IBV_WC_SUCCESS)
		die("a write failed: %s", got < 0 ? "polling" : ibv_wc_status_str(wc.status));
}

/* Until that does not go any more, which ends the process. */
static void use(const char *device, void *memory, size_t bytes, struct shared *shared)
{
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_qp *qp;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	ctx = open_device(device);
	pd = ibv_alloc_pd(ctx);
	mr = pd ? ibv_reg_mr(pd, memory, bytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE) :
		  NULL;
	if (!mr)
		die("no PD or MR: %m");
	qp = loopback_make(pd, 1, NULL);
	while (1) {
		write_once(qp, mr);
		shared->written_ms = clock_ms();
		usleep(LOOK_US);
	}
}

/* -- who looks at the clock -- */

struct look {
	double last_ms, longest_ms;
};

static void look(struct look *look, double now_ms)
{
	if (look->last_ms && now_ms - look->last_ms > look->longest_ms)
		look->longest_ms = now_ms - look->last_ms;
	look->last_ms = now_ms;
}

/* The other process. */
struct user {
	const char *device;
	void *memory;
	size_t bytes;
	struct shared *shared;
	pid_t pid; /* 0: there is none */
	bool works;
	struct look writes;
};

static void start(struct user *user)
{
	user->works = false;
	user->pid = fork();
	if (!user->pid)
		use(user->device, user->memory, user->bytes, user->shared);
}

static void look_at_writes(struct user *user)
{
	if (user->shared->written_ms == user->writes.last_ms)
		return;
	if (!user->works) {
		puts(user->writes.last_ms ? "again" : "ready");
		fflush(stdout);
	}
	user->works = true;
	look(&user->writes, user->shared->written_ms);
}

/* What it has written before it ended is seen first. */
static void look_after(struct user *user)
{
	bool ended = user->pid > 0 && waitpid(user->pid, NULL, WNOHANG) == user->pid;

	look_at_writes(user);
	if (ended || user->pid <= 0)
		start(user);
}

static void *share(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		die("no memory");
	return at;
}

static const char usage[] =
	"usage: blackout [--device NAME] [--mib N]\n"
	"\n"
	"Has N MiB of memory (64), registered if there is a device that it is to use. Prints \"ready\", and\n"
	"\"again\" whenever the device is of use again. On SIGINT it prints \"blackout MILLISECONDS\", the\n"
	"longest time in which it did not run, and \"outage MILLISECONDS\", the longest without a write by\n"
	"RDMA if it uses a device, and ends.\n";

int main(int argc, char **argv)
{
	unsigned long mib = 64;
	const struct number_option numbers[] = { { "mib", &mib, 1, 1024 }, { 0 } };
	struct user user = { .device = read_options(argc, argv, usage, numbers) };
	struct look clock = { 0 };

	user.bytes = mib * MIB;
	user.memory = share(user.bytes);
	user.shared = share(sizeof(*user.shared));
	memset(user.memory, 1, user.bytes);
	signal(SIGINT, stop);
	if (!user.device) {
		puts("ready");
		fflush(stdout);
	}
	while (!enough) {
		look(&clock, clock_ms());
		if (user.device)
			look_after(&user);
		usleep(LOOK_US);
	}
	printf("blackout %.1f\n", clock.longest_ms);
	if (user.device)
		printf("outage %.1f\n", user.writes.longest_ms);
	return 0;
}
