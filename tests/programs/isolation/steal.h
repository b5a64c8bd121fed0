/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * steal: a thief who knows address and keys of a victim's memory, and has no right to it.
 *
 * The victim is another process of the same guest, or, with --peer, the program "steal serve" in another guest. It tells its
 * numbers, connects a QP to the thief's when asked to, and says whether its memory is as it was. What is between them is
 * a stream: of a socket pair, or TCP.
 */
#ifndef STEAL_H
#define STEAL_H

#include "verbs_pair.h"

#define STEAL_PORT 18790
#define STEAL_LEN 65536

enum steal_ask { STEAL_NUMBERS, STEAL_CONNECT, STEAL_LOOK, STEAL_END };

/* What one side says of its QP, and the victim of its memory: which is in another PD than the QP. */
struct steal_numbers {
	uint64_t addr;
	uint32_t rkey, lkey;
	uint32_t qpn, psn;
	uint16_t lid;
	uint8_t mtu, reserved;
	union ibv_gid gid;
};

struct steal_request {
	uint32_t ask; /* enum steal_ask */
	struct steal_numbers thief;
};

struct steal_answer {
	int64_t differs; /* the first byte of the victim's memory that is not as it was, or -1 */
	struct steal_numbers victim;
};

/* The other side as a peer of verbs_pair: as much of it as connecting and posting need. */
struct steal_peer {
	struct vp_end end;
	struct vp_dev dev;
	struct ibv_qp qp;
	struct ibv_mr mr;
};

void steal_peer(struct steal_peer *peer, const struct steal_numbers *numbers);
struct steal_numbers steal_numbers(const struct vp_end *end, const struct ibv_mr *memory);

/* Reads or writes all of it; false: the other side is gone. */
bool steal_read(int fd, void *to, size_t len);
bool steal_write(int fd, const void *from, size_t len);

/* Answers on this stream until its end. */
void steal_be_victim(int fd);

/* Serves one thief after the other on STEAL_PORT. Does not return. */
int steal_serve(int argc, char **argv);

#endif
