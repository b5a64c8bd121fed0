// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The victim's keys, by their true values.
 *
 * A key is good in the PD of its memory alone, which is the victim's, and the thief's requests are served by a QP of
 * another PD, whoever's it is: the responder answers with a remote access error, and a requester's own segments end in a
 * local protection error. A QP that nobody answers ends with its retries.
 */
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "beside.h"
#include "steal.h"
#include "steal_rkey.h"

const char *steal_host;

enum way {
	WAY_OWN, /* through a pair of the thief's own: its responder is in the thief's PD */
	WAY_VICTIM, /* through a QP that the victim has connected to the thief's, in another PD than its memory */
	WAY_UNWANTED, /* to a QP of the victim that is not connected, and does not listen yet */
	WAY_NOWHERE,  /* to a QP that does not exist */
	WAY_LOCAL,    /* as the thief's own memory */
};

struct attempt {
	enum ibv_wr_opcode opcode;
	enum way way;
	enum ibv_wc_status status;
};

struct scene {
	struct vp_dev dev;
	struct vp_conf conf;
	struct beside beside;
	struct vp_pair own;  /* WAY_OWN and WAY_LOCAL */
	struct vp_end thief; /* the others */
	struct steal_peer victim;
	int fd;
	pid_t pid; /* of a victim in this guest, 0: in another */
};

static int dial(const char *host)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list, *at;
	char port[8];
	int fd = -1;

	snprintf(port, sizeof(port), "%d", STEAL_PORT);
	require(!getaddrinfo(host, port, &hints, &list), "%s is known", host);
	for (at = list; at && fd < 0; at = at->ai_next) {
		fd = socket(at->ai_family, at->ai_socktype, 0);
		if (fd < 0 || !connect(fd, at->ai_addr, at->ai_addrlen))
			continue;
		close(fd);
		fd = -1;
	}
	freeaddrinfo(list);
	return fd;
}

static void find_victim(struct scene *s)
{
	int pair[2];

	if (steal_host) {
		s->fd = dial(steal_host);
		require(s->fd >= 0, "there is a victim in %s (steal serve)", steal_host);
		return;
	}
	require(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair), "a stream");
	s->pid = check_fork();
	if (!s->pid) {
		close(pair[0]);
		steal_be_victim(pair[1]);
		check_end_case();
	}
	close(pair[1]);
	s->fd = pair[0];
}

static struct steal_answer ask(struct scene *s, enum steal_ask what,
			       const struct steal_numbers *thief)
{
	struct steal_request request = { .ask = what };
	struct steal_answer answer;

	if (thief)
		request.thief = *thief;
	require(steal_write(s->fd, &request, sizeof(request)) &&
			steal_read(s->fd, &answer, sizeof(answer)),
		"the victim answers");
	return answer;
}

static void begin(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	find_victim(s);
	beside_start(&s->beside);
	vp_open(&s->dev, 0);
	s->conf = vp_conf(IBV_QPT_RC);
}

static void end(struct scene *s)
{
	struct steal_request request = { .ask = STEAL_END };
	int status = 0;

	check(ask(s, STEAL_LOOK, NULL).differs < 0, "the victim's memory is as it was");
	require(steal_write(s->fd, &request, sizeof(request)), "tell the victim");
	if (s->pid)
		require(waitpid(s->pid, &status, 0) == s->pid, "wait for the victim");
	check(!status, "the victim ends well (status %#x)", status);
	close(s->fd);
	if (s->own.a.dev)
		vp_pair_free(&s->own);
	if (s->thief.dev)
		vp_end_free(&s->thief);
	vp_close(&s->dev);
	beside_works(&s->beside, "the attempt");
	beside_stop(&s->beside);
}

/* Few and short retries: here it is known that nobody answers. */
static void give_up_soon(struct vp_conf *conf)
{
	conf->retry_cnt = 2;
	conf->timeout = 12;
}

static void connect_thief(struct scene *s, enum way way)
{
	struct steal_numbers own, theirs;

	if (way != WAY_VICTIM)
		give_up_soon(&s->conf);
	vp_end_make(&s->thief, &s->dev, NULL, &s->conf);
	own = steal_numbers(&s->thief, s->thief.mr);
	if (way == WAY_UNWANTED)
		own.qpn = 0;
	theirs = ask(s, way == WAY_NOWHERE ? STEAL_NUMBERS : STEAL_CONNECT, &own).victim;
	if (way == WAY_NOWHERE)
		theirs.qpn = 0xfffffe;
	steal_peer(&s->victim, &theirs);
	s->thief.peer = &s->victim.end;
	vp_move(&s->thief, &s->victim.end, IBV_QPS_INIT);
	vp_move(&s->thief, &s->victim.end, IBV_QPS_RTR);
	vp_move(&s->thief, &s->victim.end, IBV_QPS_RTS);
}

/* The end that posts. Its peer has the victim's address and key in any case. */
static struct vp_end *connect_way(struct scene *s, enum way way)
{
	struct steal_numbers theirs;

	if (way != WAY_OWN && way != WAY_LOCAL) {
		connect_thief(s, way);
		return &s->thief;
	}
	theirs = ask(s, STEAL_NUMBERS, NULL).victim;
	steal_peer(&s->victim, &theirs);
	vp_pair_make(&s->own, &s->dev, &s->dev, &s->conf);
	vp_exchange(&s->own, "the thief's own pair, before");
	if (way == WAY_OWN)
		s->own.a.peer = &s->victim.end;
	return &s->own.a;
}

static void build(struct scene *s, struct vp_end *from, const struct attempt *a, struct vp_wr *w)
{
	bool atomic = a->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
		      a->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;

	vp_wr(w, from, a->opcode, 0, atomic ? 8 : 4096);
	if (atomic) {
		w->wr.wr.atomic.compare_add = *(uint64_t *)from->buf;
		w->wr.wr.atomic.swap = 0x5151515151515151u;
	}
	if (a->way != WAY_LOCAL)
		return;
	w->sge[0].addr = (uintptr_t)s->victim.end.buf;
	w->sge[0].lkey = s->victim.mr.lkey;
}

static void steal_run(const void *arg)
{
	const struct attempt *a = arg;
	uint64_t pattern = vp_fresh();
	struct vp_end *from;
	struct scene s;
	struct vp_wr w;

	begin(&s);
	from = connect_way(&s, a->way);
	vp_fill(from->buf, from->len, pattern);
	if (s.own.b.dev)
		vp_fill(s.own.b.buf, s.own.b.len, pattern);
	build(&s, from, a, &w);
	vp_send(from, &w.wr);
	vp_expect(&from->scq, w.wr.wr_id, a->status, "the theft");
	check(vp_differs(from->buf, from->len, pattern) < 0, "the thief has nothing of it");
	check(!s.own.b.dev || vp_differs(s.own.b.buf, s.own.b.len, pattern) < 0,
	      "nor has its accomplice");
	vp_expect_state(from, IBV_QPS_ERR, "the thief's QP");
	end(&s);
}

#define CASE(name, what, opcode, way, status) \
	CHECK_CASE(name, steal_run, what, \
		   .arg = (&(const struct attempt){ IBV_WR_##opcode, WAY_##way, \
						    IBV_WC_##status }))
#define CASES(name, opcode) \
	CASE(name "-own-qp", "through a pair of the thief's own", opcode, OWN, REM_ACCESS_ERR), \
		CASE(name "-other-pd", "through the victim's QP of another PD", opcode, VICTIM, \
		     REM_ACCESS_ERR), \
		CASE(name "-unwanted", "to a QP of the victim that is not connected", opcode, \
		     UNWANTED, RETRY_EXC_ERR), \
		CASE(name "-nowhere", "to a QP that does not exist", opcode, NOWHERE, \
		     RETRY_EXC_ERR)

static const struct check_case cases[] = {
	CASES("write", RDMA_WRITE),
	CASES("read", RDMA_READ),
	CASES("cas", ATOMIC_CMP_AND_SWP),
	CASES("faa", ATOMIC_FETCH_AND_ADD),
	CASE("lkey-send", "the victim's memory as the source of a write", RDMA_WRITE, LOCAL,
	     LOC_PROT_ERR),
	CASE("lkey-read", "the victim's memory as the target of a read", RDMA_READ, LOCAL,
	     LOC_PROT_ERR),
};

const struct check_table steal_rkey = { cases, ARRAY_SIZE(cases) };
