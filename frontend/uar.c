// SPDX-License-Identifier: GPL-2.0
/*
 * uar.c - doorbell pages (UARs): the driver's own ioctl object, and their mapping into a process.
 *
 * A page goes back to the backend when both its handle and all mappings of it are gone: the RDMA
 * core counts the latter, and replaces them by ordinary memory when the device disappears.
 */
#include <linux/ioport.h>
#include <linux/mm.h>
#include <linux/pci.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <rdma/uverbs_std_types.h>
#include <xen/features.h>
#include <xen/page.h>
#include <xen/xen-ops.h>

#include "compat.h"
#include "xenib.h"

#define UVERBS_MODULE_NAME xenib
#include <rdma/uverbs_named_ioctl.h>

struct xenib_uar *xenib_uar_get(struct xenib_context *ctx, u32 index)
{
	struct xenib_uar *uar;

	xa_lock(&ctx->uars);
	uar = xa_load(&ctx->uars, index);
	if (uar)
		uar->queues++;
	xa_unlock(&ctx->uars);
	return uar;
}

void xenib_uar_hold(struct xenib_uar *uar)
{
	struct xenib_context *ctx = uar->ctx;

	xa_lock(&ctx->uars);
	uar->queues++;
	xa_unlock(&ctx->uars);
}

void xenib_uar_put(struct xenib_uar *uar)
{
	struct xenib_context *ctx = uar->ctx;
	bool last;

	xa_lock(&ctx->uars);
	last = !--uar->queues && uar->dropped;
	xa_unlock(&ctx->uars);
	if (last)
		rdma_user_mmap_entry_remove(&uar->entry);
}

/*
 * A PV guest's map of resources has machine addresses, as far as it is about devices, beside the
 * numbers that the guest itself has given to its memory, which mean nothing here.
 */
static int found_device(struct resource *res, void *arg)
{
	return !(res->flags & IORESOURCE_SYSRAM);
}

static bool is_in_resource_map(u64 addr)
{
	return !pfn_valid(PHYS_PFN(addr)) &&
	       walk_iomem_res_desc(IORES_DESC_NONE, IORESOURCE_MEM, addr, addr + PAGE_SIZE - 1,
				   NULL, found_device) > 0;
}

static bool is_in_bar_of(struct pci_dev *pdev, u64 addr)
{
	struct resource *res;

	pci_dev_for_each_resource(pdev, res) {
		if (resource_type(res) == IORESOURCE_MEM && addr >= res->start && addr <= res->end)
			return true;
	}
	return false;
}

static bool is_in_bar(u64 addr)
{
	struct pci_dev *pdev = NULL;

	for_each_pci_dev(pdev) {
		if (is_in_bar_of(pdev, addr)) {
			pci_dev_put(pdev);
			return true;
		}
	}
	return false;
}

/*
 * Whether a process may have this frame as a doorbell page. An auto-translated guest has chosen the
 * frame itself. To a PV guest Xen refuses the frames of others, but not its own: with one of its
 * memory a process would have what the kernel keeps there, with one of a device that was given to
 * the guest it would have that device. bfn_to_local_pfn() and the page tables take less of a frame
 * number than there is, so what does not fit comes first.
 */
static bool frame_is_usable(u64 frame)
{
	u64 addr;

	if (xen_feature(XENFEAT_auto_translated_physmap))
		return true;
	if (frame >> (boot_cpu_data.x86_phys_bits - PAGE_SHIFT))
		return false;
	addr = frame << PAGE_SHIFT;
	return bfn_to_local_pfn(frame) == -1UL && addr >= SZ_1M && !is_in_resource_map(addr) &&
	       !is_in_bar(addr);
}

int xenib_uar_offer(struct xenib_uar *uar)
{
	struct xenib_dev *dev = uar->ctx->dev;
	struct xenib_cmd cmd = { .req.op = XEN_VHCA_OP_UAR_ALLOC };
	struct xen_vhca_new_uar *answer = &cmd.rsp.u.uar;
	u64 gfn;
	int err;

	if (uar->type == XENIB_UAR_BF && READ_ONCE(dev->no_bf))
		return -EOPNOTSUPP;
	err = xenib_gfn_get(dev->gfns, &gfn);
	if (err)
		return -ENOMEM;
	cmd.req.u.uar_alloc.ctx = uar->ctx->handle;
	cmd.req.u.uar_alloc.type = uar->type == XENIB_UAR_BF ? XEN_VHCA_UAR_BF : XEN_VHCA_UAR_NC;
	cmd.req.u.uar_alloc.gfn = gfn;
	err = xenib_cmd_exec(dev->ring, &cmd);
	if (err == -EOPNOTSUPP && uar->type == XENIB_UAR_BF)
		WRITE_ONCE(dev->no_bf, true);
	if (err)
		goto err_put_gfn;

	if (!frame_is_usable(answer->frame)) {
		ibdev_err_ratelimited(&dev->ibdev,
				      "refusing frame %#llx of the backend as a doorbell page\n",
				      answer->frame);
		err = -EIO;
		goto err_free;
	}
	uar->handle = answer->handle;
	uar->frame = gfn ?: answer->frame;
	uar->bf_size = answer->bf_size;
	uar->bf_offset = answer->bf_offset;
	return 0;

err_free:
	xenib_cmd_destroy(dev->ring, XEN_VHCA_OP_UAR_FREE, answer->handle);
err_put_gfn:
	xenib_gfn_put(dev->gfns, gfn);
	return err;
}

/* Perhaps in interrupt context. */
static void put_place(void *gfns, u64 gfn)
{
	xenib_gfn_put(gfns, gfn);
}

/*
 * Also at the end of the last mapping, in munmap(). A page that is not given back
 * keeps its place.
 */
void xenib_uar_return(struct xenib_uar *uar)
{
	struct xenib_dev *dev = uar->ctx->dev;

	xenib_cmd_retire(dev->ring, XEN_VHCA_OP_UAR_FREE, uar->handle, put_place, dev->gfns,
			 uar->frame);
}

struct xenib_uar *xenib_uar_create(struct ib_ucontext *ibuc, enum xenib_uar_type type,
				   u32 first_pgoff)
{
	struct xenib_context *ctx = &to_xucontext(ibuc)->ctx;
	struct xenib_uar *uar;
	int err;

	uar = kzalloc(sizeof(*uar), GFP_KERNEL);
	if (!uar)
		return ERR_PTR(-ENOMEM);
	uar->ctx = ctx;
	uar->type = type;
	err = xenib_uar_offer(uar);
	if (err)
		goto err_free;
	err = rdma_user_mmap_entry_insert_range(ibuc, &uar->entry, PAGE_SIZE, first_pgoff, U32_MAX);
	if (err)
		goto err_return;
	/* Reserved: it names nothing until xenib_uar_publish(). */
	err = xa_alloc(&ctx->uars, &uar->index, NULL, xa_limit_31b, GFP_KERNEL);
	if (err) {
		rdma_user_mmap_entry_remove(&uar->entry); /* frees uar */
		return ERR_PTR(err);
	}
	return uar;

err_return:
	xenib_uar_return(uar);
err_free:
	kfree(uar);
	return ERR_PTR(err);
}

void xenib_uar_publish(struct xenib_uar *uar)
{
	/* In a reserved place: cannot fail. */
	xa_store(&uar->ctx->uars, uar->index, uar, GFP_KERNEL);
}

void xenib_mmap_free(struct rdma_user_mmap_entry *entry)
{
	struct xenib_uar *uar = container_of(entry, struct xenib_uar, entry);

	xenib_uar_return(uar);
	kfree(uar);
}

void xenib_uar_drop(struct xenib_uar *uar)
{
	struct xenib_context *ctx = uar->ctx;
	bool last;

	xa_lock(&ctx->uars);
	__xa_erase(&ctx->uars, uar->index);
	uar->dropped = true;
	last = !uar->queues;
	xa_unlock(&ctx->uars);
	if (last)
		rdma_user_mmap_entry_remove(&uar->entry);
}

int xenib_uar_drop_idle(struct xenib_uar *uar)
{
	struct xenib_context *ctx = uar->ctx;

	xa_lock(&ctx->uars);
	if (uar->queues) {
		xa_unlock(&ctx->uars);
		return -EBUSY;
	}
	__xa_erase(&ctx->uars, uar->index);
	xa_unlock(&ctx->uars);
	rdma_user_mmap_entry_remove(&uar->entry);
	return 0;
}

static int uar_cleanup(struct ib_uobject *uobject, enum rdma_remove_reason why,
		       struct uverbs_attr_bundle *attrs)
{
	return xenib_uar_drop_idle(uobject->object);
}

static pgprot_t uar_prot(const struct xenib_uar *uar, pgprot_t prot)
{
	return uar->type == XENIB_UAR_BF ? pgprot_writecombine(prot) : pgprot_noncached(prot);
}

static int map_machine_frame(struct vm_area_struct *vma, const struct xenib_uar *uar)
{
	xen_pfn_t mfn = uar->frame;
	int err = 0, ret;

	ret = xen_remap_domain_mfn_array(vma, vma->vm_start, &mfn, 1, &err,
					 uar_prot(uar, vma->vm_page_prot), DOMID_SELF);
	if (ret == 1)
		return 0;
	return ret < 0 ? ret : -EIO;
}

/*
 * A PV guest's page is a machine frame, which no guest frame number names: so the core's
 * rdma_user_mmap_io() cannot map it, yet only through that the core keeps track of the mapping. It
 * is given a page of nothing, which is taken out again, before the machine frame is put in. After
 * it nothing may fail, because the core would keep track of a mapping that is not; therefore the
 * machine frame is tried before.
 */
static int mmap_pv(struct ib_ucontext *ibuc, struct vm_area_struct *vma, struct xenib_uar *uar)
{
	struct page *nothing;
	int err;

	err = xenib_space_note(uar->ctx, vma);
	if (err)
		return err;
	vm_flags_set(vma, VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP);
	/*
	 * An entry of the page table with a machine frame reads as if nothing were there. Nothing
	 * may make it anew out of what it reads, as mprotect() does for any rights but none.
	 * uar_revoke.c ends that with the device.
	 */
	vm_flags_clear(vma, VM_MAYREAD | VM_MAYWRITE | VM_MAYEXEC);
	err = map_machine_frame(vma, uar);
	if (err)
		return err;
	XENIB_ZAP_SPECIAL(vma, vma->vm_start, PAGE_SIZE);

	nothing = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!nothing)
		return -ENOMEM;
	err = rdma_user_mmap_io(ibuc, vma, page_to_pfn(nothing), PAGE_SIZE, vma->vm_page_prot,
				&uar->entry);
	XENIB_ZAP_SPECIAL(vma, vma->vm_start, PAGE_SIZE);
	__free_page(nothing);
	if (err)
		return err;

	/* From here a failure leaves the core's substitute: doorbells would be lost. */
	err = map_machine_frame(vma, uar);
	if (err)
		ibdev_err_ratelimited(ibuc->device, "doorbell page %u cannot be mapped: %d\n",
				      uar->index, err);
	vma->vm_page_prot = uar_prot(uar, vma->vm_page_prot);
	return 0;
}

static int mmap_translated(struct ib_ucontext *ibuc, struct vm_area_struct *vma,
			   struct xenib_uar *uar)
{
	return rdma_user_mmap_io(ibuc, vma, uar->frame, PAGE_SIZE, uar_prot(uar, vma->vm_page_prot),
				 &uar->entry);
}

int xenib_mmap(struct ib_ucontext *ibuc, struct vm_area_struct *vma)
{
	struct xenib_dev *dev = to_xdev(ibuc->device);
	struct rdma_user_mmap_entry *entry;
	struct xenib_uar *uar;
	int err;

	if (vma->vm_flags & VM_EXEC)
		return xenib_refuse(dev, -EPERM, "an executable mapping");
	if (!(vma->vm_flags & VM_WRITE))
		return xenib_refuse(dev, -EACCES, "a read-only mapping");
	entry = rdma_user_mmap_entry_get(ibuc, vma);
	if (!entry)
		return xenib_refuse(dev, -EINVAL, "no doorbell page at offset %#lx pages",
				    vma->vm_pgoff);
	uar = container_of(entry, struct xenib_uar, entry);

	vm_flags_mod(vma, VM_DONTCOPY, VM_MAYEXEC);
	if (xen_feature(XENFEAT_auto_translated_physmap))
		err = mmap_translated(ibuc, vma, uar);
	else
		err = mmap_pv(ibuc, vma, uar);

	rdma_user_mmap_entry_put(entry);
	return err;
}

static int UVERBS_HANDLER(XENIB_METHOD_UAR_ALLOC)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj = uverbs_attr_get_uobject(attrs, XENIB_ATTR_UAR_ALLOC_HANDLE);
	struct xenib_uar_alloc_resp resp = {};
	struct ib_ucontext *ibuc;
	enum xenib_uar_type type;
	struct xenib_uar *uar;
	int err;

	ibuc = ib_uverbs_get_ucontext(attrs);
	if (IS_ERR(ibuc))
		return PTR_ERR(ibuc);
	err = uverbs_get_const(&type, attrs, XENIB_ATTR_UAR_ALLOC_TYPE);
	if (err)
		return err;
	if (type != XENIB_UAR_NC && type != XENIB_UAR_BF)
		return xenib_refuse(to_xdev(ibuc->device), -EOPNOTSUPP, "doorbell page of type %u",
				    type);

	uar = xenib_uar_create(ibuc, type, 0);
	if (IS_ERR(uar))
		return PTR_ERR(uar);
	resp.mmap_offset = rdma_user_mmap_get_offset(&uar->entry);
	resp.index = uar->index;
	resp.bf_size = uar->bf_size;
	resp.bf_offset = uar->bf_offset;

	uobj->object = uar;
	uverbs_finalize_uobj_create(attrs, XENIB_ATTR_UAR_ALLOC_HANDLE);
	err = uverbs_copy_to_struct_or_zero(attrs, XENIB_ATTR_UAR_ALLOC_RESP, &resp, sizeof(resp));
	if (err)
		return err;
	xenib_uar_publish(uar);
	return 0;
}

DECLARE_UVERBS_NAMED_METHOD(XENIB_METHOD_UAR_ALLOC,
			    UVERBS_ATTR_IDR(XENIB_ATTR_UAR_ALLOC_HANDLE, XENIB_OBJECT_UAR,
					    UVERBS_ACCESS_NEW, UA_MANDATORY),
			    UVERBS_ATTR_CONST_IN(XENIB_ATTR_UAR_ALLOC_TYPE, enum xenib_uar_type,
						 UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(XENIB_ATTR_UAR_ALLOC_RESP,
						UVERBS_ATTR_STRUCT(struct xenib_uar_alloc_resp,
								   reserved),
						UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD_DESTROY(XENIB_METHOD_UAR_FREE,
				    UVERBS_ATTR_IDR(XENIB_ATTR_UAR_FREE_HANDLE, XENIB_OBJECT_UAR,
						    UVERBS_ACCESS_DESTROY, UA_MANDATORY));

DECLARE_UVERBS_NAMED_OBJECT(XENIB_OBJECT_UAR, UVERBS_TYPE_ALLOC_IDR(uar_cleanup),
			    &UVERBS_METHOD(XENIB_METHOD_UAR_ALLOC),
			    &UVERBS_METHOD(XENIB_METHOD_UAR_FREE));

const struct uapi_definition xenib_uar_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(XENIB_OBJECT_UAR),
	{},
};
