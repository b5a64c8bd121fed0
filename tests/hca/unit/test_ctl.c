// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Requests on the control socket, over objects built by hand. */
#include <errno.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "bus/dma.h"
#include "control/ctl.h"
#include "engine/fabric.h"
#include "firmware/cmd.h"
#include "hca.h"
#include "objects/cq.h"
#include "objects/eq.h"
#include "objects/mkey.h"
#include "objects/qp.h"
#include "objects/srq.h"
#include "objects/uar.h"
#include "plain_port.h"
#include "unit.h"

static struct loop *loop;
static struct fabric *fabric;
static struct hca hcas[2];
static struct ctl *ctl;
static int client;

/* Doubles: a table holds one kind of object in an array. */
static struct {
	struct obj **objs;
	uint32_t count;
} store[2][OBJ_TYPES];

__attribute__((weak)) struct obj *obj_next(const struct obj_table *t, uint32_t id)
{
	const __typeof__(store[0][0]) *s = (const void *)t;

	for (uint32_t i = 0; s && i < s->count; i++)
		if (s->objs[i]->id >= id)
			return s->objs[i];
	return NULL;
}

__attribute__((weak)) void obj_each(struct obj_table *t, void (*fn)(struct obj *, void *),
				    void *arg)
{
	const __typeof__(store[0][0]) *s = (const void *)t;

	for (uint32_t i = 0; s && i < s->count; i++)
		fn(s->objs[i], arg);
}

__attribute__((weak)) struct obj *obj_find(const struct obj_table *t, uint32_t id)
{
	(void)t;
	(void)id;
	return NULL;
}

__attribute__((weak)) void qp_engine_packet(struct qp *qp, struct packet *p)
{
	(void)qp;
	(void)p;
}

__attribute__((weak)) const char *qp_state_name(enum qp_state state)
{
	return state == QP_RTS ? "RTS" : "?";
}

__attribute__((weak)) const char *qp_transport_name(enum qp_transport transport)
{
	return transport == QP_RC ? "RC" : "?";
}

__attribute__((weak)) uint16_t cmd_opcode(const char *name)
{
	return strcasecmp(name, "CREATE_QP") ? 0 : 0x500;
}

__attribute__((weak)) const char *cmd_name(uint16_t opcode)
{
	return opcode == 0x500 ? "CREATE_QP" : NULL;
}

static int link_set = -1, fatal_set = -1;

__attribute__((weak)) void hca_set_link(struct hca *hca, bool up)
{
	hca->faults.link_down = !up;
	link_set = up;
}

__attribute__((weak)) void hca_set_fatal(struct hca *hca, bool fatal)
{
	hca->faults.fatal = fatal;
	fatal_set = fatal;
}

static void plug(void)
{
	int fds[2];

	REQUIRE_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	client = fds[0];
	REQUIRE_EQ(ctl_adopt(ctl, fds[1]), 0);
}

static void fresh(void)
{
	memset(hcas, 0, sizeof(hcas));
	memset(store, 0, sizeof(store));
	loop = loop_new();
	fabric = fabric_new(loop);
	REQUIRE(loop && fabric);
	for (unsigned int i = 0; i < 2; i++) {
		hcas[i].index = i;
		hcas[i].loop = loop;
		hcas[i].fabric = fabric;
		hcas[i].dma = dma_space_new();
		for (unsigned int t = 0; t < OBJ_TYPES; t++)
			hcas[i].objs[t] = (struct obj_table *)&store[i][t];
		REQUIRE_EQ(fabric_join(fabric, &hcas[i]), 0);
	}
	ctl = ctl_new(loop, fabric);
	REQUIRE(ctl);
	plug();
}

static void done(void)
{
	close(client);
	ctl_free(ctl);
	for (unsigned int i = 0; i < 2; i++) {
		fabric_leave(fabric, &hcas[i]);
		dma_space_free(hcas[i].dma);
	}
	fabric_free(fabric);
	loop_free(loop);
}

static char text[1 << 20];

/* The whole answer, without the empty line at its end. */
static const char *ask(const char *request)
{
	size_t len = 0;

	REQUIRE_EQ(send(client, request, strlen(request), MSG_NOSIGNAL), (ssize_t)strlen(request));
	REQUIRE_EQ(send(client, "\n", 1, MSG_NOSIGNAL), 1);
	for (int i = 0; i < 10000; i++) {
		ssize_t n;

		loop_turn(loop, 0);
		n = recv(client, text + len, sizeof(text) - len - 1, MSG_DONTWAIT);
		if (n > 0)
			len += (size_t)n;
		text[len] = 0;
		if (len >= 2 && !strcmp(text + len - 2, "\n\n")) {
			text[len - 1] = 0;
			return text;
		}
	}
	return "no answer";
}

#define ANSWERS(request, answer) CHECK(!strcmp(ask(request), answer))
#define REFUSES(request) CHECK(!strncmp(ask(request), "error ", 6))

TEST(ping_and_nonsense)
{
	fresh();
	ANSWERS("ping", "ok\n");
	ANSWERS("  ping  \r", "ok\n");
	REFUSES("");
	REFUSES("pong");
	REFUSES("ping pong");
	REFUSES("list cows");
	REFUSES("list qp cq");
	REFUSES("list qp --function 2");
	REFUSES("list qp --function 9");
	REFUSES("list qp --function");
	REFUSES("list qp --function x");
	REFUSES("ping --loud");
	REFUSES("a b c d e f g h i j k l m n o p q r s t");
	ANSWERS("ping", "ok\n");
	done();
}

TEST(lists_objects)
{
	struct uar uar = { .obj = { .id = 20, .uid = 3, .refs = 2 },
			   .sq_doorbells = 7,
			   .refused = 1 };
	struct eq eq = { .obj = { .id = 4 }, .log_size = 8, .vector = 2, .armed = true };
	struct cq cq = { .obj = { .id = 9, .uid = 3, .refs = 2 },
			 .eq = &eq,
			 .uar = &uar,
			 .log_size = 4,
			 .cqe_size_shift = 6,
			 .pi = 5,
			 .dbr = 4096 };
	struct srq srq = { .obj = { .id = 11 }, .log_size = 5, .pd = 6 };
	struct qp qp = { .obj = { .id = 100, .uid = 3 },
			 .transport = QP_RC,
			 .state = QP_RTS,
			 .pd = 6,
			 .uar = &uar,
			 .send_cq = &cq,
			 .recv_cq = &cq,
			 .remote_qpn = 101,
			 .path.dlid = 2,
			 .has_sq = true,
			 .log_sq_size = 6,
			 .dbr = 8192 };
	struct mkey mkey = { .obj = { .id = 5, .uid = 3 },
			     .variant = 0x42,
			     .mode = MKEY_MTT,
			     .access = MKEY_LOCAL_WRITE | MKEY_REMOTE_READ,
			     .pd = 6,
			     .start = 65536,
			     .length = 8192,
			     .page_shift = 12,
			     .qpn = 0xffffff };
	struct obj pd = { .id = 6, .uid = 3, .refs = 2 };
	struct obj *o[] = { &uar.obj, &eq.obj, &cq.obj, &srq.obj, &qp.obj, &mkey.obj, &pd };
	static const enum obj_type types[] = { OBJ_UAR, OBJ_EQ,   OBJ_CQ, OBJ_SRQ,
					       OBJ_QP,  OBJ_MKEY, OBJ_PD };

	fresh();
	for (unsigned int i = 0; i < 7; i++) {
		store[1][types[i]].objs = &o[i];
		store[1][types[i]].count = 1;
	}
	ANSWERS("list uar", "ok\ntable uar\nfunction:d\tpage:d\tuid:d\trefs:d\tsq_doorbells:d\t"
			    "cq_arms:d\teq_doorbells:d\trefused:d\n1\t20\t3\t2\t7\t0\t0\t1\n");
	CHECK(!strcmp(ask("uars"), ask("list uar")));
	CHECK(strstr(
		ask("list qp"),
		"\n1\t100\t3\tRC\tRTS\t6\t9\t9\t0\t0\t20\t101\t2\t64\t0\t8192\t0\t0\t0\t0\t0\t0\n"));
	CHECK(!strstr(ask("list qp --function 0"), "\t100\t"));
	CHECK(strstr(ask("list qp --function 1"), "\t100\t"));
	CHECK(strstr(ask("list cq"), "\n1\t9\t3\t4\t20\t16\t64\t5\t4096\t2\tok\n"));
	CHECK(strstr(ask("list srq"), "\n1\t11\t0\tbasic\t6\t0\t0\t32\t0\t0\t0\tok\n"));
	CHECK(strstr(ask("list eq"), "\n1\t4\t0\t2\t256\t0\t0\t1\t0\n"));
	CHECK(strstr(ask("list mr"),
		     "\n1\t5\t3\t1346\t6\tmtt\twR\t65536\t8192\t12\t0\t16777215\t0\n"));
	CHECK(strstr(ask("list pd"), "\n1\t6\t3\t2\n"));
	ask("list all");
	for (const char *t = strstr(text, "table"), *n; t; t = n) {
		n = strstr(t + 5, "table");
		CHECK(strchr(t, ':') != NULL);
	}
	CHECK(strstr(text, "table uctx\n") && strstr(text, "table qp\n") &&
	      strstr(text, "table td\n") && strstr(text, "table xrcd\n"));
	done();
}

TEST(long_lists_come_whole)
{
	enum { N = 20000 };
	struct obj *pds = calloc(N, sizeof(*pds)), **o = calloc(N, sizeof(*o));
	unsigned int lines = 0;

	REQUIRE(pds && o);
	fresh();
	for (uint32_t i = 0; i < N; i++) {
		pds[i].id = 3 * i;
		o[i] = &pds[i];
	}
	store[0][OBJ_PD].objs = o;
	store[0][OBJ_PD].count = N;
	for (const char *p = ask("list pd"); *p; p++)
		lines += *p == '\n';
	CHECK_EQ(lines, N + 3);
	CHECK(strstr(text, "\n0\t59997\t0\t0\n"));
	/* A client that goes in the middle, and one that asks again without reading. */
	CHECK_EQ(send(client, "list pd\nlist pd\n", 16, 0), 16);
	for (int i = 0; i < 20; i++)
		loop_turn(loop, 0);
	close(client);
	for (int i = 0; i < 20; i++)
		loop_turn(loop, 0);
	plug();
	ANSWERS("ping", "ok\n");
	CHECK_EQ(send(client, "ping\nlist pd\nping\n", 18, 0), 18);
	CHECK(!strncmp(ask("ping"), "ok\n\nok\ntable pd\n", 16));
	free(o);
	free(pds);
	done();
}

TEST(counters_are_read_and_reset)
{
	fresh();
	hcas[0].stats.doorbells = 12345;
	hcas[1].port.xmit_bytes = 777;
	CHECK(strstr(ask("counters"), "doorbells:d"));
	CHECK(strstr(text, "\t12345\t"));
	CHECK(strstr(text, "\t777\t"));
	CHECK(!strstr(ask("counters --function 1"), "\t12345\t"));
	ANSWERS("reset-counters --function 1", "ok\n");
	CHECK(strstr(ask("counters"), "\t12345\t"));
	CHECK(!strstr(text, "\t777\t"));
	ANSWERS("reset-counters", "ok\n");
	CHECK_EQ(hcas[0].stats.doorbells, 0);
	done();
}

TEST(who_manages_the_subnet)
{
	fresh();
	ANSWERS("sm external", "ok\n");
	CHECK_EQ(managed_set, 1);
	ANSWERS("sm external", "ok\n");
	ANSWERS("sm built-in", "ok\n");
	CHECK_EQ(managed_set, 0);
	REFUSES("sm");
	REFUSES("sm nobody");
	REFUSES("sm external now");
	REFUSES("sm external --function 0");
	CHECK_EQ(managed_set, 0);
	done();
}

TEST(faults_are_set_shown_and_cleared)
{
	fresh();
	ANSWERS("fault drop 5 --function 1", "ok\n");
	CHECK_EQ(hcas[1].faults.drop_next, 5);
	CHECK_EQ(hcas[0].faults.drop_next, 0);
	ANSWERS("fault drop-rate 100", "ok\n");
	CHECK_EQ(hcas[0].faults.drop_permille, 100);
	ANSWERS("fault delay 250", "ok\n");
	CHECK_EQ(hcas[0].faults.delay_ns, 250000);
	ANSWERS("fault link down --function 0", "ok\n");
	CHECK(hcas[0].faults.link_down && !hcas[1].faults.link_down);
	ANSWERS("fault fatal on --function 0", "ok\n");
	CHECK(hcas[0].faults.fatal);
	ANSWERS("fault fail-command create_qp --status 0xf --count 3 --function 0", "ok\n");
	ANSWERS("fault fail-command 0x400 --function 0", "ok\n");
	CHECK_EQ(hcas[0].faults.command[0].opcode, 0x500);
	CHECK_EQ(hcas[0].faults.command[0].status, 0xf);
	CHECK_EQ(hcas[0].faults.command[0].count, 3);
	CHECK_EQ(hcas[0].faults.command[1].opcode, 0x400);
	CHECK_EQ(hcas[0].faults.command[1].count, 1);
	ANSWERS("fault odp off --function 0", "ok\n");
	CHECK(hcas[0].faults.no_odp && !hcas[1].faults.no_odp);
	ANSWERS("fault moderation on --function 0", "ok\n");
	CHECK(hcas[0].faults.moderation && !hcas[1].faults.moderation);
	ANSWERS("fault show --function 0",
		"ok\ntable faults\nfunction:d\tlink:s\tfatal:d\todp:s\tmoderation:s\tdrop:d\tdrop_permille:d\t"
		"delay_us:d\tfail_commands:s\n"
		"0\tdown\t1\toff\ton\t0\t100\t250\tCREATE_QP:0xf*3,?:0x1*1\n");
	ANSWERS("fault fail-command CREATE_QP --count 0 --function 0", "ok\n");
	CHECK_EQ(hcas[0].faults.command[0].opcode, 0);
	ANSWERS("fault fail-command 0x400 --count 9 --function 0", "ok\n"); /* where it was */
	CHECK_EQ(hcas[0].faults.command[1].count, 9);
	CHECK_EQ(hcas[0].faults.command[0].opcode, 0);
	ANSWERS("fault clear", "ok\n");
	CHECK_EQ(link_set, 1);
	CHECK_EQ(fatal_set, 0);
	CHECK_EQ(hcas[0].faults.delay_ns + hcas[0].faults.drop_permille + hcas[1].faults.drop_next +
			 hcas[0].faults.command[1].opcode,
		 0);
	CHECK(!hcas[0].faults.no_odp && !hcas[0].faults.moderation);

	REFUSES("fault drop");
	REFUSES("fault drop many");
	REFUSES("fault drop -1");
	REFUSES("fault drop-rate 1001");
	REFUSES("fault delay 60000001");
	REFUSES("fault link sideways");
	REFUSES("fault fatal");
	REFUSES("fault odp");
	REFUSES("fault odp maybe");
	REFUSES("fault moderation");
	REFUSES("fault fail-command BREW_COFFEE");
	REFUSES("fault fail-command 0");
	REFUSES("fault fail-command 0x10000");
	REFUSES("fault fail-command CREATE_QP --status 0");
	REFUSES("fault fail-command CREATE_QP --status 256");
	REFUSES("fault clear all");
	REFUSES("fault earthquake");
	for (unsigned int i = 0; i < HCA_FAULT_COMMANDS; i++) {
		char line[64];

		snprintf(line, sizeof(line), "fault fail-command 0x%x --function 0", 0x600 + i);
		ANSWERS(line, "ok\n");
	}
	REFUSES("fault fail-command 0x777");
	done();
}

TEST(clients_are_bounded)
{
	int fds[CTL_CLIENTS + 1][2];
	char line[CTL_LINE + 1], c;

	fresh();
	close(client);
	loop_turn(loop, 0);
	for (unsigned int i = 0; i <= CTL_CLIENTS; i++) {
		REQUIRE_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds[i]), 0);
		CHECK_EQ(ctl_adopt(ctl, fds[i][1]), i < CTL_CLIENTS ? 0 : -ENOSPC);
	}
	close(fds[CTL_CLIENTS][1]);
	client = fds[3][0];
	ANSWERS("ping", "ok\n");
	memset(line, 'x', sizeof(line));
	CHECK_EQ(send(client, line, sizeof(line), 0), (ssize_t)sizeof(line));
	loop_turn(loop, 0);
	CHECK(recv(client, &c, 1, 0) <= 0); /* too long: closed */
	for (unsigned int i = 0; i <= CTL_CLIENTS; i++)
		if (fds[i][0] != client)
			close(fds[i][0]);
	done();
}

TEST(the_path_is_private)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	char dir[] = "/tmp/test-ctl-XXXXXX";
	struct stat st;

	fresh();
	close(client);
	REQUIRE(mkdtemp(dir));
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/socket", dir);
	CHECK_EQ(ctl_listen(ctl, addr.sun_path), 0);
	CHECK_EQ(stat(addr.sun_path, &st), 0);
	CHECK_EQ(st.st_mode & 0777, 0600);
	client = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	CHECK_EQ(connect(client, (struct sockaddr *)&addr, sizeof(addr)), 0);
	ANSWERS("ping", "ok\n");
	done();
	CHECK_EQ(rmdir(dir), 0); /* it is empty again */
}
