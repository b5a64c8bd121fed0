/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * requests.h - what a broker does when its worker asks for it: see client.h. The worker may be
 * in a guest's hands, so each request is checked as if it came from there, and what is kept for it is
 * counted.
 */
#ifndef XEN_IB_BROKER_REQUESTS_H
#define XEN_IB_BROKER_REQUESTS_H

#include "broker/domain.h"
#include "broker/uar_pool.h"
#include "broker/wire.h"

/* Named to gntdev, and not mapped yet as far as the worker has said; count 0: none. */
struct broker_mapping {
	uint64_t index;
	uint32_t count;
};

struct serving {
	struct domain domain;
	int gntdev;
	struct uar_pool uars; /* what the guest may be let to map */
	struct broker_mapping maps[BROKER_MAPS];
	char path[96], temporary[112]; /* of the status file */
};

/* serving_request - does what is asked for; body: request->length bytes, at most BROKER_MOST_BYTES. */
struct broker_response serving_request(struct serving *s, const struct broker_request *request,
				       const char *body);

#endif
