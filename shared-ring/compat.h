/* SPDX-License-Identifier: GPL-2.0 */
/*
 * compat.h - what kernels have by another name or in another shape, as the newest has it: for the
 * modules of guests, dom0 and driver domains.
 *
 * docs/kernels.md says which kernels they are tried with. A bound here tells which of those have
 * something, not in which release it came.
 */
#ifndef XENIB_COMPAT_H
#define XENIB_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)

#include <asm/unaligned.h>

/* A tracepoint's string was named twice. */
#define XENIB_ASSIGN_STR(field, text) __assign_str(field, text)
/* A CQ was made by its driver's part of the attributes. */
#define XENIB_CREATE_CQ(create) create##_by_udata
#define XENIB_DEFINE_CREATE_CQ(create) \
	static int create##_by_udata(struct ib_cq *cq, const struct ib_cq_init_attr *attr, \
				     struct ib_udata *udata) \
	{ \
		return create(cq, attr, \
			      udata ? container_of(udata, struct uverbs_attr_bundle, \
						   driver_udata) : \
				      NULL); \
	}
/* Memory of a dma-buf was registered by its driver's part of the attributes. */
#define XENIB_REG_DMABUF_MR(reg) reg
#define XENIB_DEFINE_REG_DMABUF_MR(reg)
/* A static attachment was mapped without a word about the lock. */
#define dma_buf_map_attachment_unlocked dma_buf_map_attachment
#define dma_buf_unmap_attachment_unlocked dma_buf_unmap_attachment
/* "rdma resource" did not tell of an SRQ what its driver knows. This is so without saying it. */
#define XENIB_FILL_SRQ_OP(fill) .uverbs_no_driver_id_binding = 0
/* A mapping's flags were a plain number, under mmap_lock alone. */
#define vma_start_write(vma)
#define vm_flags_set(vma, flags) ((vma)->vm_flags |= (flags))
#define vm_flags_clear(vma, flags) ((vma)->vm_flags &= ~(flags))
#define vm_flags_mod(vma, set, clear) ((vma)->vm_flags = ((vma)->vm_flags | (set)) & ~(clear))

#else

#include <linux/unaligned.h>

#define XENIB_ASSIGN_STR(field, text) __assign_str(field)
#define XENIB_CREATE_CQ(create) create
#define XENIB_DEFINE_CREATE_CQ(create)
#define XENIB_FILL_SRQ_OP(fill) .fill_res_srq_entry = fill

#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 2, 0)

#include <net/ipv6_stubs.h>

/* A namespace was a word. */
#undef MODULE_IMPORT_NS
#define MODULE_IMPORT_NS(name) MODULE_INFO(import_ns, name)
/* A timer's function was set behind its beginning. */
#define hrtimer_setup(timer, what, clock, mode) \
	do { \
		hrtimer_init(timer, clock, mode); \
		(timer)->function = what; \
	} while (0)
/* IPv6 was a module. */
#define XENIB_IPV6_DEV_FIND ipv6_stub->ipv6_dev_find
/* The state of the other end was read without the device. */
#define XENIB_OTHEREND_STATE(xbdev) xenbus_read_driver_state((xbdev)->otherend)
/* The kernel's own CQs could be resized, too. */
#define XENIB_RESIZE_CQ_OP(resize) .resize_cq = resize##_signed
#define XENIB_DEFINE_RESIZE_CQ(resize) \
	static int resize##_signed(struct ib_cq *cq, int cqe, struct ib_udata *udata) \
	{ \
		return udata && cqe > 0 ? resize(cq, cqe, udata) : -EINVAL; \
	}
/* A process's memory was found by its address alone. */
#define XENIB_UMEM_GET ib_umem_get
/* Page table entries without a struct page */
#define XENIB_ZAP_SPECIAL zap_vma_ptes
/* Registration had no hints for the host's caches. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#define XENIB_REG_DMABUF_MR(reg) reg##_by_attrs
#define XENIB_DEFINE_REG_DMABUF_MR(reg) \
	static struct ib_mr *reg##_by_attrs(struct ib_pd *pd, u64 offset, u64 length, u64 iova, \
					    int fd, int access, struct uverbs_attr_bundle *attrs) \
	{ \
		return reg(pd, offset, length, iova, fd, access, &attrs->driver_udata); \
	}
#endif
#define XENIB_REG_USER_MR(reg) reg
#define XENIB_DEFINE_REG_USER_MR(reg)
/* DMA operations were given a page, and an offset that may lead beyond it. */
#define XENIB_MAP_OP(map) .map_page = map##_page
#define XENIB_UNMAP_OP(unmap) .unmap_page = unmap
#define XENIB_DEFINE_MAP_OP(map) \
	static dma_addr_t map##_page(struct device *dev, struct page *page, unsigned long offset, \
				     size_t size, enum dma_data_direction dir, \
				     unsigned long attrs) \
	{ \
		return map(dev, page_to_phys(page) + offset, size, dir, attrs); \
	}
/* They were not given a device's registers. */
#define DMA_ATTR_MMIO 0
/* Work on any processor had its queue by another name. */
#define system_dfl_wq system_unbound_wq

#else

#define XENIB_IPV6_DEV_FIND ipv6_dev_find
#define XENIB_OTHEREND_STATE(xbdev) xenbus_read_driver_state(xbdev, (xbdev)->otherend)
#define XENIB_RESIZE_CQ_OP(resize) .resize_user_cq = resize
#define XENIB_DEFINE_RESIZE_CQ(resize)
#define XENIB_UMEM_GET ib_umem_get_va
#define XENIB_ZAP_SPECIAL zap_special_vma_range
#define XENIB_REG_USER_MR(reg) reg##_without_dmah
#define XENIB_DEFINE_REG_USER_MR(reg) \
	static struct ib_mr *reg##_without_dmah(struct ib_pd *pd, u64 start, u64 length, u64 iova, \
						int access, struct ib_dmah *dmah, \
						struct ib_udata *udata) \
	{ \
		return dmah ? ERR_PTR(-EOPNOTSUPP) : reg(pd, start, length, iova, access, udata); \
	}
#define XENIB_REG_DMABUF_MR(reg) reg##_by_attrs
#define XENIB_DEFINE_REG_DMABUF_MR(reg) \
	static struct ib_mr *reg##_by_attrs(struct ib_pd *pd, u64 offset, u64 length, u64 iova, \
					    int fd, int access, struct ib_dmah *dmah, \
					    struct uverbs_attr_bundle *attrs) \
	{ \
		return dmah ? ERR_PTR(-EOPNOTSUPP) : \
			      reg(pd, offset, length, iova, fd, access, &attrs->driver_udata); \
	}
#define XENIB_MAP_OP(map) .map_phys = map
#define XENIB_UNMAP_OP(unmap) .unmap_phys = unmap
#define XENIB_DEFINE_MAP_OP(map)

#endif

#endif
