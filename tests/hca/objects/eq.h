/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Event queues: completion, command and asynchronous events to the driver, each with an MSI-X vector. */
#ifndef HCA_EQ_H
#define HCA_EQ_H

#include "objects/obj.h"
#include "objects/wqbuf.h"

struct uar;

struct eq {
	struct obj obj;
	struct uar *uar; /* the page that its doorbells come from */
	struct wqbuf buf;
	uint8_t log_size;
	uint8_t vector;
	uint64_t event_mask[4];
	uint32_t pi; /* EQEs written, free running */
	uint32_t ci; /* EQEs consumed as told by the last doorbell */
	bool armed;
	bool overflowed; /* full once: no more events, as a card does */
};

/*
 * Writes an EQE and raises the vector if the EQ is armed. type: MLX5_EVENT_TYPE_CODING_*; data: the
 * first len bytes of the 28 of event data, the rest is 0.
 */
void eq_post(struct eq *eq, uint8_t type, uint8_t subtype, const void *data, unsigned int len);
/* Is there an EQ whose mask has the type? */
bool eq_wanted(const struct hca *hca, uint8_t type);
/* To the EQs whose mask has the type (command, asynchronous, page events). */
void eq_post_async(struct hca *hca, uint8_t type, uint8_t subtype, const void *data,
		   unsigned int len);

/* Event data for objects, ready made. */
void eq_qp_event(struct hca *hca, uint8_t type, uint32_t qpn);
void eq_srq_event(struct hca *hca, uint8_t type, uint32_t srqn);
void eq_cq_error(struct hca *hca, uint32_t cqn, uint8_t syndrome);
void eq_port_event(struct hca *hca, uint8_t subtype);

/*
 * An EQ doorbell: arm (UAR + 0x40) or only the consumer index (UAR + 0x48). value: eqn << 24 | ci.
 * False if there is no such EQ or it was not created on this page: to be counted as refused.
 */
bool eq_doorbell(struct hca *hca, uint32_t uar, bool arm, uint32_t value);

/* Destruction, for destroy(). */
void eq_destroy(struct eq *eq);

#endif
