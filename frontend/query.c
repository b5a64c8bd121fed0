// SPDX-License-Identifier: GPL-2.0
/*
 * query.c - what the device and its port say of themselves.
 */
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <rdma/ib_mad.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_std_types.h>

#include "kernel/kverbs.h"
#include "xenib.h"

#define UVERBS_MODULE_NAME xenib_query
#include <rdma/uverbs_named_ioctl.h>

/* Xen's, by IEEE */
#define XEN_OUI 0x00163e

/* Of tables whose changes are not told: whole tables are read at once. */
#define KNOWN_FOR HZ

/* What the HCA may have beyond these is not offered to guests. */
#define CAPS_OF_WINDOWS \
	((u64)(IB_DEVICE_MEM_WINDOW | IB_DEVICE_MEM_WINDOW_TYPE_2A | IB_DEVICE_MEM_WINDOW_TYPE_2B))
#define CAPS_OFFERED \
	(CAPS_OF_WINDOWS | IB_DEVICE_BAD_PKEY_CNTR | IB_DEVICE_BAD_QKEY_CNTR | \
	 IB_DEVICE_AUTO_PATH_MIG | IB_DEVICE_CURR_QP_STATE_MOD | IB_DEVICE_SYS_IMAGE_GUID | \
	 IB_DEVICE_RC_RNR_NAK_GEN | IB_DEVICE_MEM_MGT_EXTENSIONS)

int xenib_query_device(struct ib_device *ibdev, struct ib_device_attr *attr, struct ib_udata *udata)
{
	const struct xen_vhca_device_attr *from = &to_xdev(ibdev)->attr;
	int err;

	if (udata) { /* not for the core itself, on kernels that spare it an empty one */
		err = xenib_copy_req(udata, NULL, 0);
		if (err)
			return err;
	}

	memset(attr, 0, sizeof(*attr));
	if (to_xdev(ibdev)->kernel) {
		attr->kernel_cap_flags = IBK_LOCAL_DMA_LKEY;
		if (from->max_mw) {
			attr->kernel_cap_flags |= IBK_SG_GAPS_REG;
			attr->max_fast_reg_page_list_len = XENIB_MAX_REG_PAGES;
		}
	}
	attr->fw_ver = from->fw_ver;
	if (from->core_clock_khz) {
		attr->hca_core_clock = from->core_clock_khz;
		attr->timestamp_mask = S64_MAX;
	}
	attr->sys_image_guid = (__force __be64)from->sys_image_guid;
	attr->max_mr_size = from->max_mr_size;
	attr->page_size_cap = PAGE_SIZE;
	/*
	 * Programs take the HCA's vendor for a promise that its own library knows the device: newer
	 * perftest, for one, then asks libmlx5 and ends when that declines.
	 */
	attr->vendor_id = to_xdev(ibdev)->personality->shows_vendor ? from->vendor_id : XEN_OUI;
	attr->vendor_part_id = from->vendor_part_id;
	attr->hw_ver = from->hw_ver;
	attr->device_cap_flags = from->device_cap_flags & CAPS_OFFERED;
	/* Regions that a WR registers are windows to the HCA. */
	if (!from->max_mw)
		attr->device_cap_flags &= ~(CAPS_OF_WINDOWS | (u64)IB_DEVICE_MEM_MGT_EXTENSIONS);
	if (to_xdev(ibdev)->xrc)
		attr->device_cap_flags |= IB_DEVICE_XRC;
	attr->max_qp = from->max_qp;
	attr->max_qp_wr = from->max_qp_wr;
	attr->max_send_sge = from->max_sge;
	attr->max_recv_sge = from->max_sge;
	attr->max_sge_rd = from->max_sge_rd;
	attr->max_cq = from->max_cq;
	attr->cq_caps.max_cq_moderation_count = from->max_cq_count;
	attr->cq_caps.max_cq_moderation_period = from->max_cq_period_us;
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
	attr->max_total_mcast_qp_attach =
		min_t(u64, INT_MAX, (u64)from->max_mcast_grp * from->max_mcast_qp_attach);
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

int xenib_tables_init(struct xenib_dev *dev)
{
	mutex_init(&dev->gids.lock);
	mutex_init(&dev->pkeys.lock);
	atomic_set(&dev->port_changes, 0);

	dev->gids.entries = kcalloc(dev->gid_tbl_len, sizeof(union ib_gid), GFP_KERNEL);
	dev->pkeys.entries = kcalloc(dev->pkey_tbl_len, sizeof(u16), GFP_KERNEL);
	if (dev->gids.entries && dev->pkeys.entries)
		return 0;
	xenib_tables_exit(dev);
	return -ENOMEM;
}

void xenib_tables_exit(struct xenib_dev *dev)
{
	kfree(dev->pkeys.entries);
	kfree(dev->gids.entries);
}

/* Before anybody is told, who would read them again. */
void xenib_tables_changed(struct xenib_dev *dev)
{
	atomic_inc(&dev->port_changes);
}

/* A table of the port, and how it is read. */
struct reading {
	struct xenib_table *table;
	u32 entries;
	u32 size; /* bytes of an entry */
	u32 most; /* entries in an answer */
	u8 op;
	bool told; /* an event says when the table has changed */
};

/* Reads an entry, and those behind it. */
static int read_from(struct xenib_dev *dev, const struct reading *of, u32 index)
{
	struct xenib_table *table = of->table;
	u32 count = table->one_by_one ? 1 : min(of->most, of->entries - index);
	struct xenib_cmd cmd = {
		.req.op = of->op,
		.req.u.index = { .index = index, .more = count - 1 },
	};
	int err;

	err = xenib_cmd_exec(dev->ring, &cmd);
	if (err && cmd.rsp.status == XEN_VHCA_E_RESERVED && count > 1) {
		table->one_by_one = true;
		return read_from(dev, of, index);
	}
	if (err)
		return err;
	memcpy(table->entries + index * of->size, cmd.rsp.u.octets, count * of->size);
	bitmap_set(table->known, index, count);
	table->until = jiffies + KNOWN_FOR;
	return 0;
}

static void forget_if_changed(struct xenib_dev *dev, const struct reading *of)
{
	struct xenib_table *table = of->table;
	int changes = atomic_read(&dev->port_changes);

	if (changes == table->changes && (of->told || time_before(jiffies, table->until)))
		return;
	bitmap_zero(table->known, XENIB_MAX_TABLE);
	table->changes = changes;
}

static int query_table(struct xenib_dev *dev, const struct reading *of, u32 index, void *entry)
{
	struct xenib_table *table = of->table;
	int err = 0;

	if (index >= of->entries)
		return xenib_refuse(dev, -EINVAL, "index %u of %u", index, of->entries);
	mutex_lock(&table->lock);
	forget_if_changed(dev, of);
	if (!test_bit(index, table->known))
		err = read_from(dev, of, index);
	if (!err)
		memcpy(entry, table->entries + index * of->size, of->size);
	mutex_unlock(&table->lock);
	return err;
}

/* Of other GIDs on InfiniBand Linux tells no program, so not the daemon either. */
int xenib_query_gid(struct ib_device *ibdev, u32 port, int index, union ib_gid *gid)
{
	struct xenib_dev *dev = to_xdev(ibdev);
	const struct reading of = {
		.table = &dev->gids,
		.entries = dev->gid_tbl_len,
		.size = sizeof(*gid),
		.most = XEN_VHCA_GIDS,
		.op = XEN_VHCA_OP_GID_QUERY,
	};

	return query_table(dev, &of, index, gid);
}

/*
 * Who reads P_Keys by sysfs asks for one after the other, and for each of them dom0 asks the HCA's
 * firmware. So the table is read once.
 */
int xenib_query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey)
{
	struct xenib_dev *dev = to_xdev(ibdev);
	const struct reading of = {
		.table = &dev->pkeys,
		.entries = dev->pkey_tbl_len,
		.size = sizeof(*pkey),
		.most = XEN_VHCA_PKEYS,
		.op = XEN_VHCA_OP_PKEY_QUERY,
		.told = dev->events,
	};

	return query_table(dev, &of, index, pkey);
}

static int UVERBS_HANDLER(XENIB_METHOD_CLOCK_QUERY)(struct uverbs_attr_bundle *attrs)
{
	struct xenib_cmd cmd = { .req.op = XEN_VHCA_OP_CLOCK_QUERY };
	struct ib_ucontext *ibuc = ib_uverbs_get_ucontext(attrs);
	int err;

	if (IS_ERR(ibuc))
		return PTR_ERR(ibuc);
	err = xenib_cmd_exec(to_xdev(ibuc->device)->ring, &cmd);
	if (err)
		return err;
	return uverbs_copy_to(attrs, XENIB_ATTR_CLOCK_QUERY_TICKS, &cmd.rsp.u.clock.ticks,
			      sizeof(cmd.rsp.u.clock.ticks));
}

DECLARE_UVERBS_NAMED_METHOD(XENIB_METHOD_CLOCK_QUERY,
			    UVERBS_ATTR_PTR_OUT(XENIB_ATTR_CLOCK_QUERY_TICKS, UVERBS_ATTR_TYPE(u64),
						UA_MANDATORY));

ADD_UVERBS_METHODS(xenib_device_methods, UVERBS_OBJECT_DEVICE,
		   &UVERBS_METHOD(XENIB_METHOD_CLOCK_QUERY));

const struct uapi_definition xenib_device_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DEVICE, &xenib_device_methods),
	{},
};

/*
 * Linux makes a QP 1 only for ports that have connections, so this says that they do, and
 * programs ask for a QP 0 before that, so it says that there is one (kernel/gsi.h).
 */
#define CAPS_OF_MANAGEMENT \
	(RDMA_CORE_CAP_IB_MAD | RDMA_CORE_CAP_IB_SMI | RDMA_CORE_CAP_IB_SA | RDMA_CORE_CAP_IB_CM)

/*
 * InfiniBand; management datagrams if the kernel may exchange them with the fabric. Without them
 * only the clients that do without (uverbs) attach to it.
 */
int xenib_get_port_immutable(struct ib_device *ibdev, u32 port, struct ib_port_immutable *immutable)
{
	struct xenib_dev *dev = to_xdev(ibdev);

	immutable->core_cap_flags = RDMA_CORE_CAP_PROT_IB;
	if (dev->kernel && dev->kernel->gsi.open) {
		immutable->core_cap_flags |= CAPS_OF_MANAGEMENT;
		immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	}
	immutable->gid_tbl_len = dev->gid_tbl_len;
	immutable->pkey_tbl_len = dev->pkey_tbl_len;
	return 0;
}

/* What the port says that it can is dom0's to say. The kernel's connection manager is content. */
int xenib_modify_port(struct ib_device *ibdev, u32 port, int mask, struct ib_port_modify *modify)
{
	u32 changed = modify->set_port_cap_mask | modify->clr_port_cap_mask;

	return mask || changed & ~IB_PORT_CM_SUP ? -EOPNOTSUPP : 0;
}

void xenib_get_fw_str(struct ib_device *ibdev, char *str)
{
	u64 ver = to_xdev(ibdev)->attr.fw_ver;

	snprintf(str, IB_FW_VERSION_NAME_MAX, "%u.%u.%04u", (u16)(ver >> 32), (u16)(ver >> 16),
		 (u16)ver);
}

/* What ibstat and its kin ask for by these names. */

static struct xenib_dev *dev_of(struct device *device)
{
	return rdma_device_to_drv_device(device, struct xenib_dev, ibdev);
}

static ssize_t hca_type_show(struct device *device, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "XENIB_MT%u\n", dev_of(device)->attr.vendor_part_id);
}
static DEVICE_ATTR_RO(hca_type);

static ssize_t hw_rev_show(struct device *device, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%x\n", dev_of(device)->attr.hw_ver);
}
static DEVICE_ATTR_RO(hw_rev);

/* The HCA's is dom0's. */
static ssize_t board_id_show(struct device *device, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "XEN_VHCA\n");
}
static DEVICE_ATTR_RO(board_id);

static struct attribute *attrs[] = {
	&dev_attr_board_id.attr,
	&dev_attr_hca_type.attr,
	&dev_attr_hw_rev.attr,
	NULL,
};

const struct attribute_group xenib_attr_group = {
	.attrs = attrs,
};
