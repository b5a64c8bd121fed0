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

#include "xenib.h"

/* The memory of a process with doorbell pages of a context. */
struct xenib_space {
	struct list_head link;
	struct xenib_ucontext *ctx;
	struct mm_struct *mm; /* its structure is kept, not its content */
	struct file *file;    /* to compare with; the mappings keep it */
};

void xenib_spaces_init(struct xenib_spaces *spaces)
{
	INIT_LIST_HEAD(&spaces->list);
	mutex_init(&spaces->lock);
}

static void space_free(struct xenib_space *space)
{
	mmdrop(space->mm);
	kfree(space);
}

static bool is_noted(const struct xenib_spaces *spaces, const struct xenib_ucontext *ctx,
		     const struct vm_area_struct *vma)
{
	struct xenib_space *space;

	list_for_each_entry(space, &spaces->list, link)
		if (space->ctx == ctx && space->mm == vma->vm_mm)
			return true;
	return false;
}

int xenib_space_note(struct xenib_ucontext *ctx, const struct vm_area_struct *vma)
{
	struct xenib_spaces *spaces = &ctx->dev->spaces;
	struct xenib_space *space;
	int err = 0;

	space = kmalloc(sizeof(*space), GFP_KERNEL);
	if (!space)
		return -ENOMEM;
	mutex_lock(&spaces->lock);
	if (spaces->revoked)
		err = -EIO;
	if (err || is_noted(spaces, ctx, vma)) {
		kfree(space);
	} else {
		mmgrab(vma->vm_mm);
		space->ctx = ctx;
		space->mm = vma->vm_mm;
		space->file = vma->vm_file;
		list_add(&space->link, &spaces->list);
	}
	mutex_unlock(&spaces->lock);
	return err;
}

void xenib_spaces_forget(struct xenib_ucontext *ctx)
{
	struct xenib_spaces *spaces = &ctx->dev->spaces;
	struct xenib_space *space, *next;

	mutex_lock(&spaces->lock);
	list_for_each_entry_safe(space, next, &spaces->list, link) {
		if (space->ctx != ctx)
			continue;
		list_del(&space->link);
		space_free(space);
	}
	mutex_unlock(&spaces->lock);
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
		zap_vma_ptes(vma, vma->vm_start, vma->vm_end - vma->vm_start);
		vm_flags_mod(vma, VM_MAYREAD | VM_MAYWRITE, VM_SHARED | VM_MAYSHARE);
		/* Cached again: Xen does not let a guest have its memory otherwise. */
		vma->vm_page_prot = vm_get_page_prot(vma->vm_flags);
	}
	mmap_write_unlock(mm);
}

static struct xenib_space *take_one(struct xenib_spaces *spaces)
{
	struct xenib_space *space;

	mutex_lock(&spaces->lock);
	spaces->revoked = true;
	space = list_first_entry_or_null(&spaces->list, struct xenib_space, link);
	if (space)
		list_del(&space->link);
	mutex_unlock(&spaces->lock);
	return space;
}

/* The lock is taken by those who hold a process's mmap_lock, so not the other way round. */
void xenib_spaces_revoke(struct xenib_spaces *spaces)
{
	struct xenib_space *space;

	while ((space = take_one(spaces))) {
		if (mmget_not_zero(space->mm)) {
			revoke_in(space->mm, space->file);
			mmput(space->mm);
		}
		space_free(space);
	}
}
