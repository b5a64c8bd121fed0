/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Destruction of objects: one at a time, all of a user context, all of a function. */
#ifndef HCA_DESTROY_H
#define HCA_DESTROY_H

#include "objects/obj.h"

/* Drops an object's references on others, takes it out of its table and frees it; it must not be busy. */
void destroy(struct obj *obj);

/* Everything that uid owns, in an order in which nothing is busy, the user context itself last. */
void destroy_uid(struct hca *hca, uint16_t uid);

/* Everything: at TEARDOWN_HCA and at reset. */
void destroy_all(struct hca *hca);

#endif
