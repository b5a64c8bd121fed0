// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The ends of objects. */
#include <stdlib.h>

#include "hca.h"
#include "objects/cq.h"
#include "objects/destroy.h"
#include "objects/eq.h"
#include "objects/mkey.h"
#include "objects/qp.h"
#include "objects/srq.h"

/* Those that refer to others come before those that are referred to. */
static const enum obj_type order[] = {
	OBJ_QP, OBJ_SRQ, OBJ_CQ, OBJ_EQ, OBJ_MKEY, OBJ_XRCD, OBJ_TD, OBJ_PD, OBJ_UAR, OBJ_UCTX,
};
#define ORDER (sizeof(order) / sizeof(order[0]))

void destroy(struct obj *obj)
{
	switch (obj->type) {
	case OBJ_QP:
		qp_destroy((struct qp *)obj);
		break;
	case OBJ_SRQ:
		srq_destroy((struct srq *)obj);
		break;
	case OBJ_CQ:
		cq_destroy((struct cq *)obj);
		break;
	case OBJ_EQ:
		eq_destroy((struct eq *)obj);
		break;
	case OBJ_MKEY:
		mkey_destroy((struct mkey *)obj);
		break;
	default:
		obj_del(obj->hca->objs[obj->type], obj);
		free(obj);
		break;
	}
}

static void destroy_one(struct obj *obj, void *arg)
{
	const uint16_t *uid = arg;

	if (uid && obj->uid != *uid)
		return;
	/* What the kernel has built on it must not lose it: it becomes the kernel's. */
	if (obj->refs)
		obj->uid = 0;
	else
		destroy(obj);
}

void destroy_uid(struct hca *hca, uint16_t uid)
{
	for (unsigned int i = 0; i < ORDER; i++)
		obj_each(hca->objs[order[i]], destroy_one, &uid);
}

void destroy_all(struct hca *hca)
{
	for (unsigned int i = 0; i < ORDER; i++)
		obj_each(hca->objs[order[i]], destroy_one, NULL);
	/* Whoever has a page mapped of before rings on one that is somebody's soon. */
	obj_table_restart(hca->objs[OBJ_UAR]);
}
