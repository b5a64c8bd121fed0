// SPDX-License-Identifier: GPL-2.0
/*
 * smp.c - what programs ask of their own port: see smp.h.
 *
 * InfiniBand specification, volume 1, chapter 14: directed route SMPs (14.2.1.2), their attributes
 * (14.2.5). struct ib_port_info ends in front of the last four octets of PortInfo.
 */
#include <rdma/ib_mad.h>
#include <rdma/ib_smi.h>

#include "kernel/smp.h"
#include "xenib.h"

#define GUIDS_IN_BLOCK 8
#define PKEYS_IN_BLOCK 32
#define LINK_DOWN_POLLING 2
#define LINK_SPEED_EXT 62 /* active, supported */
#define LINK_SPEED_EXT_ENABLED 63

/* Its attribute, of which @data has had nothing but zeros so far. */
static int node_desc(struct xenib_dev *dev, u32 modifier, u8 *data)
{
	memcpy(data, dev->ibdev.node_desc, IB_DEVICE_NODE_DESC_MAX);
	return 0;
}

static int node_info(struct xenib_dev *dev, u32 modifier, u8 *data)
{
	struct ib_node_info *info = (struct ib_node_info *)data;
	const struct ib_device_attr *attr = &dev->ibdev.attrs;
	union ib_gid gid;
	int err;

	err = xenib_query_gid(&dev->ibdev, XENIB_PORT, 0, &gid);
	if (err)
		return err;

	info->base_version = IB_MGMT_BASE_VERSION;
	info->class_version = 1;
	info->node_type = RDMA_NODE_IB_CA;
	info->num_ports = 1;
	info->sys_guid = attr->sys_image_guid;
	info->node_guid = dev->ibdev.node_guid;
	info->port_guid = gid.global.interface_id;
	info->partition_cap = cpu_to_be16(dev->pkey_tbl_len);
	info->device_id = cpu_to_be16(attr->vendor_part_id);
	info->revision = cpu_to_be32(attr->hw_ver);
	info->local_port_num = XENIB_PORT;
	info->vendor_id[0] = attr->vendor_id >> 16;
	info->vendor_id[1] = attr->vendor_id >> 8;
	info->vendor_id[2] = attr->vendor_id;
	return 0;
}

/* From FDR on it is told by the extended speed, beside QDR. */
static void link_speed(const struct ib_port_attr *attr, u8 *data)
{
	struct ib_port_info *info = (struct ib_port_info *)data;
	u8 plain = attr->active_speed & (IB_SPEED_SDR | IB_SPEED_DDR | IB_SPEED_QDR);
	u8 extended = attr->active_speed / IB_SPEED_FDR;

	if (!plain)
		plain = IB_SPEED_QDR;
	info->linkspeed_portstate = plain << 4 | attr->state;
	info->linkspeedactive_enabled = plain << 4 | plain;
	if (!(attr->port_cap_flags & IB_PORT_EXTENDED_SPEEDS_SUP))
		return;
	data[LINK_SPEED_EXT] = extended << 4 | extended;
	data[LINK_SPEED_EXT_ENABLED] = extended;
}

static int port_info(struct xenib_dev *dev, u32 modifier, u8 *data)
{
	struct ib_port_info *info = (struct ib_port_info *)data;
	struct ib_port_attr attr = {};
	union ib_gid gid;
	int err;

	if (modifier > XENIB_PORT)
		return -EINVAL;
	err = xenib_query_port(&dev->ibdev, XENIB_PORT, &attr);
	if (err)
		return err;
	err = xenib_query_gid(&dev->ibdev, XENIB_PORT, 0, &gid);
	if (err)
		return err;

	info->gid_prefix = gid.global.subnet_prefix;
	info->lid = cpu_to_be16(attr.lid);
	info->sm_lid = cpu_to_be16(attr.sm_lid);
	info->cap_mask = cpu_to_be32(attr.port_cap_flags);
	info->local_port_num = XENIB_PORT;
	info->link_width_enabled = attr.active_width;
	info->link_width_supported = attr.active_width;
	info->link_width_active = attr.active_width;
	link_speed(&attr, data);
	info->portphysstate_linkdown = attr.phys_state << 4 | LINK_DOWN_POLLING;
	info->mkeyprot_resv_lmc = attr.lmc & 7;
	info->neighbormtu_mastersmsl = attr.active_mtu << 4 | (attr.sm_sl & 0xf);
	info->vlcap_inittype = attr.max_vl_num << 4;
	info->inittypereply_mtucap = attr.init_type_reply << 4 | attr.max_mtu;
	info->operationalvl_pei_peo_fpi_fpo = attr.max_vl_num << 4;
	info->pkey_violations = cpu_to_be16(attr.bad_pkey_cntr);
	info->qkey_violations = cpu_to_be16(attr.qkey_viol_cntr);
	info->guid_cap = min(dev->gid_tbl_len, 255U);
	info->clientrereg_resv_subnetto = attr.subnet_timeout & 0x1f;
	return 0;
}

static int guid_info(struct xenib_dev *dev, u32 modifier, u8 *data)
{
	__be64 *guids = (__be64 *)data;
	union ib_gid gid;
	u32 first, i;
	int err;

	if (modifier >= DIV_ROUND_UP(dev->gid_tbl_len, GUIDS_IN_BLOCK))
		return -EINVAL;
	first = modifier * GUIDS_IN_BLOCK;
	for (i = 0; i < GUIDS_IN_BLOCK && first + i < dev->gid_tbl_len; i++) {
		err = xenib_query_gid(&dev->ibdev, XENIB_PORT, first + i, &gid);
		if (err)
			return err;
		guids[i] = gid.global.interface_id;
	}
	return 0;
}

/* The upper half of the modifier is a switch's port. */
static int pkey_table(struct xenib_dev *dev, u32 modifier, u8 *data)
{
	__be16 *pkeys = (__be16 *)data;
	u32 first, i;
	u16 pkey;
	int err;

	if (modifier >= DIV_ROUND_UP(dev->pkey_tbl_len, PKEYS_IN_BLOCK))
		return -EINVAL;
	first = modifier * PKEYS_IN_BLOCK;
	for (i = 0; i < PKEYS_IN_BLOCK && first + i < dev->pkey_tbl_len; i++) {
		err = xenib_query_pkey(&dev->ibdev, XENIB_PORT, first + i, &pkey);
		if (err)
			return err;
		pkeys[i] = cpu_to_be16(pkey);
	}
	return 0;
}

static const struct smp_attribute {
	__be16 id;
	int (*get)(struct xenib_dev *dev, u32 modifier, u8 *data);
} attributes[] = {
	{ IB_SMP_ATTR_NODE_DESC, node_desc },   { IB_SMP_ATTR_NODE_INFO, node_info },
	{ IB_SMP_ATTR_GUID_INFO, guid_info },   { IB_SMP_ATTR_PORT_INFO, port_info },
	{ IB_SMP_ATTR_PKEY_TABLE, pkey_table },
};

static int get(struct xenib_dev *dev, const struct ib_smp *smp, u8 *data)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(attributes); i++)
		if (attributes[i].id == smp->attr_id)
			return attributes[i].get(dev, be32_to_cpu(smp->attr_mod), data);
	return -EOPNOTSUPP;
}

/* A directed route that has no hops, and that the core has begun. */
static bool is_route_to_self(const struct ib_smp *smp)
{
	return !(smp->status & IB_SMP_DIRECTION) && !smp->hop_cnt && smp->hop_ptr == 1 &&
	       smp->dr_slid == IB_LID_PERMISSIVE && smp->dr_dlid == IB_LID_PERMISSIVE;
}

static bool is_own_lid(struct xenib_dev *dev, u16 dlid)
{
	struct ib_port_attr attr = {};

	return !xenib_query_port(&dev->ibdev, XENIB_PORT, &attr) && attr.lid &&
	       dlid >> (attr.lmc & 7) == attr.lid >> (attr.lmc & 7);
}

static bool is_for_own_port(struct xenib_dev *dev, u16 dlid, const struct ib_smp *smp)
{
	if (smp->base_version != IB_MGMT_BASE_VERSION || smp->class_version != 1)
		return false;
	if (smp->method != IB_MGMT_METHOD_GET && smp->method != IB_MGMT_METHOD_SET)
		return false;
	if (smp->mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		return is_route_to_self(smp);
	return smp->mgmt_class == IB_MGMT_CLASS_SUBN_LID_ROUTED && is_own_lid(dev, dlid);
}

bool xenib_smp_answer(struct xenib_dev *dev, u16 dlid, const u8 *mad, u8 *answer)
{
	const struct ib_smp *smp = (const struct ib_smp *)mad;
	struct ib_smp *out = (struct ib_smp *)answer;
	int err = -EOPNOTSUPP;

	if (!is_for_own_port(dev, dlid, smp))
		return false;

	memcpy(out, smp, sizeof(*out));
	memset(out->data, 0, sizeof(out->data));
	if (smp->method == IB_MGMT_METHOD_GET)
		err = get(dev, smp, out->data);
	if (err && err != -EINVAL && err != -EOPNOTSUPP)
		return false;

	out->method = IB_MGMT_METHOD_GET_RESP;
	out->mkey = 0;
	out->status = 0;
	if (smp->mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE) {
		out->hop_ptr = 0;
		out->status = IB_SMP_DIRECTION;
	}
	if (err == -EOPNOTSUPP)
		out->status |= cpu_to_be16(IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB);
	if (err == -EINVAL)
		out->status |= cpu_to_be16(IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE);
	return true;
}
