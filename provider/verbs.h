/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * verbs.h - the verbs that this provider has, for the tables in xenib.c. Arguments, ownership and
 * errors are those of the verbs' man pages: functions that return a pointer set errno, the others
 * return it.
 */
#ifndef XENIB_VERBS_H
#define XENIB_VERBS_H

#include <infiniband/driver.h>

/* query.c */
int xenib_query_device_ex(struct ibv_context *context,
			  const struct ibv_query_device_ex_input *input,
			  struct ibv_device_attr_ex *attr, size_t attr_size);
int xenib_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr);
int xenib_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values);

/* pd.c */
struct ibv_pd *xenib_alloc_pd(struct ibv_context *context);
int xenib_dealloc_pd(struct ibv_pd *pd);
struct ibv_pd *xenib_import_pd(struct ibv_context *context, uint32_t pd_handle);
void xenib_unimport_pd(struct ibv_pd *pd);
struct ibv_td *xenib_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr);
int xenib_dealloc_td(struct ibv_td *td);
struct ibv_pd *xenib_alloc_parent_domain(struct ibv_context *context,
					 struct ibv_parent_domain_init_attr *attr);
struct ibv_xrcd *xenib_open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr);
int xenib_close_xrcd(struct ibv_xrcd *ibxrcd);

/* mr.c, mw.c */
struct ibv_mr *xenib_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t hca_va,
			    int access);
struct ibv_mr *xenib_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				   int fd, int access);
struct ibv_mr *xenib_alloc_null_mr(struct ibv_pd *pd);
int xenib_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		   int access);
int xenib_dereg_mr(struct verbs_mr *vmr);
struct ibv_mr *xenib_import_mr(struct ibv_pd *pd, uint32_t mr_handle);
void xenib_unimport_mr(struct ibv_mr *mr);
struct ibv_mw *xenib_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int xenib_dealloc_mw(struct ibv_mw *mw);
int xenib_bind_mw(struct ibv_qp *ibqp, struct ibv_mw *mw, struct ibv_mw_bind *bind);

/* ah.c */
struct ibv_ah *xenib_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);
int xenib_destroy_ah(struct ibv_ah *ah);

/* cq.c, poll.c */
struct ibv_cq *xenib_create_cq(struct ibv_context *context, int cqe,
			       struct ibv_comp_channel *channel, int comp_vector);
struct ibv_cq_ex *xenib_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);
int xenib_modify_cq(struct ibv_cq *ibcq, struct ibv_modify_cq_attr *attr);
int xenib_resize_cq(struct ibv_cq *ibcq, int cqe);
int xenib_destroy_cq(struct ibv_cq *ibcq);
int xenib_req_notify_cq(struct ibv_cq *ibcq, int solicited_only);
void xenib_cq_event(struct ibv_cq *ibcq);
int xenib_poll_cq(struct ibv_cq *ibcq, int entries, struct ibv_wc *wc);

/* srq.c, post_recv.c */
struct ibv_srq *xenib_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
struct ibv_srq *xenib_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr);
int xenib_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int mask);
int xenib_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr);
int xenib_destroy_srq(struct ibv_srq *ibsrq);
int xenib_get_srq_num(struct ibv_srq *ibsrq, uint32_t *number);
int xenib_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

/* qp.c, post_send.c, post_recv.c */
struct ibv_qp *xenib_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *xenib_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
struct ibv_qp *xenib_open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr);
int xenib_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask);
int xenib_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask,
		   struct ibv_qp_init_attr *init_attr);
int xenib_destroy_qp(struct ibv_qp *ibqp);
int xenib_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
int xenib_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

#endif
