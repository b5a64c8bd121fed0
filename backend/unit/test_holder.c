// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_holder.c - the holder of UAR pools keeps them from one supervisor to the next, whatever a peer
 * says; and a supervisor is not fooled by one that is none.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/holder.h"
#include "unit/fakes/pass_fds.h"
#include "unit/fakes/fixture.h"

static char dir[] = "/tmp/xen-ib-holder-XXXXXX";
static int listener;
static struct sockaddr_un address = { .sun_family = AF_UNIX };
static pthread_t thread;
static volatile bool domain_alive = true;

static bool alive(void *from, unsigned int domid)
{
	(void)from;
	return domain_alive || domid == 99;
}

static void *run(void *unused)
{
	(void)unused;
	return (void *)(uintptr_t)holder_run(listener, alive, NULL);
}

static int call(void)
{
	int sock = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	CHECK(sock >= 0 && !connect(sock, (struct sockaddr *)&address, sizeof(address)));
	return sock;
}

/* What a new connection is told. */
static struct told {
	unsigned int n;
	struct holder_msg msg[8];
	char first[8]; /* byte of each records file */
} told;

static void note(void *to, const struct holder_msg *msg, const int fds[HOLDER_FDS])
{
	CHECK(to == &told && told.n < 8);
	told.msg[told.n] = *msg;
	CHECK(pread(fds[HOLDER_TABLE], &told.first[told.n], 1, 0) == 1);
	told.n++;
	close(fds[HOLDER_FILE]);
	close(fds[HOLDER_TABLE]);
}

static int listen_in(void)
{
	int sock = call();

	told.n = 0;
	CHECK(!holder_list(sock, note, &told));
	return sock;
}

static int memory(char byte)
{
	int fd = memfd_create("UAR pool", MFD_CLOEXEC);

	CHECK(fd >= 0 && write(fd, &byte, 1) == 1);
	return fd;
}

static void give(int sock, uint32_t domid, const char *hca, char mark)
{
	int fds[HOLDER_FDS] = { memory('f'), memory(mark) };

	CHECK(!holder_send(sock, HOLDER_POOL, domid, 0, hca, fds));
	close(fds[0]);
	close(fds[1]);
}

/* The end of a conversation is seen by both, so that the next one sees all of it. */
static void hang_up(int sock)
{
	close(sock);
}

static char mark_of(uint32_t domid, const char *hca)
{
	unsigned int i;

	for (i = 0; i < told.n; i++)
		if (told.msg[i].domid == domid && !strcmp(told.msg[i].hca, hca))
			return told.first[i];
	return 0;
}

static unsigned int open_files(void)
{
	unsigned int n = 0;
	int fd;

	for (fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void test_keeps(void)
{
	int sock = listen_in();

	CHECK(!told.n);
	give(sock, 5, "mlx5_0", 'a');
	give(sock, 5, "mlx5_1", 'b');
	give(sock, 6, "mlx5_0", 'c');
	hang_up(sock);
	sock = listen_in();
	CHECK(told.n == 3 && mark_of(5, "mlx5_0") == 'a' && mark_of(5, "mlx5_1") == 'b' &&
	      mark_of(6, "mlx5_0") == 'c');
	/* The same name again replaces; what is not there can be dropped as well. */
	give(sock, 5, "mlx5_0", 'd');
	CHECK(!holder_send(sock, HOLDER_DROP, 6, 0, "mlx5_0", NULL));
	CHECK(!holder_send(sock, HOLDER_DROP, 6, 0, "mlx5_0", NULL));
	CHECK(!holder_send(sock, HOLDER_DROP, 7, 3, "nothing", NULL));
	CHECK(!holder_send(sock, 77, 5, 0, "mlx5_0", NULL)); /* of a later version */
	hang_up(sock);
	hang_up(listen_in());
	CHECK(told.n == 2 && mark_of(5, "mlx5_0") == 'd' && mark_of(5, "mlx5_1") == 'b');
}

static void send_raw(int sock, const void *data, size_t size, unsigned int n_fds)
{
	CHECK(pass_fds(sock, data, size, STDERR_FILENO, n_fds) == (ssize_t)size);
}

static struct holder_msg good(enum holder_op op)
{
	struct holder_msg msg = {
		.magic = HOLDER_MAGIC, .version = HOLDER_VERSION, .op = op, .domid = 8, .hca = "mlx5_0",
	};

	return msg;
}

static const struct bad {
	enum holder_op op;
	size_t size;         /* of the message */
	unsigned int n_fds;
	size_t where;        /* this byte of it is 0xff */
	bool name;           /* or all of the name */
} bad[] = {
	{ HOLDER_POOL, sizeof(struct holder_msg), 0, SIZE_MAX, false },
	{ HOLDER_POOL, sizeof(struct holder_msg), 1, SIZE_MAX, false },
	{ HOLDER_POOL, sizeof(struct holder_msg), 3, SIZE_MAX, false },
	{ HOLDER_POOL, sizeof(struct holder_msg), 32, SIZE_MAX, false },
	{ HOLDER_DROP, sizeof(struct holder_msg), 2, SIZE_MAX, false },
	{ HOLDER_POOL, sizeof(struct holder_msg) - 1, 2, SIZE_MAX, false },
	{ HOLDER_POOL, sizeof(struct holder_msg) + 1, 2, SIZE_MAX, false },
	{ HOLDER_DROP, 1, 0, SIZE_MAX, false },
	{ HOLDER_POOL, sizeof(struct holder_msg), 2, 0, false },
	{ HOLDER_POOL, sizeof(struct holder_msg), 2, SIZE_MAX, true },
	{ HOLDER_DROP, sizeof(struct holder_msg), 0, SIZE_MAX, true },
};

static void send_bad(int sock, const struct bad *b)
{
	char bytes[sizeof(struct holder_msg) + 8] = { 0 };
	struct holder_msg msg = good(b->op);

	if (b->name)
		memset(msg.hca, 'x', sizeof(msg.hca));
	memcpy(bytes, &msg, sizeof(msg));
	if (b->where < sizeof(bytes))
		bytes[b->where] ^= 0xff;
	send_raw(sock, bytes, b->size, b->n_fds);
}

/* Each ends its conversation, changes nothing, and leaves no descriptor behind. */
static void test_malformed(void)
{
	unsigned int i, files;
	char byte;
	int sock;

	/* Counted while a conversation is open: of those before, none is still being closed. */
	sock = listen_in();
	files = open_files();
	hang_up(sock);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		sock = listen_in();
		CHECK(told.n == 2);
		send_bad(sock, &bad[i]);
		CHECK(recv(sock, &byte, 1, 0) <= 0);
		close(sock);
	}
	sock = listen_in();
	CHECK(told.n == 2 && mark_of(5, "mlx5_0") == 'd');
	CHECK(open_files() == files);
	hang_up(sock);
}

/* A supervisor and what pretends to be a holder. */
static int pretend(const struct bad *b, bool hello, bool end)
{
	int pair[2], err;
	struct holder_msg msg;

	CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair));
	msg = good(HOLDER_HELLO);
	if (hello)
		send_raw(pair[1], &msg, sizeof(msg), 0);
	if (b)
		send_bad(pair[1], b);
	msg = good(HOLDER_END);
	if (end)
		send_raw(pair[1], &msg, sizeof(msg), 0);
	shutdown(pair[1], SHUT_WR);
	told.n = 0;
	err = holder_list(pair[0], note, &told);
	close(pair[0]);
	close(pair[1]);
	return err;
}

static void test_pretenders(void)
{
	static const struct bad pool = { HOLDER_POOL, sizeof(struct holder_msg), 2, SIZE_MAX, false };
	static const struct bad hello = { HOLDER_HELLO, sizeof(struct holder_msg), 0, SIZE_MAX, false };
	static const struct bad newer = {
		HOLDER_HELLO, sizeof(struct holder_msg), 0, offsetof(struct holder_msg, version), false
	};
	int sock = listen_in(); /* while it is open the holder opens and closes nothing */
	unsigned int i, files = open_files();

	CHECK(!pretend(NULL, true, true) && !told.n);
	CHECK(pretend(NULL, false, false) == -ECONNRESET);
	CHECK(pretend(NULL, true, false) == -ECONNRESET);
	CHECK(pretend(NULL, false, true) == -EPROTO);
	CHECK(pretend(&pool, false, true) == -EPROTO);
	CHECK(pretend(&hello, true, true) == -EPROTO);
	CHECK(pretend(&newer, false, true) == -EPROTO);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (bad[i].op == HOLDER_POOL)
			CHECK(pretend(&bad[i], true, true) == -EPROTO && !told.n);
	CHECK(open_files() == files);
	hang_up(sock);
}

/* One that says nothing is given up on. */
static void test_silence(void)
{
	struct timeval timeout = { .tv_usec = 50000 };
	int pair[2];

	CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair));
	CHECK(!setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)));
	CHECK(holder_list(pair[0], note, &told) == -EAGAIN);
	close(pair[0]);
	close(pair[1]);
}

/* A process of another user is told nothing, and what it says is not heard. */
static void test_strangers(void)
{
	int status;
	pid_t pid;

	if (geteuid()) {
		printf("only root can be another user: skipped\n");
		return;
	}
	CHECK(!chmod(dir, 0711) && !chmod(address.sun_path, 0666));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		char byte;

		_exit(setuid(65534) || recv(call(), &byte, 1, 0) > 0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status));
	hang_up(listen_in());
	CHECK(told.n == 2);
}

/* Without a supervisor the UAR pools of dead domains go, and with the last one the holder. */
static void test_end(void)
{
	int sock = listen_in();
	void *left;

	CHECK(told.n == 2);
	domain_alive = false;
	hang_up(sock);
	CHECK(!pthread_join(thread, &left) && !left);
}

int main(void)
{
	CHECK(mkdtemp(dir));
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", dir);
	listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	CHECK(listener >= 0 && !bind(listener, (struct sockaddr *)&address, sizeof(address)) &&
	      !listen(listener, 4));
	CHECK(!pthread_create(&thread, NULL, run, NULL));
	test_keeps();
	test_malformed();
	test_pretenders();
	test_silence();
	test_strangers();
	test_end();
	close(listener);
	CHECK(!unlink(address.sun_path) && !rmdir(dir));
	return EXIT_SUCCESS;
}
