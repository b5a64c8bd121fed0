// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "steal.h"

struct victim {
	struct vp_dev dev;
	struct vp_conf conf;
	struct ibv_pd *vault; /* of the memory; the QP is in another */
	uint8_t *memory;
	struct ibv_mr *mr;
	uint64_t pattern;
	struct vp_end end; /* the QP for the thief */
};

bool steal_read(int fd, void *to, size_t len)
{
	ssize_t n;

	for (; len; len -= n, to = (char *)to + n) {
		n = read(fd, to, len);
		if (n <= 0)
			return false;
	}
	return true;
}

bool steal_write(int fd, const void *from, size_t len)
{
	return send(fd, from, len, MSG_NOSIGNAL) == (ssize_t)len;
}

struct steal_numbers steal_numbers(const struct vp_end *end, const struct ibv_mr *memory)
{
	return (struct steal_numbers){
		.addr = (uintptr_t)memory->addr,
		.rkey = memory->rkey,
		.lkey = memory->lkey,
		.qpn = end->qp->qp_num,
		.psn = end->psn,
		.lid = end->dev->port.lid,
		.mtu = end->dev->port.active_mtu,
		.gid = end->dev->gid,
	};
}

void steal_peer(struct steal_peer *peer, const struct steal_numbers *numbers)
{
	memset(peer, 0, sizeof(*peer));
	peer->dev.port.lid = numbers->lid;
	peer->dev.port.active_mtu = numbers->mtu;
	peer->dev.gid = numbers->gid;
	peer->qp.qp_num = numbers->qpn;
	peer->mr.rkey = numbers->rkey;
	peer->mr.lkey = numbers->lkey;
	peer->end = (struct vp_end){
		.dev = &peer->dev,
		.qp = &peer->qp,
		.mr = &peer->mr,
		.psn = numbers->psn,
		.buf = (uint8_t *)(uintptr_t)numbers->addr,
		.len = STEAL_LEN,
	};
}

static void victim_make(struct victim *v)
{
	vp_open(&v->dev, 0);
	v->conf = vp_conf(IBV_QPT_RC);
	v->vault = ibv_alloc_pd(v->dev.ctx);
	require(v->vault, "the victim's PD");
	v->memory =
		mmap(NULL, STEAL_LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	require(v->memory != MAP_FAILED, "the victim's memory");
	v->mr = ibv_reg_mr(v->vault, v->memory, STEAL_LEN, VP_ACCESS_ALL);
	require(v->mr, "the victim's MR");
	v->pattern = vp_fresh();
	vp_fill(v->memory, STEAL_LEN, v->pattern);
	vp_end_make(&v->end, &v->dev, NULL, &v->conf);
}

static void victim_free(struct victim *v)
{
	vp_end_free(&v->end);
	require(!ibv_dereg_mr(v->mr), "deregister the victim's MR");
	require(!ibv_dealloc_pd(v->vault), "deallocate the victim's PD");
	munmap(v->memory, STEAL_LEN);
	vp_close(&v->dev);
}

/* The QP may have died of the last attempt: a fresh one, in the same PD. */
static void victim_connect(struct victim *v, const struct steal_numbers *thief)
{
	struct steal_peer peer;

	vp_qp_destroy(&v->end);
	v->end.qp = vp_qp_create(&v->end, &v->conf);
	require(v->end.qp, "the victim's QP");
	steal_peer(&peer, thief);
	vp_move(&v->end, &peer.end, IBV_QPS_INIT);
	if (!thief->qpn)
		return;
	vp_move(&v->end, &peer.end, IBV_QPS_RTR);
	vp_move(&v->end, &peer.end, IBV_QPS_RTS);
}

void steal_be_victim(int fd)
{
	struct steal_request request;
	struct steal_answer answer;
	struct victim v;

	memset(&v, 0, sizeof(v));
	opt.seed = ~opt.seed; /* no pattern is one of the thief's */
	victim_make(&v);
	while (steal_read(fd, &request, sizeof(request)) && request.ask != STEAL_END) {
		if (request.ask == STEAL_CONNECT)
			victim_connect(&v, &request.thief);
		answer.differs = vp_differs(v.memory, STEAL_LEN, v.pattern);
		answer.victim = steal_numbers(&v.end, v.mr);
		if (!steal_write(fd, &answer, sizeof(answer)))
			break;
	}
	check(vp_differs(v.memory, STEAL_LEN, v.pattern) < 0, "the victim's memory is as it was");
	victim_free(&v);
}

static int listen_on(uint16_t port)
{
	struct sockaddr_in6 at = { .sin6_family = AF_INET6,
				   .sin6_port = htons(port),
				   .sin6_addr = in6addr_any };
	int fd = socket(AF_INET6, SOCK_STREAM, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 8))
		return -1;
	return fd;
}

int steal_serve(int argc, char **argv)
{
	int server = listen_on(STEAL_PORT), fd, status;

	if (argc > 2)
		opt.device[0] = argv[2];
	if (server < 0) {
		perror("steal: serve");
		return 1;
	}
	opt.seed = now_ms();
	printf("serving\n");
	fflush(stdout);
	for (;;) {
		fd = accept(server, NULL, NULL);
		if (fd < 0)
			continue;
		if (!fork()) {
			close(server);
			steal_be_victim(fd);
			check_end_case();
		}
		close(fd);
		while (waitpid(-1, &status, WNOHANG) > 0)
			;
	}
}
