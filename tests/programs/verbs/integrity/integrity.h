/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * integrity: every byte of every operation arrives, where it should, and nowhere else.
 */
#ifndef INTEGRITY_H
#define INTEGRITY_H

#include "verbs_pair.h"

/* On either side of where a message may be written. */
#define GUARD 64

/* One message from one end of a pair to the other. The offsets leave room for the guards. */
struct message {
	enum ibv_wr_opcode opcode;
	size_t len;
	size_t source, sink; /* offsets in the buffers of who has the data, and who gets it */
	int elements;        /* of the scatter list of the source, and of the receive: at least 1 */
	bool inlined;
};

/* A pair, and how large the messages may be that its buffers have room for. */
struct fixture {
	struct vp_dev dev_a, dev_b;
	struct vp_pair pair;
	size_t largest;
};

/* The largest message of a case: --max-size, or @standard. */
size_t largest_message(size_t standard);

void fixture_open(struct fixture *fix, const struct vp_conf *conf, size_t largest);
void fixture_close(struct fixture *fix);

/* Fresh data, zeroed sink, the operation, completions of both sides, every byte and the guards. */
void transfer(struct vp_end *from, struct vp_end *to, const struct message *m);

/* Zeroes [off, off + len) and puts guards around it. */
void sink_prepare(struct vp_end *sink, size_t off, size_t len);

/* Waits until the pattern is there, and checks the guards. */
void sink_check(struct vp_end *sink, size_t off, size_t len, uint64_t pattern, const char *what);

/*
 * Writes @len bytes from @from's memory at @source to @to's memory at @sink, by the given registrations, and reads them
 * back to @source. @remote is the address that the peer's registration goes by.
 */
void there_and_back(struct vp_end *from, uint8_t *source, struct ibv_mr *mr_source, uint8_t *sink,
		    uint64_t remote, struct ibv_mr *mr_sink, size_t len);

extern const struct check_table integrity_transfer, integrity_memory, integrity_remap,
	integrity_order, integrity_xrc, integrity_mw, integrity_dmabuf, integrity_rereg,
	integrity_resize, integrity_cq, integrity_import, integrity_domain;

#endif
