// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * capabilities DEVICE [PORT] - what an HCA of the mlx5 family says that it can do, and what is found by trying. Prints
 * lines "name value", for tests/programs/hardware/run. What cannot be found out has no line.
 *
 * The firmware's capabilities are read by QUERY_HCA_CAP, which the kernel passes on unchanged (DEVX); nothing is set.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "../../hca/ifc.h"
#include "capabilities.h"

#define GENERAL 0x0
#define QOS 0xc
#define CURRENT 1

static uint8_t *query(struct ibv_context *ctx, uint16_t group)
{
	static uint8_t out[IFC_SIZE(query_hca_cap_out)];
	uint8_t in[IFC_SIZE(query_hca_cap_in)] = {};

	IFC_SET(query_hca_cap_in, in, opcode, MLX5_CMD_OP_QUERY_HCA_CAP);
	IFC_SET(query_hca_cap_in, in, op_mod, (uint32_t)group << 1 | CURRENT);
	memset(out, 0, sizeof(out));
	if (mlx5dv_devx_general_cmd(ctx, in, sizeof(in), out, sizeof(out)) ||
	    IFC_GET(query_hca_cap_out, out, status))
		return NULL;
	return IFC_ADDR(query_hca_cap_out, out, capability);
}

#define SHOW(layout, field) \
	printf("%s %" PRIu64 "\n", #field, (uint64_t)IFC_GET(layout, cap, field))

static void show_firmware(struct ibv_device *device)
{
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	struct ibv_context *ctx = mlx5dv_open_device(device, &attr);
	const uint8_t *cap;

	if (!ctx)
		return;
	cap = query(ctx, GENERAL);
	if (cap) {
		SHOW(cmd_hca_cap, cqe_version);
		SHOW(cmd_hca_cap, pg);
		SHOW(cmd_hca_cap, bf);
		SHOW(cmd_hca_cap, log_bf_reg_size);
		SHOW(cmd_hca_cap, uar_4k);
		SHOW(cmd_hca_cap, stat_rate_support);
		SHOW(cmd_hca_cap, log_max_klm_list_size);
		SHOW(cmd_hca_cap, umr_indirect_mkey_disabled);
		SHOW(cmd_hca_cap, umr_modify_atomic_disabled);
		SHOW(cmd_hca_cap, umr_extended_translation_offset);
		SHOW(cmd_hca_cap, mkey_by_name);
		SHOW(cmd_hca_cap, ib_virt);
		SHOW(cmd_hca_cap, qos);
	}
	cap = query(ctx, QOS);
	if (cap) {
		SHOW(qos_cap, packet_pacing);
		SHOW(qos_cap, esw_scheduling);
		SHOW(qos_cap, nic_sq_scheduling);
		SHOW(qos_cap, nic_rate_limit);
		SHOW(qos_cap, esw_element_type);
		SHOW(qos_cap, nic_element_type);
	}
	ibv_close_device(ctx);
}

static void show_verbs(struct ibv_context *ctx, uint8_t port_num)
{
	struct ibv_device_attr_ex attr = {};
	struct mlx5dv_context mlx5 = {};
	struct ibv_port_attr port = {};

	if (!ibv_query_device_ex(ctx, NULL, &attr)) {
		printf("vendor_part_id %u\n", attr.orig_attr.vendor_part_id);
		printf("fw_ver %s\n", attr.orig_attr.fw_ver);
		printf("windows_1 %d\n",
		       !!(attr.orig_attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW));
		printf("windows_2 %d\n",
		       !!(attr.orig_attr.device_cap_flags &
			  (IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B)));
		printf("odp %d\n", !!(attr.odp_caps.general_caps & IBV_ODP_SUPPORT));
		printf("odp_implicit %d\n",
		       !!(attr.odp_caps.general_caps & IBV_ODP_SUPPORT_IMPLICIT));
		printf("odp_rc %#x\n", attr.odp_caps.per_transport_caps.rc_odp_caps);
		printf("atomic_cap %d\n", attr.orig_attr.atomic_cap);
	}
	if (!mlx5dv_query_device(ctx, &mlx5))
		printf("cqe_v1 %d\n", !!(mlx5.flags & MLX5DV_CONTEXT_FLAGS_CQE_V1));
	if (!ibv_query_port(ctx, port_num, &port)) {
		printf("infiniband %d\n", port.link_layer == IBV_LINK_LAYER_INFINIBAND);
		printf("active %d\n", port.state == IBV_PORT_ACTIVE);
		printf("gids %d\n", port.gid_tbl_len);
		printf("pkeys %u\n", port.pkey_tbl_len);
		printf("lmc %u\n", port.lmc);
	}
}

static struct ibv_device *find(struct ibv_device **list, const char *name)
{
	for (; *list; list++)
		if (!strcmp(ibv_get_device_name(*list), name))
			return *list;
	return NULL;
}

int main(int argc, char **argv)
{
	uint8_t port = argc > 2 ? (uint8_t)atoi(argv[2]) : 1;
	struct ibv_context *ctx = NULL;
	struct ibv_device **list, *device;

	if (argc < 2) {
		fprintf(stderr, "usage: capabilities DEVICE [PORT]\n");
		return 2;
	}
	list = ibv_get_device_list(NULL);
	device = list ? find(list, argv[1]) : NULL;
	if (device)
		ctx = ibv_open_device(device);
	if (!ctx) {
		fprintf(stderr, "capabilities: %s is not there, or cannot be opened\n", argv[1]);
		return 1;
	}
	show_verbs(ctx, port);
	show_firmware(device);
	capabilities_try(ctx, port);
	ibv_close_device(ctx);
	ibv_free_device_list(list);
	return 0;
}
