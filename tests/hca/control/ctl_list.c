// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Lists of the live objects of each kind. */
#include <string.h>

#include "container.h"
#include "control/ctl_parts.h"
#include "hca.h"
#include "objects/cq.h"
#include "objects/eq.h"
#include "objects/mkey.h"
#include "objects/qp.h"
#include "objects/srq.h"
#include "objects/uar.h"

#define ROW_ROOM 1024     /* more than any header or row needs */
#define IDS_PER_CALL 4096 /* rows before the others have their turn */

static void row_plain(struct ctl_out *out, struct obj *obj)
{
	ctl_print(out, "\t%u", obj->refs);
}

static void row_uar(struct ctl_out *out, struct obj *obj)
{
	const struct uar *u = container_of(obj, struct uar, obj);

	ctl_print(out, "\t%u\t%llu\t%llu\t%llu\t%llu", obj->refs,
		  (unsigned long long)u->sq_doorbells, (unsigned long long)u->cq_arms,
		  (unsigned long long)u->eq_doorbells, (unsigned long long)u->refused);
}

static void row_mkey(struct ctl_out *out, struct obj *obj)
{
	static const char *const modes[] = { "pa", "mtt", "klm", "ksm" };
	const struct mkey *m = container_of(obj, struct mkey, obj);
	char access[16] = "";

	if (m->access & MKEY_LOCAL_READ)
		strcat(access, "r");
	if (m->access & MKEY_LOCAL_WRITE)
		strcat(access, "w");
	if (m->access & MKEY_REMOTE_READ)
		strcat(access, "R");
	if (m->access & MKEY_REMOTE_WRITE)
		strcat(access, "W");
	if (m->access & MKEY_REMOTE_ATOMIC)
		strcat(access, "A");
	ctl_print(out, "\t%u\t%u\t%s\t%s\t%llu\t%llu\t%u\t%u\t%u\t%u", obj->id << 8 | m->variant,
		  m->pd, modes[m->mode & 3], access[0] ? access : "-", (unsigned long long)m->start,
		  (unsigned long long)m->length, m->page_shift, m->capacity, m->qpn, m->free);
}

static void row_eq(struct ctl_out *out, struct obj *obj)
{
	const struct eq *e = container_of(obj, struct eq, obj);

	ctl_print(out, "\t%u\t%u\t%u\t%u\t%u\t%u", e->vector, 1u << e->log_size, e->pi, e->ci,
		  e->armed, e->overflowed);
}

static void row_cq(struct ctl_out *out, struct obj *obj)
{
	const struct cq *c = container_of(obj, struct cq, obj);

	ctl_print(out, "\t%u\t%u\t%u\t%u\t%u\t%llu\t%u\t%s", c->eq ? c->eq->obj.id : 0,
		  c->uar ? c->uar->obj.id : 0, 1u << c->log_size, 1u << c->cqe_size_shift, c->pi,
		  (unsigned long long)c->dbr, obj->refs, c->error ? "error" : "ok");
}

static void row_srq(struct ctl_out *out, struct obj *obj)
{
	const struct srq *s = container_of(obj, struct srq, obj);

	ctl_print(out, "\t%s\t%u\t%u\t%u\t%u\t%u\t%u\t%llu\t%s", s->xrc ? "xrc" : "basic", s->pd,
		  s->xrcd, s->cq ? s->cq->obj.id : 0, 1u << s->log_size, s->taken, s->limit,
		  (unsigned long long)s->dbr, s->error ? "error" : "ok");
}

static void row_qp(struct ctl_out *out, struct obj *obj)
{
	const struct qp *q = container_of(obj, struct qp, obj);

	ctl_print(out,
		  "\t%s\t%s\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%llu"
		  "\t%u\t%u\t%u\t%u\t%u\t%u",
		  qp_transport_name(q->transport), qp_state_name(q->state), q->pd,
		  q->send_cq ? q->send_cq->obj.id : 0, q->recv_cq ? q->recv_cq->obj.id : 0,
		  q->srq ? q->srq->obj.id : 0, q->xrcd, q->uar ? q->uar->obj.id : 0, q->remote_qpn,
		  q->path.dlid, q->has_sq ? 1u << q->log_sq_size : 0,
		  q->has_rq ? 1u << q->log_rq_size : 0, (unsigned long long)q->dbr, q->path.sl,
		  q->path.stat_rate, q->path.ack_timeout, q->min_rnr_timer, q->max_rd_atomic,
		  q->max_dest_rd_atomic);
}

/* Each row starts with the function, the number and the owner. */
static const struct {
	const char *name, *number, *columns;
	void (*row)(struct ctl_out *out, struct obj *obj);
} tables[OBJ_TYPES] = {
	[OBJ_UCTX] = { "uctx", "context:d", "refs:d", row_plain },
	[OBJ_UAR] = { "uar", "page:d",
		      "refs:d\tsq_doorbells:d\tcq_arms:d\teq_doorbells:d\trefused:d", row_uar },
	[OBJ_PD] = { "pd", "pdn:x", "refs:d", row_plain },
	[OBJ_TD] = { "td", "tdn:x", "refs:d", row_plain },
	[OBJ_XRCD] = { "xrcd", "xrcd:x", "refs:d", row_plain },
	[OBJ_MKEY] = { "mr", "index:x",
		       "key:x\tpd:x\tmode:s\taccess:s\tstart:x\tlength:d\tpage_shift:d\tcapacity:d\t"
		       "qpn:x\tfree:d",
		       row_mkey },
	[OBJ_EQ] = { "eq", "eqn:d",
		     "vector:d\tsize:d\tproduced:d\tconsumed:d\tarmed:d\toverflowed:d", row_eq },
	[OBJ_CQ] = { "cq", "cqn:x",
		     "eqn:d\tuar:d\tsize:d\tcqe_size:d\tproduced:d\tdbr:x\trefs:d\tstate:s",
		     row_cq },
	[OBJ_SRQ] = { "srq", "srqn:x",
		      "kind:s\tpd:x\txrcd:x\tcqn:x\tsize:d\ttaken:d\tlimit:d\tdbr:x\tstate:s",
		      row_srq },
	[OBJ_QP] = { "qp", "qpn:x",
		     "transport:s\tstate:s\tpd:x\tsend_cq:x\trecv_cq:x\tsrq:x\txrcd:x\tuar:d\t"
		     "remote_qpn:x\tdlid:d\tsq_blocks:d\trq_wqes:d\tdbr:x\t"
		     "sl:d\tstat_rate:d\ttimeout:d\trnr_timer:d\trd_atomic:d\tdest_rd_atomic:d",
		     row_qp },
};

bool ctl_list_start(struct ctl_list *list, const struct ctl_request *request, const char *type)
{
	*list = (struct ctl_list){ .last_type = OBJ_TYPES - 1, .last_port = FABRIC_PORTS - 1 };
	if (strcmp(type, "all")) {
		unsigned int t = 0;

		while (t < OBJ_TYPES && strcmp(type, tables[t].name))
			t++;
		if (t == OBJ_TYPES)
			return false;
		list->type = list->last_type = (enum obj_type)t;
	}
	if (request->function != CTL_ALL_FUNCTIONS)
		list->port = list->first_port = list->last_port = (unsigned int)request->function;
	list->busy = true;
	return true;
}

/* On to the next function, or the first function of the next type. False at the end. */
static bool list_advance(struct ctl_list *list)
{
	list->next = 0;
	if (list->port++ < list->last_port)
		return true;
	list->port = list->first_port;
	list->header_done = false;
	return list->type++ < list->last_type;
}

bool ctl_list_continue(struct ctl_list *list, struct fabric *fabric, struct ctl_out *out)
{
	unsigned int rows = 0;

	while (list->busy && CTL_OUT - out->len >= ROW_ROOM && rows++ < IDS_PER_CALL) {
		struct hca *hca = fabric_port(fabric, list->port);
		struct obj *obj = hca ? obj_next(hca->objs[list->type], list->next) : NULL;

		if (!list->header_done) {
			ctl_print(out, "table %s\nfunction:d\t%s\tuid:d\t%s\n",
				  tables[list->type].name, tables[list->type].number,
				  tables[list->type].columns);
			list->header_done = true;
		}
		if (!obj) {
			list->busy = list_advance(list);
			continue;
		}
		ctl_print(out, "%u\t%u\t%u", hca->index, obj->id, obj->uid);
		tables[list->type].row(out, obj);
		ctl_print(out, "\n");
		list->next = obj->id + 1;
		if (!list->next)
			list->busy = list_advance(list);
	}
	return list->busy;
}
