// SPDX-License-Identifier: GPL-2.0
/*
 * main.c - xen-ibgrant: guests' pages become dma-bufs, and guests are told of completions, for the
 * HCA that dom0 or a driver domain has (xen-ibgrant.h). The daemon's worker for a guest might be in
 * that guest's hands. So what the device takes is numbers from a stranger, and of one domain, which
 * root has chosen.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/uaccess.h>
#include <linux/uidgid.h>
#include <xen/xen.h>

#include "compat.h"
#include "grant.h"

static int get_mapped(char *buffer, const struct kernel_param *kp)
{
	return scnprintf(buffer, PAGE_SIZE, "%llu\n", ibgrant_mapped());
}

static const struct kernel_param_ops mapped_ops = {
	.get = get_mapped,
};

module_param_cb(mapped, &mapped_ops, NULL, 0444);
MODULE_PARM_DESC(mapped, "grants that are mapped now (read only)");

/* A file has an owner from XEN_IBGRANT_BIND on, for good. */
static struct ibgrant_owner *owner_of(struct file *file)
{
	return READ_ONCE(file->private_data);
}

static int bind_file(struct file *file, const void __user *from)
{
	struct xen_ibgrant_bind arg;
	struct ibgrant_owner *owner;

	if (!uid_eq(current_euid(), GLOBAL_ROOT_UID)) /* the daemon has no CAP_SYS_ADMIN */
		return -EPERM;
	if (copy_from_user(&arg, from, sizeof(arg)))
		return -EFAULT;
	if (arg.domid >= DOMID_FIRST_RESERVED || !arg.pages || arg.reserved ||
	    arg.flags & ~XEN_IBGRANT_TRANSLATED)
		return -EINVAL;
	owner = ibgrant_owner_new(arg.domid, arg.pages);
	if (!owner)
		return -ENOMEM;
	owner->may_read_only = arg.flags & XEN_IBGRANT_TRANSLATED || !xen_pv_domain();
	if (cmpxchg(&file->private_data, NULL, owner)) {
		ibgrant_owner_put(owner);
		return -EBUSY;
	}
	return 0;
}

/* A descriptor of a dma-buf, which is the caller's; @to: where it is told. */
static int give(struct dma_buf *dmabuf, __s32 __user *to)
{
	int fd = get_unused_fd_flags(O_CLOEXEC);

	if (fd < 0)
		goto err_put;
	if (put_user(fd, to)) {
		put_unused_fd(fd);
		fd = -EFAULT;
		goto err_put;
	}
	fd_install(fd, dmabuf->file);
	return 0;

err_put:
	dma_buf_put(dmabuf);
	return fd;
}

static int create(struct ibgrant_owner *owner, struct xen_ibgrant_create __user *user)
{
	struct xen_ibgrant_create arg;
	struct ibgrant_buf *buf;
	struct dma_buf *dmabuf;

	if (copy_from_user(&arg, user, sizeof(arg)))
		return -EFAULT;
	if (!arg.pages || arg.pages > XEN_IBGRANT_MAX_PAGES || arg.reserved ||
	    arg.flags & ~XEN_IBGRANT_READ_ONLY)
		return -EINVAL;
	if (arg.flags & XEN_IBGRANT_READ_ONLY && !owner->may_read_only)
		return -EOPNOTSUPP;
	buf = ibgrant_buf_new(owner, arg.pages, arg.flags & XEN_IBGRANT_READ_ONLY);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	dmabuf = ibgrant_export(buf, 0, arg.pages, true);
	ibgrant_buf_put(buf);
	return IS_ERR(dmabuf) ? PTR_ERR(dmabuf) : give(dmabuf, &user->fd);
}

/* That of this file's whose descriptor it is: all of a buffer. */
static struct dma_buf *get_whole(struct ibgrant_owner *owner, int fd)
{
	struct dma_buf *dmabuf = dma_buf_get(fd);
	struct ibgrant_view *view;
	int err = 0;

	if (IS_ERR(dmabuf))
		return dmabuf;
	view = ibgrant_view_of(dmabuf);
	if (!view || !view->whole)
		err = -EINVAL;
	else if (view->buf->owner != owner)
		err = -EPERM;
	if (!err)
		return dmabuf;
	dma_buf_put(dmabuf);
	return ERR_PTR(err);
}

static int add(struct ibgrant_owner *owner, const struct xen_ibgrant_add __user *user)
{
	struct xen_ibgrant_add arg;
	struct dma_buf *dmabuf;
	struct ibgrant_view *view;
	int err = -EINVAL;

	if (copy_from_user(&arg, user, sizeof(arg)))
		return -EFAULT;
	dmabuf = get_whole(owner, arg.fd);
	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	view = ibgrant_view_of(dmabuf);
	if (!arg.reserved && arg.count <= XEN_IBGRANT_MAX_ADD &&
	    ibgrant_fits(arg.first, arg.count, view->count))
		err = ibgrant_buf_add(view->buf, arg.first, arg.count, u64_to_user_ptr(arg.refs));
	dma_buf_put(dmabuf);
	return err;
}

static struct dma_buf *export_range(const struct ibgrant_view *view, u32 first, u32 count)
{
	if (!ibgrant_fits(first, count, view->count))
		return ERR_PTR(-EINVAL);
	if (!ibgrant_buf_complete(view->buf))
		return ERR_PTR(-ENODATA);
	return ibgrant_export(view->buf, first, count, false);
}

static int range(struct ibgrant_owner *owner, struct xen_ibgrant_range __user *user)
{
	struct dma_buf *whole, *part;
	struct xen_ibgrant_range arg;

	if (copy_from_user(&arg, user, sizeof(arg)))
		return -EFAULT;
	whole = get_whole(owner, arg.fd);
	if (IS_ERR(whole))
		return PTR_ERR(whole);
	part = export_range(ibgrant_view_of(whole), arg.first, arg.count);
	dma_buf_put(whole);
	return IS_ERR(part) ? PTR_ERR(part) : give(part, &user->range);
}

static long ibgrant_ioctl(struct file *file, unsigned int request, unsigned long arg)
{
	struct ibgrant_owner *owner = owner_of(file);
	void __user *user = (void __user *)arg;

	if (request == XEN_IBGRANT_BIND)
		return bind_file(file, user);
	if (!owner)
		return -EPERM;
	switch (request) {
	case XEN_IBGRANT_CREATE:
		return create(owner, user);
	case XEN_IBGRANT_ADD:
		return add(owner, user);
	case XEN_IBGRANT_RANGE:
		return range(owner, user);
	case XEN_IBGRANT_EVENTS:
		return ibgrant_events(owner, user);
	default:
		return -ENOTTY;
	}
}

static int ibgrant_open(struct inode *inode, struct file *file)
{
	file->private_data = NULL; /* the miscdevice */
	return stream_open(inode, file);
}

static int ibgrant_release(struct inode *inode, struct file *file)
{
	if (owner_of(file))
		ibgrant_owner_put(owner_of(file));
	return 0;
}

static const struct file_operations ibgrant_fops = {
	.owner = THIS_MODULE,
	.open = ibgrant_open,
	.release = ibgrant_release,
	.unlocked_ioctl = ibgrant_ioctl,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "xen-ib-grant",
	.mode = 0600,
	.fops = &ibgrant_fops,
};

static int __init xen_ibgrant_init(void)
{
	BUILD_BUG_ON(PAGE_SHIFT != IBGRANT_PAGE_SHIFT);
	return xen_domain() ? misc_register(&device) : -ENODEV;
}

static void __exit xen_ibgrant_exit(void)
{
	misc_deregister(&device);
}

module_init(xen_ibgrant_init);
module_exit(xen_ibgrant_exit);

MODULE_IMPORT_NS("DMA_BUF");
MODULE_DESCRIPTION("Pages that Xen guests have granted, as dma-bufs, and their completion events");
MODULE_AUTHOR("The Xen-IB maintainers");
#ifdef XEN_IB_RELEASE
MODULE_VERSION(XEN_IB_RELEASE);
#endif
MODULE_LICENSE("GPL");
