// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * stamps write FILE [DEVICE]        waits for one that offers memory, and writes into it by RDMA, until that does not go
 *                                   any more, or SIGINT comes
 * stamps offer HOST FILE [DEVICE]   offers memory to the writer on that host
 * stamps look FILE N                whether that memory has what N writes leave there
 *
 * What an HCA writes is seen by no processor, so whoever copies a guest's memory while it runs has to learn of it by
 * other means. Here the writer counts the writes that were completed to it: each of these has to be in the memory
 * afterwards, wherever the guest is by then. The memory is a file without a disk, which outlives the program.
 *
 * Chunk after chunk is filled with the number of the write, round after round. The last WINDOW of them may have got
 * there although the writer was not told.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "steal.h"

#define PORT "18791"
#define CHUNK 32768u
#define CHUNKS 1024u
#define BYTES ((size_t)CHUNK * CHUNKS)
#define WINDOW 16u
#define WORDS (CHUNK / sizeof(uint64_t))

static void fill(uint64_t *chunk, uint64_t stamp)
{
	size_t i;

	for (i = 0; i < WORDS; i++)
		chunk[i] = stamp;
}

static uint64_t *map_file(const char *path, int flags)
{
	int fd = open(path, flags, 0600);
	uint64_t *memory;

	require(fd >= 0, "%s is there", path);
	require(!(flags & O_CREAT) || !posix_fallocate(fd, 0, BYTES), "room for %zu octets", BYTES);
	memory = mmap(NULL, BYTES, PROT_READ | (flags & O_CREAT ? PROT_WRITE : 0), MAP_SHARED, fd,
		      0);
	require(memory != MAP_FAILED, "%s is mapped", path);
	close(fd);
	return memory;
}

/* -- the two streams -- */

static int accept_one(void)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
				  .ai_flags = AI_PASSIVE,
				  .ai_family = AF_INET },
			*at;
	int one = 1, server, fd;

	require(!getaddrinfo(NULL, PORT, &hints, &at), "an address");
	server = socket(at->ai_family, SOCK_STREAM, 0);
	setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	require(server >= 0 && !bind(server, at->ai_addr, at->ai_addrlen) && !listen(server, 1),
		"port " PORT " is free");
	freeaddrinfo(at);
	fd = accept(server, NULL, NULL);
	require(fd >= 0, "somebody offers memory");
	close(server);
	return fd;
}

static int connect_to(const char *host)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_family = AF_INET }, *at;
	int fd;

	require(!getaddrinfo(host, PORT, &hints, &at), "the host %s", host);
	fd = socket(at->ai_family, SOCK_STREAM, 0);
	require(fd >= 0 && !connect(fd, at->ai_addr, at->ai_addrlen), "the writer on %s answers",
		host);
	freeaddrinfo(at);
	return fd;
}

/* Numbers of both, and a QP that is connected. */
static void join(struct vp_end *end, const struct ibv_mr *mr, int fd, struct steal_peer *peer)
{
	struct steal_numbers mine = steal_numbers(end, mr), others;

	require(steal_write(fd, &mine, sizeof(mine)) && steal_read(fd, &others, sizeof(others)),
		"both tell their numbers");
	steal_peer(peer, &others);
	end->peer = &peer->end;
	vp_move(end, &peer->end, IBV_QPS_INIT);
	vp_move(end, &peer->end, IBV_QPS_RTR);
	vp_move(end, &peer->end, IBV_QPS_RTS);
	mine.reserved = 1;
	require(steal_write(fd, &mine, sizeof(mine)) && steal_read(fd, &others, sizeof(others)),
		"both are connected");
}

static struct vp_conf conf_of_both(size_t len)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);

	conf.len = len;
	conf.cap.max_send_wr = WINDOW;
	return conf;
}

/* -- writing -- */

/* By SIGINT: no more of them. */
static volatile sig_atomic_t enough;

static void stop(int signal)
{
	(void)signal;
	enough = 1;
}

static void post(struct vp_end *end, uint64_t n)
{
	const size_t slot = (n % WINDOW) * CHUNK;
	struct vp_wr w;

	fill((uint64_t *)(end->buf + slot), n + 1);
	vp_wr(&w, end, IBV_WR_RDMA_WRITE, slot, CHUNK);
	w.wr.wr_id = n;
	w.wr.wr.rdma.remote_addr = (uintptr_t)end->peer->buf + n % CHUNKS * CHUNK;
	require(!vp_try_send(end, &w.wr), "write %llu is posted", (unsigned long long)n);
}

/* Replaced, so that who reads it sees a number. */
static void tell(const char *path, uint64_t done)
{
	char next[256];
	FILE *file;

	snprintf(next, sizeof(next), "%s.next", path);
	file = fopen(next, "w");
	require(file && fprintf(file, "%llu\n", (unsigned long long)done) > 0 && !fclose(file) &&
			!rename(next, path),
		"%s is written", path);
}

static int write_stamps(const char *path, const char *device)
{
	struct vp_conf conf = conf_of_both((size_t)WINDOW * CHUNK);
	uint64_t next = 0, done = 0;
	struct steal_peer peer;
	char round[256];
	struct vp_end end;
	struct vp_dev dev;
	struct ibv_wc wc;
	int fd;

	snprintf(round, sizeof(round), "%s-round", path);
	opt.device[0] = device;
	vp_open(&dev, 0);
	vp_end_make(&end, &dev, NULL, &conf);
	fd = accept_one();
	join(&end, end.mr, fd, &peer);
	signal(SIGINT, stop);
	while (!enough || done < next) {
		while (!enough && next < done + WINDOW)
			post(&end, next++);
		if (!vp_poll(&end.scq, &wc))
			continue;
		if (wc.status != IBV_WC_SUCCESS) {
			printf("ended by %s\n", ibv_wc_status_str(wc.status));
			break;
		}
		require(wc.wr_id == done, "writes are completed in order");
		/* The first round is whole: those who wait for it may begin. */
		if (++done == CHUNKS)
			tell(round, done);
	}
	tell(path, done);
	return 0;
}

/* -- offering -- */

static int offer(const char *host, const char *path, const char *device)
{
	struct vp_conf conf = conf_of_both(4096);
	struct ibv_async_event event;
	struct steal_peer peer;
	struct vp_end end;
	struct vp_dev dev;
	struct ibv_mr *mr;
	uint64_t *memory;
	int fd;

	opt.device[0] = device;
	memory = map_file(path, O_RDWR | O_CREAT);
	memset(memory, 0, BYTES);
	vp_open(&dev, 0);
	vp_end_make(&end, &dev, NULL, &conf);
	mr = ibv_reg_mr(end.pd, memory, BYTES, VP_ACCESS_ALL);
	require(mr, "%zu octets are registered", BYTES);
	fd = connect_to(host);
	join(&end, mr, fd, &peer);
	fcntl(dev.ctx->async_fd, F_SETFL, fcntl(dev.ctx->async_fd, F_GETFL) & ~O_NONBLOCK);
	while (!ibv_get_async_event(dev.ctx, &event)) {
		printf("event: %s\n", ibv_event_type_str(event.event_type));
		fflush(stdout);
		ibv_ack_async_event(&event);
		if (event.event_type == IBV_EVENT_DEVICE_FATAL)
			return 0;
	}
	return 1;
}

/* -- looking -- */

/* The number of the last of n writes into this chunk. */
static uint64_t last_write(uint64_t n, uint64_t chunk)
{
	return n > chunk ? (n - 1 - chunk) / CHUNKS * CHUNKS + chunk + 1 : 0;
}

static int look(const char *path, uint64_t n)
{
	const uint64_t *memory = map_file(path, O_RDONLY);
	uint64_t chunk, least, most, stamp, old = 0;
	size_t i;

	for (chunk = 0; chunk < CHUNKS; chunk++) {
		least = last_write(n, chunk);
		most = last_write(n + WINDOW, chunk);
		for (i = 0; i < WORDS; i++) {
			stamp = memory[chunk * WORDS + i];
			if (stamp == least || stamp == most)
				continue;
			if (!old++)
				printf("chunk %llu, word %zu: %llu, not %llu\n",
				       (unsigned long long)chunk, i, (unsigned long long)stamp,
				       (unsigned long long)least);
			break;
		}
	}
	printf("%llu of %u chunks are not as %llu writes have left them\n", (unsigned long long)old,
	       CHUNKS, (unsigned long long)n);
	return old ? 1 : 0;
}

int main(int argc, char **argv)
{
	opt.deadline_ms = CHECK_DEADLINE_MS;
	if (argc >= 3 && !strcmp(argv[1], "write"))
		return write_stamps(argv[2], argv[3]);
	if (argc >= 4 && !strcmp(argv[1], "offer"))
		return offer(argv[2], argv[3], argv[4]);
	if (argc == 4 && !strcmp(argv[1], "look"))
		return look(argv[2], strtoull(argv[3], NULL, 10));
	fputs("usage: stamps write FILE [DEVICE] | offer HOST FILE [DEVICE] | look FILE N\n",
	      stderr);
	return 2;
}
