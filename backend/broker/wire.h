/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * wire.h - what passes between a worker (client.c) and its broker (server.c): requests
 * with a body of length bytes, each answered before the next.
 */
#ifndef XEN_IB_BROKER_WIRE_H
#define XEN_IB_BROKER_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "shared-ring/vhca_request.h"

struct broker_setup;

#define BROKER_MOST_BYTES (256u << 10) /* of a body */

/*
 * How many mappings may be named to gntdev and not be made yet, and pages of one. The worker says
 * with its next request which it has made, or given up. It has five threads that map.
 */
#define BROKER_MAPS 16
#define BROKER_MAP_PAGES XEN_VHCA_DATA_REFS

enum broker_op {
	BROKER_DOMAIN = 1,
	BROKER_UAR_ALLOC,
	BROKER_UAR_FREE,
	BROKER_UAR_RESET,
	BROKER_POOL_ALIVE,
	BROKER_MAP,    /* body: grant references */
	BROKER_STATUS, /* body: text */
};

struct broker_request {
	uint32_t op, length;
	uint32_t type;  /* BROKER_UAR_ALLOC; also gfn */
	uint32_t index; /* BROKER_UAR_FREE */
	uint64_t gfn;
	uint32_t n_mapped, reserved;
	uint64_t mapped[BROKER_MAPS]; /* by index; what was mapped since the last request */
};

struct broker_response {
	int32_t err;
	uint32_t auto_translated;
	uint64_t index; /* of a mapping; of a UAR */
	uint64_t frame; /* of a UAR */
};

/*
 * broker_receive, broker_send - all of it, through a socket or the kernel's xenbus: 0 or -errno,
 * -EPIPE at the end. Callers ignore or block SIGPIPE.
 */
int broker_receive(int fd, void *data, size_t size);
int broker_send(int fd, const void *data, size_t size);

/* broker_serve - in the broker's process; never returns. listener: for the way to xenstore */
_Noreturn void broker_serve(const struct broker_setup *setup, int socket, int gntdev, int listener);

#endif
