// SPDX-License-Identifier: GPL-2.0
/*
 * uar_revoke.c - takes doorbell pages from the processes of a PV guest when the device goes.
 *
 * The RDMA core replaces the mappings of a device that goes by a page of ordinary memory, which it
 * puts in when a process touches its mapping the next time. In a PV guest it cannot: to keep
 * mprotect() away from entries that hold machine frames, such a mapping may not be made readable or
 * writable again (see uar.c), and the kernel takes a write fault in one for a mistake of its own,
 * and kills. So before the core is at it, the machine frames are taken out here, and with them what
 * kept mprotect() away.
 *
 * Which processes have mappings is written down when they make them; where these are by now is
 * looked up.
 */
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <xen/features.h>

#include "compat.h"
#include "xenib.h"

/* The memory of a process with doorbell pages of a context. */
struct xenib_uar_mm {
	struct list_head link;
	struct xenib_context *ctx;
	struct mm_struct *mm; /* its structure is kept, not its content */
	struct file *file;    /* to compare with; the mappings keep it */
};

void xenib_uar_mms_init(struct xenib_uar_mms *uar_mms)
{
	INIT_LIST_HEAD(&uar_mms->list);
	mutex_init(&uar_mms->lock);
}

static void uar_mm_free(struct xenib_uar_mm *uar_mm)
{
	mmdrop(uar_mm->mm);
	kfree(uar_mm);
}

static bool is_noted(const struct xenib_uar_mms *uar_mms, const struct xenib_context *ctx,
		     const struct vm_area_struct *vma)
{
	struct xenib_uar_mm *uar_mm;

	list_for_each_entry(uar_mm, &uar_mms->list, link)
		if (uar_mm->ctx == ctx && uar_mm->mm == vma->vm_mm)
			return true;
	return false;
}

int xenib_space_note(struct xenib_context *ctx, const struct vm_area_struct *vma)
{
	struct xenib_uar_mms *uar_mms = &ctx->dev->uar_mms;
	struct xenib_uar_mm *uar_mm;
	int err = 0;

	uar_mm = kmalloc(sizeof(*uar_mm), GFP_KERNEL);
	if (!uar_mm)
		return -ENOMEM;
	mutex_lock(&uar_mms->lock);
	if (uar_mms->revoked)
		err = -EIO;
	if (err || is_noted(uar_mms, ctx, vma)) {
		kfree(uar_mm);
	} else {
		mmgrab(vma->vm_mm);
		uar_mm->ctx = ctx;
		uar_mm->mm = vma->vm_mm;
		uar_mm->file = vma->vm_file;
		list_add(&uar_mm->link, &uar_mms->list);
	}
	mutex_unlock(&uar_mms->lock);
	return err;
}

void xenib_spaces_forget(struct xenib_context *ctx)
{
	struct xenib_uar_mms *uar_mms = &ctx->dev->uar_mms;
	struct xenib_uar_mm *uar_mm, *next;

	mutex_lock(&uar_mms->lock);
	list_for_each_entry_safe(uar_mm, next, &uar_mms->list, link) {
		if (uar_mm->ctx != ctx)
			continue;
		list_del(&uar_mm->link);
		uar_mm_free(uar_mm);
	}
	mutex_unlock(&uar_mms->lock);
}

/*
 * What is put into the mapping from now on is ordinary memory. For that to be given back it must be
 * a private mapping: of others with VM_PFNMAP the kernel does not expect that.
 *
 * Page faults need no mmap_lock, but the mapping's own: it is taken before the entries go, so that
 * nobody finds them gone and the mapping not yet writable. mmap_write_unlock() gives it back.
 */
static void revoke_in(struct mm_struct *mm, const struct file *file)
{
	VMA_ITERATOR(vmi, mm, 0);
	struct vm_area_struct *vma;

	mmap_write_lock(mm);
	for_each_vma(vmi, vma) {
		if (vma->vm_file != file || !(vma->vm_flags & VM_PFNMAP))
			continue;
		vma_start_write(vma);
		XENIB_ZAP_SPECIAL(vma, vma->vm_start, vma->vm_end - vma->vm_start);
		vm_flags_mod(vma, VM_MAYREAD | VM_MAYWRITE, VM_SHARED | VM_MAYSHARE);
		/* Cached again: Xen does not let a guest have its memory otherwise. */
		vma->vm_page_prot = vm_get_page_prot(vma->vm_flags);
	}
	mmap_write_unlock(mm);
}

static struct xenib_uar_mm *take_one(struct xenib_uar_mms *uar_mms)
{
	struct xenib_uar_mm *uar_mm;

	mutex_lock(&uar_mms->lock);
	uar_mms->revoked = true;
	uar_mm = list_first_entry_or_null(&uar_mms->list, struct xenib_uar_mm, link);
	if (uar_mm)
		list_del(&uar_mm->link);
	mutex_unlock(&uar_mms->lock);
	return uar_mm;
}

/* The lock is taken by those who hold a process's mmap_lock, so not the other way round. */
void xenib_uar_mms_revoke(struct xenib_uar_mms *uar_mms)
{
	struct xenib_uar_mm *uar_mm;

	while ((uar_mm = take_one(uar_mms))) {
		if (mmget_not_zero(uar_mm->mm)) {
			revoke_in(uar_mm->mm, uar_mm->file);
			mmput(uar_mm->mm);
		}
		uar_mm_free(uar_mm);
	}
}
