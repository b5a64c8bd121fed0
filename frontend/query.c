// SPDX-License-Identifier: GPL-2.0
/*
 * query.c - what the device and its port say of themselves.
 */
#include <linux/minmax.h>

#include "xenib.h"

/* Xen's, by IEEE */
#define XEN_OUI 0x00163e

/* The core reads a table at once; who reads one entry later is to see it as it is then. */
#define AHEAD_FOR (HZ / 10)

/* What the HCA may have beyond these is not offered to guests. */
#define CAPS_OF_WINDOWS                                                                            \
	((u64)(IB_DEVICE_MEM_WINDOW | IB_DEVICE_MEM_WINDOW_TYPE_2A | IB_DEVICE_MEM_WINDOW_TYPE_2B))
#define CAPS_OFFERED                                                                               \
	(CAPS_OF_WINDOWS | IB_DEVICE_BAD_PKEY_CNTR | IB_DEVICE_BAD_QKEY_CNTR |                     \
	 IB_DEVICE_AUTO_PATH_MIG | IB_DEVICE_CURR_QP_STATE_MOD | IB_DEVICE_SYS_IMAGE_GUID |        \
	 IB_DEVICE_RC_RNR_NAK_GEN | IB_DEVICE_MEM_MGT_EXTENSIONS)

int xenib_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
		       struct ib_udata *udata)
{
	const struct xen_vhca_device_attr *from = &to_xdev(ibdev)->attr;
	int err;

	err = xenib_copy_req(udata, NULL, 0);
	if (err)
		return err;

	memset(attr, 0, sizeof(*attr));
	attr->fw_ver = from->fw_ver;
	attr->sys_image_guid = (__force __be64)from->sys_image_guid;
	attr->max_mr_size = from->max_mr_size;
	attr->page_size_cap = PAGE_SIZE;
	/*
	 * Programs take the HCA's vendor for a promise that its own library knows the device: newer
	 * perftest, for one, then asks libmlx5 and ends when that declines.
	 */
	attr->vendor_id = XEN_OUI;
	attr->vendor_part_id = from->vendor_part_id;
	attr->hw_ver = from->hw_ver;
	attr->device_cap_flags = from->device_cap_flags & CAPS_OFFERED;
	if (!from->max_mw)
		attr->device_cap_flags &= ~CAPS_OF_WINDOWS;
	attr->max_qp = from->max_qp;
	attr->max_qp_wr = from->max_qp_wr;
	attr->max_send_sge = from->max_sge;
	attr->max_recv_sge = from->max_sge;
	attr->max_sge_rd = from->max_sge_rd;
	attr->max_cq = from->max_cq;
	attr->max_cqe = from->max_cqe;
	attr->max_mr = from->max_mr;
	attr->max_mw = from->max_mw;
	attr->max_pd = from->max_pd;
	attr->max_ah = from->max_ah;
	attr->max_srq = from->max_srq;
	attr->max_srq_wr = from->max_srq_wr;
	attr->max_srq_sge = from->max_srq_sge;
	attr->max_qp_rd_atom = from->max_qp_rd_atom;
	attr->max_qp_init_rd_atom = from->max_qp_init_rd_atom;
	attr->max_res_rd_atom = from->max_res_rd_atom;
	attr->atomic_cap = from->atomic_cap;
	attr->masked_atomic_cap = IB_ATOMIC_NONE;
	attr->max_mcast_grp = from->max_mcast_grp;
	attr->max_mcast_qp_attach = from->max_mcast_qp_attach;
	attr->max_total_mcast_qp_attach = min_t(u64, INT_MAX, (u64)from->max_mcast_grp *
						from->max_mcast_qp_attach);
	attr->local_ca_ack_delay = from->local_ca_ack_delay;
	attr->max_pkeys = from->pkeys;
	return 0;
}

/*
 * The lengths of the tables stay what they were when the core allocated its caches: it fills them
 * by the numbers it finds here.
 */
int xenib_query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *attr)
{
	struct xenib_cmd cmd = { .req.op = XEN_VHCA_OP_PORT_QUERY };
	const struct xen_vhca_port_attr *from = &cmd.rsp.u.port;
	struct xenib_dev *dev = to_xdev(ibdev);
	int err;

	err = xenib_cmd_exec(dev->ring, &cmd);
	if (err)
		return err;

	attr->state = from->state;
	attr->max_mtu = from->max_mtu;
	attr->active_mtu = from->active_mtu;
	attr->phys_mtu = ib_mtu_enum_to_int(attr->max_mtu);
	attr->phys_state = from->phys_state;
	attr->gid_tbl_len = dev->gid_tbl_len;
	attr->pkey_tbl_len = dev->pkey_tbl_len;
	attr->port_cap_flags = from->port_cap_flags;
	attr->max_msg_sz = from->max_msg_sz;
	attr->bad_pkey_cntr = from->bad_pkey_cntr;
	attr->qkey_viol_cntr = from->qkey_viol_cntr;
	attr->lid = from->lid;
	attr->sm_lid = from->sm_lid;
	attr->lmc = from->lmc;
	attr->max_vl_num = from->max_vl_num;
	attr->sm_sl = from->sm_sl;
	attr->subnet_timeout = from->subnet_timeout;
	attr->init_type_reply = from->init_type_reply;
	attr->active_width = from->active_width;
	attr->active_speed = from->active_speed;
	return 0;
}

void xenib_tables_init(struct xenib_dev *dev)
{
	mutex_init(&dev->gids.lock);
	mutex_init(&dev->pkeys.lock);
	atomic_set(&dev->port_changes, 0);
}

/* Before anybody is told, who would read them again. */
void xenib_tables_changed(struct xenib_dev *dev)
{
	atomic_inc(&dev->port_changes);
}

/* A table of the port. */
struct table {
	struct xenib_ahead *ahead;
	u32 entries;
	u32 size; /* bytes of an entry */
	u32 most; /* entries in an answer */
	u8 op;
};

static int read_ahead(struct xenib_dev *dev, const struct table *table, u32 index)
{
	struct xenib_ahead *ahead = table->ahead;
	u32 count = ahead->one_by_one ? 1 : min(table->most, table->entries - index);
	struct xenib_cmd cmd = {
		.req.op = table->op,
		.req.u.index = { .index = index, .more = count - 1 },
	};
	int err;

	ahead->count = 0;
	ahead->changes = atomic_read(&dev->port_changes);
	err = xenib_cmd_exec(dev->ring, &cmd);
	if (err && cmd.rsp.status == XEN_VHCA_E_RESERVED && count > 1) {
		ahead->one_by_one = true;
		return read_ahead(dev, table, index);
	}
	if (err)
		return err;
	memcpy(ahead->entries, cmd.rsp.u.octets, count * table->size);
	ahead->first = index;
	ahead->count = count;
	ahead->until = jiffies + AHEAD_FOR;
	return 0;
}

static bool is_ahead(struct xenib_dev *dev, const struct xenib_ahead *ahead, u32 index)
{
	return index >= ahead->first && index - ahead->first < ahead->count &&
	       ahead->changes == atomic_read(&dev->port_changes) &&
	       time_before(jiffies, ahead->until);
}

static int query_table(struct xenib_dev *dev, const struct table *table, u32 index, void *entry)
{
	struct xenib_ahead *ahead = table->ahead;
	int err = 0;

	if (index >= table->entries)
		return -EINVAL;
	mutex_lock(&ahead->lock);
	if (!is_ahead(dev, ahead, index))
		err = read_ahead(dev, table, index);
	if (!err)
		memcpy(entry, ahead->entries + (index - ahead->first) * table->size, table->size);
	mutex_unlock(&ahead->lock);
	return err;
}

int xenib_query_gid(struct ib_device *ibdev, u32 port, int index, union ib_gid *gid)
{
	struct xenib_dev *dev = to_xdev(ibdev);
	const struct table table = {
		&dev->gids, dev->gid_tbl_len, sizeof(*gid), XEN_VHCA_GIDS, XEN_VHCA_OP_GID_QUERY,
	};

	return query_table(dev, &table, index, gid);
}

int xenib_query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey)
{
	struct xenib_dev *dev = to_xdev(ibdev);
	const struct table table = {
		&dev->pkeys, dev->pkey_tbl_len, sizeof(*pkey), XEN_VHCA_PKEYS,
		XEN_VHCA_OP_PKEY_QUERY,
	};

	return query_table(dev, &table, index, pkey);
}

/*
 * InfiniBand, but no management datagrams: those need kernel verbs, which the device does not
 * offer; only the clients that do without (uverbs) attach to it.
 */
int xenib_get_port_immutable(struct ib_device *ibdev, u32 port,
			     struct ib_port_immutable *immutable)
{
	struct xenib_dev *dev = to_xdev(ibdev);

	immutable->core_cap_flags = RDMA_CORE_CAP_PROT_IB;
	immutable->gid_tbl_len = dev->gid_tbl_len;
	immutable->pkey_tbl_len = dev->pkey_tbl_len;
	return 0;
}

void xenib_get_fw_str(struct ib_device *ibdev, char *str)
{
	u64 ver = to_xdev(ibdev)->attr.fw_ver;

	snprintf(str, IB_FW_VERSION_NAME_MAX, "%u.%u.%04u", (u16)(ver >> 32), (u16)(ver >> 16),
		 (u16)ver);
}
