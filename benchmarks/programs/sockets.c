// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * sockets: what a transaction and a stream of TCP, and a transaction of UDP cost, as of netperf, between two addresses of
 * one kernel. The second one is in a network namespace of its own, without which the kernel would not use the fabric.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "measure.h"

#define NAMESPACE "/run/netns/far"
#define FAR_ADDRESS "10.9.1.2"
#define PORT 7199
#define MOST_BYTES (16ul << 20)

/* One side asks, with so many octets, the other one answers. */
struct test {
	const char *name;
	int type;
	size_t ask, answer;
};

struct server {
	pthread_t thread;
	sem_t ready;
	const struct test *test;
};

static struct sockaddr_in far_address(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(PORT) };

	inet_pton(AF_INET, FAR_ADDRESS, &address.sin_addr);
	return address;
}

static int make_socket(int type)
{
	int fd = socket(AF_INET, type, 0), on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)))
		die("no socket: %m");
	return fd;
}

/* Small messages are sent at once. */
static void send_at_once(int fd, int type)
{
	int on = 1;

	if (type == SOCK_STREAM && setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)))
		die("TCP_NODELAY: %m");
}

static void send_all(int fd, const char *data, size_t size)
{
	ssize_t sent;

	for (; size; size -= sent, data += sent) {
		sent = send(fd, data, size, MSG_NOSIGNAL);
		if (sent < 0)
			die("sending: %m");
	}
}

/* Return: false at the end. */
static bool receive_all(int fd, char *data, size_t size)
{
	ssize_t got;

	for (; size; size -= got) {
		got = recv(fd, data, size, 0);
		if (got < 0)
			die("receiving: %m");
		if (!got)
			return false;
	}
	return true;
}

/* ---- who answers ---- */

static void answer_until_end(int fd, const struct test *test)
{
	char *data = malloc(test->ask);

	if (!data)
		die("no memory");
	while (receive_all(fd, data, test->ask))
		send_all(fd, data, test->answer);
	free(data);
}

static void serve_tcp(struct server *s, int listener)
{
	int fd;

	if (listen(listener, 1))
		die("listening: %m");
	sem_post(&s->ready);
	fd = accept(listener, NULL, NULL);
	if (fd < 0)
		die("accepting: %m");
	send_at_once(fd, SOCK_STREAM);
	answer_until_end(fd, s->test);
	close(fd);
}

/* The first datagram says who asks. */
static void serve_udp(struct server *s, int fd)
{
	struct sockaddr_in from;
	socklen_t size = sizeof(from);
	char octet;

	sem_post(&s->ready);
	if (recvfrom(fd, &octet, 1, MSG_PEEK, (struct sockaddr *)&from, &size) != 1 ||
	    connect(fd, (struct sockaddr *)&from, size))
		die("nobody asks: %m");
	answer_until_end(fd, s->test);
}

static void *serve(void *arg)
{
	struct sockaddr_in address = far_address();
	struct server *s = arg;
	int space = open(NAMESPACE, O_RDONLY), fd;

	if (space < 0 || setns(space, CLONE_NEWNET))
		die("%s: %m", NAMESPACE);
	close(space);
	fd = make_socket(s->test->type);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)))
		die("%s: %m", FAR_ADDRESS);
	if (s->test->type == SOCK_STREAM)
		serve_tcp(s, fd);
	else
		serve_udp(s, fd);
	close(fd);
	return NULL;
}

/* ---- who asks ---- */

static void ask(int fd, char *data, const struct test *test)
{
	send_all(fd, data, test->ask);
	if (!receive_all(fd, data, test->answer))
		die("no answer");
}

static void measure(const struct test *test, unsigned long count)
{
	struct sockaddr_in address = far_address();
	struct server server = { .test = test };
	char *data = calloc(1, test->ask);
	struct series series;
	unsigned long i;
	int fd;

	if (!data)
		die("no memory");
	series_init(&series, test->name);
	sem_init(&server.ready, 0, 0);
	if (pthread_create(&server.thread, NULL, serve, &server))
		die("no thread");
	sem_wait(&server.ready);
	fd = make_socket(test->type);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
		die("connecting: %m");
	send_at_once(fd, test->type);
	for (i = 0; i < count; i++)
		TIMED(series, ask(fd, data, test));
	if (test->type == SOCK_DGRAM)
		send(fd, data, 0, 0);
	close(fd);
	pthread_join(server.thread, NULL);
	sem_destroy(&server.ready);
	series_print(&series, test->ask);
	series_free(&series);
	free(data);
}

static const char usage[] =
	"usage: sockets [--bytes N] [--count N]\n"
	"\n"
	"Asks " FAR_ADDRESS " in the network namespace " NAMESPACE
	", which it answers itself, COUNT times (100)\n"
	"each: one octet by TCP and by UDP, and BYTES (1048576) by TCP, that all have come. Prints lines\n"
	"\"WHAT OCTETS MEDIAN P99 MOST\", in microseconds.\n";

int main(int argc, char **argv)
{
	unsigned long bytes = 1 << 20, count = 100;
	const struct number_option numbers[] = { { "bytes", &bytes, 1, MOST_BYTES },
						 { "count", &count, 1, 1000000 },
						 { 0 } };

	read_options(argc, argv, usage, numbers);
	measure(&(struct test){ "tcp-rr", SOCK_STREAM, 1, 1 }, count);
	measure(&(struct test){ "udp-rr", SOCK_DGRAM, 1, 1 }, count);
	measure(&(struct test){ "tcp-stream", SOCK_STREAM, bytes, 1 }, count);
	return EXIT_SUCCESS;
}
