// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What the function claims: nothing that is not there. */
#include <stdlib.h>

#include "engine/fabric.h"
#include "firmware/caps.h"
#include "hca.h"
#include "ifc.h"

/* A function has the maximum, which is fixed, and what the driver has chosen of it. */
struct caps {
	uint8_t general_max[IFC_SIZE(cmd_hca_cap)], general[IFC_SIZE(cmd_hca_cap)];
	uint8_t atomic_max[IFC_SIZE(atomic_caps)], atomic[IFC_SIZE(atomic_caps)];
};

#define GENERAL(field, value) IFC_SET(cmd_hca_cap, g, field, value)

static void objects(uint8_t *g)
{
	GENERAL(log_max_qp, CAP_MAX_QPS);
	GENERAL(log_max_qp_sz, CAP_MAX_QP_WQES);
	GENERAL(log_max_cq, CAP_MAX_CQS);
	GENERAL(log_max_cq_sz, CAP_MAX_CQ_SIZE);
	GENERAL(log_max_eq, CAP_MAX_EQS);
	GENERAL(log_max_eq_sz, CAP_MAX_EQ_SIZE);
	GENERAL(max_num_eqs, CAP_EQS);
	GENERAL(log_max_srq, CAP_MAX_SRQS);
	GENERAL(log_max_srq_sz, CAP_MAX_SRQ_SIZE);
	GENERAL(log_max_rmp, CAP_MAX_SRQS);
	GENERAL(log_max_wq_sz, CAP_MAX_SRQ_SIZE);
	GENERAL(log_max_mkey, CAP_MAX_MKEYS);
	GENERAL(log_max_pd, CAP_MAX_PDS);
	GENERAL(log_max_xrcd, CAP_MAX_PDS);
	GENERAL(log_max_transport_domain, CAP_MAX_PDS);
	GENERAL(log_max_uctx, CAP_MAX_UCTXS);
	GENERAL(log_max_mcg, CAP_MAX_MCGS);
	GENERAL(max_qp_mcg, FABRIC_GROUP_QPS);
}

static void transports(uint8_t *g)
{
	GENERAL(rc, 1);
	GENERAL(uc, 1);
	GENERAL(ud, 1);
	GENERAL(xrc, 1); /* the driver does not probe without it */
	GENERAL(log_max_msg, CAP_MAX_MSG);
	GENERAL(log_max_ra_req_qp, CAP_MAX_RD_ATOMIC);
	GENERAL(log_max_ra_res_qp, CAP_MAX_RD_ATOMIC);
	GENERAL(stat_rate_support, CAP_RATES);
	GENERAL(atomic, 1);
	GENERAL(set_deth_sqpn, 1);
	GENERAL(compact_address_vector, 1);
	GENERAL(cqe_version, 1);
	GENERAL(cq_oi, 1);
	GENERAL(cq_resize, 1);
	GENERAL(max_wqe_sz_sq, CAP_MAX_WQE);
	GENERAL(max_wqe_sz_rq, CAP_MAX_WQE / 2);
}

static void memory(uint8_t *g)
{
	GENERAL(log_pg_sz, CAP_LOG_PAGE);
	GENERAL(log_max_mrw_sz, 64);
	GENERAL(max_indirection, CAP_MAX_INDIRECTION);
	GENERAL(fixed_buffer_size, 1);
	GENERAL(log_max_klm_list_size, CAP_MAX_KLM_LIST);
	GENERAL(umr_ptr_rlky, 1);
	GENERAL(umr_extended_translation_offset, 1);
	GENERAL(pg, 1); /* of no transport: see CAPS_ODP */
	GENERAL(block_lb_mc, 1);
	GENERAL(imaicl, 1); /* memory windows, type 2 */
	GENERAL(dump_fill_mkey, 1);
}

static void port(uint8_t *g)
{
	GENERAL(port_type, 0); /* InfiniBand */
	GENERAL(num_ports, 1);
	GENERAL(ib_virt, 1); /* the port is asked by HCA_VPORT commands, not by MADs */
	GENERAL(vport_counters, 1);
	GENERAL(gid_table_size, 0);  /* 8 entries */
	GENERAL(pkey_table_size, 0); /* 128, of which PORT_PKEYS may be set */
	GENERAL(pkv, 1);
	GENERAL(qkv, 1);
}

static void registers(uint8_t *g)
{
	GENERAL(bf, 1);
	GENERAL(log_bf_reg_size, 9);
	GENERAL(uar_4k, 1);
	GENERAL(log_uar_page_sz, 0); /* 4 KiB */
	GENERAL(num_of_uars_per_page, 1);
	GENERAL(uar_sz, 5); /* log2 MiB of the BAR */
	GENERAL(device_frequency_mhz, HCA_CLOCK_KHZ / 1000);
	GENERAL(device_frequency_khz, HCA_CLOCK_KHZ);
	GENERAL(driver_version, 1);
}

static void atomics(uint8_t *a)
{
	IFC_SET(atomic_caps, a, atomic_operations, 3); /* compare-and-swap, fetch-and-add */
	IFC_SET(atomic_caps, a, atomic_size_qp, 8);    /* of 8 bytes */
	IFC_SET(atomic_caps, a, supported_atomic_req_8B_endianness_mode_1, 1);
}

struct caps *caps_new(void)
{
	struct caps *caps = calloc(1, sizeof(*caps));

	if (!caps)
		return NULL;
	objects(caps->general_max);
	transports(caps->general_max);
	memory(caps->general_max);
	port(caps->general_max);
	registers(caps->general_max);
	atomics(caps->atomic_max);
	caps_reset(caps);
	return caps;
}

void caps_free(struct caps *caps)
{
	free(caps);
}

void caps_reset(struct caps *caps)
{
	memcpy(caps->general, caps->general_max, sizeof(caps->general));
	memcpy(caps->atomic, caps->atomic_max, sizeof(caps->atomic));
}

int caps_query(const struct caps *caps, enum caps_type type, bool current, void *out, size_t len)
{
	const uint8_t *from;
	size_t size;

	memset(out, 0, len);
	switch (type) {
	case CAPS_GENERAL:
		from = current ? caps->general : caps->general_max;
		size = sizeof(caps->general);
		break;
	case CAPS_ODP:
		/*
		 * No transport faults a page in. Memory of dma-bufs needs none that does: the driver
		 * maps all of it before it gives away the key.
		 */
		return 0;
	case CAPS_ATOMIC:
		from = current ? caps->atomic : caps->atomic_max;
		size = sizeof(caps->atomic);
		break;
	default:
		return -1;
	}
	memcpy(out, from, size < len ? size : len);
	return 0;
}

int caps_set(struct caps *caps, enum caps_type type, const void *in)
{
	const uint8_t *g = in;

	switch (type) {
	case CAPS_GENERAL:
		/* The driver may ask for fewer QPs; all else stays as it is claimed. */
		if (IFC_GET(cmd_hca_cap, g, log_max_qp) > CAP_MAX_QPS)
			return -1;
		IFC_SET(cmd_hca_cap, caps->general, log_max_qp,
			IFC_GET(cmd_hca_cap, g, log_max_qp));
		return 0;
	case CAPS_ATOMIC:
		if (IFC_GET(atomic_caps, g, atomic_req_8B_endianness_mode) > 1)
			return -1;
		IFC_SET(atomic_caps, caps->atomic, atomic_req_8B_endianness_mode,
			IFC_GET(atomic_caps, g, atomic_req_8B_endianness_mode));
		return 0;
	default:
		return -1;
	}
}
