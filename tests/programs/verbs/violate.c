// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "violate.h"

void vio_open(struct vio *v)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);

	vp_open_both(&v->dev_a, &v->dev_b);
	vp_pair_make(&v->neighbour, &v->dev_a, &v->dev_b, &conf);
	vp_exchange(&v->neighbour, "neighbour, before");
}

void vio_pair(struct vio *v, const struct vp_conf *conf)
{
	vp_pair_make_on(&v->pair, &v->dev_a, v->neighbour.a.pd, &v->dev_b, v->neighbour.b.pd, conf);
}

void vio_begin_as(struct vio *v, struct vp_conf conf)
{
	vio_open(v);
	vio_pair(v, &conf);
}

void vio_begin(struct vio *v, enum ibv_qp_type type)
{
	vio_begin_as(v, vp_conf(type));
}

void vio_end(struct vio *v)
{
	vp_exchange(&v->neighbour, "neighbour, after");
	vp_expect_no_async(&v->dev_a, "requester's device, at the end");
	vp_expect_no_async(&v->dev_b, "responder's device, at the end");
	if (v->pair.a.dev)
		vp_end_free(&v->pair.a);
	if (v->pair.b.dev)
		vp_end_free(&v->pair.b);
	vp_pair_free(&v->neighbour);
	vp_close_both(&v->dev_a, &v->dev_b);
}

void vio_expect_send_dead(struct vp_end *end, const char *whose)
{
	struct vp_wr w;

	vp_send(end, vp_wr(&w, end, IBV_WR_SEND, 0, 8));
	vp_expect(&end->scq, w.wr.wr_id, IBV_WC_WR_FLUSH_ERR, whose);
}

void vio_expect_dead(struct vp_end *end, const char *whose)
{
	vp_expect_state(end, IBV_QPS_ERR, whose);
	vio_expect_send_dead(end, whose);
	if (end->srq)
		return;
	vp_recv(end, 0xdead, 0, 8);
	vp_expect(&end->rcq, 0xdead, IBV_WC_WR_FLUSH_ERR, whose);
}

void vio_expect_pd_usable(struct vio *v)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);
	struct vp_pair fresh;

	vp_pair_make_on(&fresh, &v->dev_a, v->pair.a.pd, &v->dev_b, v->pair.b.pd, &conf);
	vp_exchange(&fresh, "a fresh pair in the same PDs");
	vp_pair_free(&fresh);
}

int main(int argc, char **argv)
{
	const struct check_table tables[] = {
		violate_remote, violate_local,    violate_retry, violate_state, violate_create,
		violate_queue,  violate_datagram, violate_mw,    violate_umr,
	};

	vp_load_providers();
	return check_main_tables(
		argc, argv,
		"Breaks one rule of verbs at a time, and checks that exactly the right error follows.",
		tables, ARRAY_SIZE(tables));
}
