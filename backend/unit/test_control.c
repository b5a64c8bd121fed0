// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_control.c - the control socket with clients that are honest, slow, broken or many; and what is told
 * through it: listings and metrics.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "admin/control.h"
#include "admin/listing.h"
#include "admin/metrics.h"
#include "unit/fakes/fixture.h"

#define LARGE (1 << 20) /* more than a socket takes at once */

static char dir[] = "/tmp/xen-ib-control-XXXXXX", path[64];
static unsigned int answered;

static void answer(void *from, const struct control_request *req, struct control_reply *reply)
{
	unsigned int i;

	CHECK(from == &answered);
	answered++;
	switch (req->verb) {
	case CONTROL_VERSION:
		fputs("version 1\n", reply->body);
		break;
	case CONTROL_LIST:
		for (i = 0; i < LARGE; i++)
			fputc('x', reply->body);
		break;
	case CONTROL_SHOW:
		control_fail(reply, CONTROL_NOT_FOUND, "there is no\ndomain %s", req->domain);
		break;
	case CONTROL_ATTACH:
		fprintf(reply->body, "%s:%s", req->domain, req->spec);
		break;
	case CONTROL_DETACH:
		fprintf(reply->body, "%s:%u:%d", req->domain, req->devid, req->force);
		break;
	case CONTROL_SET:
		fprintf(reply->body, "%s:%u:%s", req->domain, req->devid, req->spec);
		break;
	case CONTROL_METRICS:
		for (i = 0; i <= CONTROL_BODY_MAX; i++)
			fputc('x', reply->body);
		break;
	}
}

static int client(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	CHECK(fd >= 0 && !connect(fd, (struct sockaddr *)&address, sizeof(address)));
	return fd;
}

static void say(int fd, const char *text)
{
	CHECK(send(fd, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text));
}

static void turns(struct control *c, unsigned int n)
{
	while (n--)
		control_service(c);
}

static void expect(struct control *c, int fd, const char *text)
{
	char got[512];
	ssize_t n;

	turns(c, 8);
	n = recv(fd, got, sizeof(got) - 1, 0);
	CHECK(n >= 0);
	got[n] = 0;
	if (strcmp(got, text))
		fprintf(stderr, "got: %s", got);
	CHECK(!strcmp(got, text));
}

static void expect_hung_up(struct control *c, int fd)
{
	char byte;

	turns(c, 4);
	CHECK(recv(fd, &byte, 1, 0) == 0 || errno == ECONNRESET);
	close(fd);
}

static void test_requests(struct control *c)
{
	int fd = client();

	say(fd, "version\n");
	expect(c, fd, "ok 10\nversion 1\n");
	say(fd, "ver");
	turns(c, 2);
	say(fd, "sion\nversion\n");
	expect(c, fd, "ok 10\nversion 1\nok 10\nversion 1\n");
	say(fd, "show 5\n");
	expect(c, fd, "error not-found there is no domain 5\n");
	say(fd, "attach guest1 hca=mlx5_0, port=1\n");
	expect(c, fd, "ok 25\nguest1:hca=mlx5_0, port=1");
	say(fd, "detach 7 3 force\n");
	expect(c, fd, "ok 5\n7:3:1");
	say(fd, "set 7 3 sl=3, ud=0\n");
	expect(c, fd, "ok 14\n7:3:sl=3, ud=0");
	say(fd, "metrics\n");
	expect(c, fd, "error refused too much for one response: ask for one domain\n");
	close(fd);
	turns(c, 2);
}

static void test_not_requests(struct control *c)
{
	static const char *const lines[] = {
		"",
		" ",
		"nonsense",
		"version 1",
		"list  ",
		"list 1 x",
		"list 1 2 3",
		"show 1 70000",
		"attach 1",
		"attach 1 ",
		"attach  hca=x",
		"detach 1",
		"detach 1 2 forced",
		"detach 1 2 force x",
		"set 1 2",
		"set 1 2 ",
		"set 1 sl=3",
		"set 1 sl=3 2",
		"attach 1 \033[2J",
		"list \xff",
	};
	char line[CONTROL_LINE_MAX + 1];
	int fd = client();
	unsigned int i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		snprintf(line, sizeof(line), "%s\n", lines[i]);
		say(fd, line);
		expect(c, fd, "error usage not a request of version 1 of the protocol\n");
	}
	CHECK(send(fd, "list\0x\n", 7, 0) == 7);
	expect(c, fd, "error usage not a request of version 1 of the protocol\n");
	memset(line, 'x', CONTROL_LINE_MAX);
	line[CONTROL_LINE_MAX] = 0;
	say(fd, line);
	expect(c, fd, "error usage not a request of version 1 of the protocol\n");
	expect_hung_up(c, fd);
}

/* One that does not take its answer is not asked for more, and the others do not notice. */
static void test_stalled(struct control *c)
{
	int stalled = client(), other = client();
	unsigned int before = answered, i;
	static char text[LARGE + 64];
	size_t have = 0;
	ssize_t got;

	for (i = 0; i < 64; i++)
		say(stalled, "list\n");
	turns(c, 200);
	CHECK(answered == before + 1);
	say(other, "version\n");
	expect(c, other, "ok 10\nversion 1\n");
	while (have < LARGE + strlen("ok 1048576\n")) {
		control_service(c);
		got = recv(stalled, text + have, LARGE + strlen("ok 1048576\n") - have, 0);
		have += got > 0 ? got : 0;
	}
	CHECK(!strncmp(text, "ok 1048576\nxxx", 14));
	close(stalled);
	turns(c, 4);
	close(other);
	turns(c, 2);
}

/* The one that was heard of last is not the one to go. */
static void test_many(struct control *c)
{
	int fds[CONTROL_CLIENTS + 4], last;
	unsigned int i;

	for (i = 0; i < CONTROL_CLIENTS; i++) {
		fds[i] = client();
		turns(c, 2);
	}
	say(fds[0], "version\n");
	expect(c, fds[0], "ok 10\nversion 1\n");
	last = client();
	say(last, "version\n");
	expect(c, last, "ok 10\nversion 1\n");
	expect_hung_up(c, fds[1]);
	say(fds[0], "version\n");
	expect(c, fds[0], "ok 10\nversion 1\n");
	close(last);
	close(fds[0]);
	for (i = 2; i < CONTROL_CLIENTS; i++)
		close(fds[i]);
	turns(c, 4);
}

static void test_flood(struct control *c)
{
	int flood = client(), other = client();
	unsigned int before;

	while (send(flood, "version\n", 8, MSG_NOSIGNAL) == 8)
		;
	turns(c, 4);
	before = answered;
	control_service(c);
	CHECK(answered - before <= 1);
	say(other, "version\n");
	expect(c, other, "ok 10\nversion 1\n");
	close(flood);
	close(other);
	turns(c, 4);
}

/* A process of another user than the daemon's is not heard. */
static void test_strangers(struct control *c)
{
	const unsigned int before = answered;
	const uid_t own = geteuid();
	int fd = client();

	say(fd, "version\n");
	if (seteuid(65534)) {
		printf("only root can have two users: skipped\n");
		close(fd);
		return;
	}
	turns(c, 4);
	CHECK(!seteuid(own));
	expect_hung_up(c, fd);
	CHECK(answered == before);
	/* And one of the same user is. */
	fd = client();
	say(fd, "version\n");
	expect(c, fd, "ok 10\nversion 1\n");
	close(fd);
	turns(c, 2);
}

static void test_socket(void)
{
	struct stat info;
	struct control *c;
	int fd;

	CHECK(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/socket", dir);
	fd = open(path, O_CREAT | O_WRONLY, 0600); /* what a daemon that was killed leaves */
	CHECK(fd >= 0);
	close(fd);
	c = control_open(path, answer, &answered);
	CHECK(c && control_fd(c) >= 0);
	CHECK(!stat(path, &info) && S_ISSOCK(info.st_mode) && (info.st_mode & 0777) == 0600);
	test_requests(c);
	test_not_requests(c);
	test_strangers(c);
	test_stalled(c);
	test_many(c);
	test_flood(c);
	fd = client();
	control_close(c);
	CHECK(!rmdir(dir)); /* it is empty again */
	close(fd);
	control_close(NULL);
	control_service(NULL);
	CHECK(control_fd(NULL) == -1);
	CHECK(!control_open("/nowhere/socket", answer, NULL));
}

/* Listings and metrics */

static void fill(struct listing *l)
{
	char lines[][80] = {
		"pid 9",
		"object QP 3 4 100",
		"bytes 4096 8192 16384",
		"command QP_CREATE 2",
		"latency QP_CREATE 2 6000 5000 0 1 0 1",
		"refused QP_CREATE E_LIMIT 1",
		"kicks 5",
		"event-latency 1 900 900 1",
	};
	unsigned int i;

	*l = (struct listing){
		.domid = 5,
		.devid = 1,
		.domain = "gu\"est\\1",
		.hca = "mlx5_0",
		.port = 2,
		.state = "connected",
		.guest = "connected",
		.online = true,
		.max_mem_bytes = 1ull << 33,
		.worker = 812,
		.failures = 3,
		.error = "some\033thing",
		.status = calloc(1, sizeof(*l->status)),
	};
	CHECK(l->status);
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		status_line(l->status, lines[i]);
}

static char *text_of(const struct listing *l, bool metrics)
{
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (metrics) {
		metrics_write(to, l, 1, "1.0");
	} else {
		listing_write(l, to);
		fputs("\tkicks 5\nfuture 1\nport x\nvhca 6 0\nvhca nonsense\nstate closed\n", to);
	}
	fclose(to);
	return text;
}

static void test_listing(void)
{
	struct listing l, *got;
	char *text;

	fill(&l);
	text = text_of(&l, false);
	CHECK(listing_parse(&got, text) == 2);
	CHECK(got[0].domid == 5 && got[0].devid == 1 && got[0].port == 2 && got[0].online &&
	      got[0].worker == 812);
	CHECK(got[0].max_mem_bytes == 1ull << 33 && got[0].failures == 3 &&
	      !strcmp(got[0].error, "some?thing"));
	CHECK(!strcmp(got[0].domain, l.domain) && !strcmp(got[0].state, "connected"));
	CHECK(got[0].status && got[0].status->counters[STATUS_KICKS] == 5);
	CHECK(got[1].domid == 6 && !got[1].status && !strcmp(got[1].state, "closed"));
	listing_free(got, 2);
	free(text);
	free(l.status);
}

static void test_metrics(void)
{
	static const char *const lines[] = {
		"# TYPE xenib_commands_total counter\n",
		"xenib_build_info{version=\"1.0\"} 1\n",
		"xenib_vhca_info{domid=\"5\",devid=\"1\",domain=\"gu\\\"est\\\\1\",hca=\"mlx5_0\",port=\"2\"} 1\n",
		"\"gu\\\"est\\\\1\",type=\"QP\"} 3\n",
		"\"gu\\\"est\\\\1\",type=\"QP\"} 100\n",
		"xenib_memory_bytes{domid=\"5\",devid=\"1\",domain=\"gu\\\"est\\\\1\"} 4096\n",
		",op=\"QP_CREATE\",reason=\"E_LIMIT\"} 1\n",
		",op=\"QP_CREATE\",le=\"4e-06\"} 1\n",
		",op=\"QP_CREATE\",le=\"1.6e-05\"} 2\n",
		",op=\"QP_CREATE\",le=\"+Inf\"} 2\n",
		",op=\"QP_CREATE\"} 0.000006000\n",
		"xenib_event_delay_seconds_count{domid=\"5\",devid=\"1\",domain=\"gu\\\"est\\\\1\"} 1\n",
		"xenib_kicks_total{domid=\"5\",devid=\"1\",domain=\"gu\\\"est\\\\1\"} 5\n",
	};
	struct listing l;
	unsigned int i;
	char *text;

	fill(&l);
	text = text_of(&l, true);
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (!strstr(text, lines[i]))
			fprintf(stderr, "%s\nlacks %s", text, lines[i]);
		CHECK(strstr(text, lines[i]));
	}
	free(text);
	free(l.status);
}

int main(void)
{
	log_setup("test", 0);
	test_socket();
	test_listing();
	test_metrics();
	return EXIT_SUCCESS;
}
