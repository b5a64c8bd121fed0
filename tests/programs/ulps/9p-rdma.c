// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * 9p-rdma ADDRESS PORT COMMAND [ARGUMENT]...: lets a server of 9P be reached by RDMA. COMMAND serves one client, whose
 * connection is its standard input; it is started for each connection to ADDRESS.
 *
 * By RDMA, a message of 9P is one message of RC (Linux, net/9p/trans_rdma.c). On a stream it begins with its length.
 */
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#define DEPTH 64u      /* requests that a client has under way: Linux has 32 */
#define MESSAGE 65536u /* the longest: what diod agrees to */
#define LENGTH sizeof(uint32_t)

struct connection {
	struct rdma_cm_id *id;
	char **command;
	int server; /* a socket: of its process */
	pid_t process;
	uint8_t *requests, *response; /* DEPTH * MESSAGE octets, MESSAGE octets */
	struct ibv_mr *requests_mr, *response_mr;
};

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "9p-rdma: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Everything or nothing. */
static bool read_all(int fd, uint8_t *at, size_t size)
{
	while (size) {
		ssize_t got = read(fd, at, size);

		if (got <= 0)
			return false;
		at += got;
		size -= got;
	}
	return true;
}

static bool write_all(int fd, const uint8_t *at, size_t size)
{
	while (size) {
		ssize_t put = send(fd, at, size, MSG_NOSIGNAL);

		if (put < 0)
			return false;
		at += put;
		size -= put;
	}
	return true;
}

static bool expect(struct connection *c, uint8_t *request)
{
	return !rdma_post_recv(c->id, request, request, MESSAGE, c->requests_mr);
}

/* A thread: requests, from the client to the server, until the QP fails. */
static void *take_requests(void *arg)
{
	struct connection *c = arg;
	struct ibv_wc done;

	while (rdma_get_recv_comp(c->id, &done) == 1 && done.status == IBV_WC_SUCCESS) {
		uint8_t *request = (uint8_t *)(uintptr_t)done.wr_id;

		if (!write_all(c->server, request, done.byte_len) || !expect(c, request))
			break;
	}
	shutdown(c->server, SHUT_RDWR);
	return NULL;
}

/* The next response of the server. Returns its length, 0 if there is none. */
static size_t next_response(struct connection *c)
{
	uint32_t length;

	if (!read_all(c->server, c->response, LENGTH))
		return 0;
	memcpy(&length, c->response, LENGTH);
	length = le32toh(length);
	if (length < LENGTH || length > MESSAGE)
		return 0;
	return read_all(c->server, c->response + LENGTH, length - LENGTH) ? length : 0;
}

/* A thread: responses, from the server to the client, one after the other, until the server ends. */
static void *give_responses(void *arg)
{
	struct connection *c = arg;
	struct ibv_wc done;
	size_t length;

	while ((length = next_response(c)) > 0) {
		if (rdma_post_send(c->id, NULL, c->response, length, c->response_mr,
				   IBV_SEND_SIGNALED) ||
		    rdma_get_send_comp(c->id, &done) != 1 || done.status != IBV_WC_SUCCESS)
			break;
	}
	rdma_disconnect(c->id);
	return NULL;
}

static void start_server(struct connection *c)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		die("socketpair");
	c->process = fork();
	if (c->process < 0)
		die("fork");
	if (!c->process) {
		dup2(ends[1], STDIN_FILENO);
		execvp(c->command[0], c->command);
		die(c->command[0]);
	}
	close(ends[1]);
	c->server = ends[0];
}

static void prepare(struct connection *c)
{
	c->requests = calloc(DEPTH, MESSAGE);
	c->response = calloc(1, MESSAGE);
	if (!c->requests || !c->response)
		die("memory");
	c->requests_mr = rdma_reg_msgs(c->id, c->requests, (size_t)DEPTH * MESSAGE);
	c->response_mr = rdma_reg_msgs(c->id, c->response, MESSAGE);
	if (!c->requests_mr || !c->response_mr)
		die("ibv_reg_mr");
	for (unsigned int i = 0; i < DEPTH; i++) {
		if (!expect(c, c->requests + (size_t)i * MESSAGE))
			die("ibv_post_recv");
	}
}

/* Until the client or the server has disconnected, or the device goes. */
static void wait_for_end(struct connection *c)
{
	struct rdma_cm_event *event;
	bool ended = false;

	while (!ended && !rdma_get_cm_event(c->id->channel, &event)) {
		ended = event->event == RDMA_CM_EVENT_DISCONNECTED ||
			event->event == RDMA_CM_EVENT_DEVICE_REMOVAL;
		rdma_ack_cm_event(event);
	}
	rdma_disconnect(c->id);
}

/* A thread: a connection, to its end. */
static void *serve(void *arg)
{
	struct rdma_event_channel *events = rdma_create_event_channel();
	struct connection *c = arg;
	pthread_t requests, responses;

	/* With a channel of ours no call waits for what follows it, such as the other's answer to rdma_disconnect(). */
	if (!events || rdma_migrate_id(c->id, events))
		die("rdma_migrate_id");
	start_server(c);
	prepare(c);
	if (rdma_accept(c->id, NULL))
		die("rdma_accept");
	if (pthread_create(&requests, NULL, take_requests, c) ||
	    pthread_create(&responses, NULL, give_responses, c))
		die("pthread_create");
	wait_for_end(c);
	pthread_join(requests, NULL);
	pthread_join(responses, NULL);
	close(c->server);
	waitpid(c->process, NULL, 0);
	rdma_dereg_mr(c->requests_mr);
	rdma_dereg_mr(c->response_mr);
	rdma_destroy_ep(c->id);
	rdma_destroy_event_channel(events);
	free(c->requests);
	free(c->response);
	free(c);
	return NULL;
}

static void begin_serving(struct rdma_cm_id *id, char **command)
{
	struct connection *c = calloc(1, sizeof(*c));
	pthread_t thread;

	if (!c)
		die("memory");
	c->id = id;
	c->command = command;
	if (pthread_create(&thread, NULL, serve, c) || pthread_detach(thread))
		die("pthread_create");
}

int main(int argc, char **argv)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP },
			     *address;
	struct ibv_qp_init_attr queues = {
		.cap = { .max_send_wr = 1,
			 .max_recv_wr = DEPTH,
			 .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	struct rdma_cm_id *listener, *id;

	if (argc < 4) {
		fprintf(stderr, "usage: 9p-rdma ADDRESS PORT COMMAND [ARGUMENT]...\n");
		return 2;
	}
	if (rdma_getaddrinfo(argv[1], argv[2], &hints, &address))
		die(argv[1]);
	if (rdma_create_ep(&listener, address, NULL, &queues) || rdma_listen(listener, 1))
		die("rdma_listen");
	puts("ready");
	fflush(stdout);
	while (!rdma_get_request(listener, &id))
		begin_serving(id, argv + 3);
	die("rdma_get_request");
}
