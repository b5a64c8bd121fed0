// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The commands of vfio-user. Each checks its message as a whole before it does anything. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include <linux/vfio.h>

#include "bus/dma.h"
#include "bus/vfio_user_msg.h"

#define VERSION_MAJOR 0
#define VERSION_TEXT_MAX 4096u

/* INTx and MSI have no vectors; of errors and requests (the indices above) QEMU need not know. */
#define NUM_IRQS (VFIO_PCI_MSIX_IRQ_INDEX + 1)

void vfu_function_reset(struct vfu_function *f)
{
	hca_reset(f->hca);
	pci_reset(&f->pci);
	msix_reset(&f->msix);
	dma_enable(f->hca->dma, false);
}

/* The capabilities of ours that the client has named too: the reply must be a subset. */
static uint32_t version_reply(char *out, size_t size, const char *asked)
{
	static const struct {
		const char *name, *value;
	} ours[] = {
		{ "max_msg_fds", "16" },      { "max_data_xfer_size", "65536" },
		{ "max_dma_maps", "16384" },  { "pgsizes", "4096" },
		{ "write_multiple", "true" },
	};
	const char *separator = "";
	size_t at;

	_Static_assert(VFU_MAX_FDS == 16 && VFU_MAX_DATA == 65536 && DMA_MAX_REGIONS == 16384 &&
			       DMA_PAGE_SIZE == 4096,
		       "what is announced");

	at = (size_t)snprintf(out, size, "{\"capabilities\":{");
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		if (!strstr(asked, ours[i].name))
			continue;
		at += (size_t)snprintf(out + at, size - at, "%s\"%s\":%s", separator, ours[i].name,
				       ours[i].value);
		separator = ",";
	}
	at += (size_t)snprintf(out + at, size - at, "}}");
	return (uint32_t)at + 1;
}

static int do_version(struct vfu_function *f, struct vfu_msg *msg)
{
	const char *asked = (const char *)msg->payload + sizeof(struct vfu_version);
	uint32_t asked_len = msg->len - sizeof(struct vfu_version);
	struct vfu_version version;

	if (f->negotiated)
		return -EPROTO;
	memcpy(&version, msg->payload, sizeof(version));
	if (version.major != VERSION_MAJOR) {
		hca_log(f->hca, HCA_LOG_ERROR, "vfio-user version %u.%u is not spoken here",
			version.major, version.minor);
		return -EPROTO;
	}
	if (!asked_len)
		asked = "";
	else if (asked_len > VERSION_TEXT_MAX ||
		 memchr(asked, 0, asked_len) != asked + asked_len - 1)
		return -EPROTO;

	version.minor = 0;
	memcpy(msg->reply, &version, sizeof(version));
	msg->reply_len = sizeof(version) + version_reply((char *)msg->reply + sizeof(version),
							 VERSION_TEXT_MAX, asked);
	f->negotiated = true;
	return 0;
}

static int do_dma_map(struct vfu_function *f, struct vfu_msg *msg)
{
	const uint32_t known = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE;
	struct vfu_dma_map map;
	unsigned int prot = 0;
	int ret;

	memcpy(&map, msg->payload, sizeof(map));
	if (!map.flags || map.flags & ~known)
		return -EINVAL;
	if (map.flags & VFIO_DMA_MAP_FLAG_READ)
		prot |= DMA_PROT_READ;
	if (map.flags & VFIO_DMA_MAP_FLAG_WRITE)
		prot |= DMA_PROT_WRITE;
	ret = dma_map(f->hca->dma, map.address, map.size, msg->fd_count ? msg->fds[0] : -1,
		      map.offset, prot);
	hca_log(f->hca, HCA_LOG_TRACE, "map 0x%llx+0x%llx %s: %d", (unsigned long long)map.address,
		(unsigned long long)map.size, msg->fd_count ? "" : "(no memory)", ret);
	return ret;
}

static int do_dma_unmap(struct vfu_function *f, struct vfu_msg *msg)
{
	struct vfu_dma_unmap unmap;
	int ret = 0;

	memcpy(&unmap, msg->payload, sizeof(unmap));
	if (unmap.flags & ~VFIO_DMA_UNMAP_FLAG_ALL)
		return -EINVAL;
	if (!(unmap.flags & VFIO_DMA_UNMAP_FLAG_ALL))
		ret = dma_unmap(f->hca->dma, unmap.address, unmap.size);
	else if (unmap.address || unmap.size)
		return -EINVAL;
	else
		dma_unmap_all(f->hca->dma);
	hca_log(f->hca, HCA_LOG_TRACE, "unmap 0x%llx+0x%llx: %d", (unsigned long long)unmap.address,
		(unsigned long long)unmap.size, ret);
	/* What an IOMMU invalidates may never have been mapped. */
	if (ret && ret != -ENOENT)
		return ret;
	memcpy(msg->reply, &unmap, sizeof(unmap));
	msg->reply_len = sizeof(unmap);
	return 0;
}

static int do_get_info(struct vfu_function *f, struct vfu_msg *msg)
{
	/* Without the fields that newer versions of the structure end with. */
	const uint32_t size = offsetof(struct vfio_device_info, num_irqs) + sizeof(uint32_t);
	struct vfio_device_info info = {
		.argsz = size,
		.flags = VFIO_DEVICE_FLAGS_PCI | VFIO_DEVICE_FLAGS_RESET,
		.num_regions = VFIO_PCI_NUM_REGIONS,
		.num_irqs = NUM_IRQS,
	};
	uint32_t argsz;

	(void)f;
	memcpy(&argsz, msg->payload, sizeof(argsz));
	if (argsz < size)
		return -EINVAL;
	memcpy(msg->reply, &info, size);
	msg->reply_len = size;
	return 0;
}

static uint64_t region_size(uint32_t region)
{
	switch (region) {
	case VFIO_PCI_BAR0_REGION_INDEX:
		return HCA_BAR0_SIZE;
	case VFIO_PCI_CONFIG_REGION_INDEX:
		return PCI_CONFIG_SIZE;
	default:
		return 0;
	}
}

static int do_get_region_info(struct vfu_function *f, struct vfu_msg *msg)
{
	struct vfio_region_info info;

	(void)f;
	memcpy(&info, msg->payload, sizeof(info));
	if (info.argsz < sizeof(info) || info.index >= VFIO_PCI_NUM_REGIONS)
		return -EINVAL;
	info = (struct vfio_region_info){
		.argsz = sizeof(info),
		.index = info.index,
		.size = region_size(info.index),
	};
	/* No mapping is offered: each doorbell is a message, and none is lost. */
	if (info.size)
		info.flags = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE;
	memcpy(msg->reply, &info, sizeof(info));
	msg->reply_len = sizeof(info);
	return 0;
}

static int do_get_region_io_fds(struct vfu_function *f, struct vfu_msg *msg)
{
	struct vfu_region_io_fds fds;

	(void)f;
	memcpy(&fds, msg->payload, sizeof(fds));
	if (fds.argsz < sizeof(fds) || fds.flags || fds.count || fds.index >= VFIO_PCI_NUM_REGIONS)
		return -EINVAL;
	fds.argsz = sizeof(fds);
	memcpy(msg->reply, &fds, sizeof(fds));
	msg->reply_len = sizeof(fds);
	return 0;
}

static int do_get_irq_info(struct vfu_function *f, struct vfu_msg *msg)
{
	struct vfio_irq_info info;

	(void)f;
	memcpy(&info, msg->payload, sizeof(info));
	if (info.argsz < sizeof(info) || info.index >= NUM_IRQS)
		return -EINVAL;
	info = (struct vfio_irq_info){ .argsz = sizeof(info), .index = info.index };
	if (info.index == VFIO_PCI_MSIX_IRQ_INDEX) {
		info.flags = VFIO_IRQ_INFO_EVENTFD;
		info.count = HCA_MSIX_VECTORS;
	}
	memcpy(msg->reply, &info, sizeof(info));
	msg->reply_len = sizeof(info);
	return 0;
}

static void set_eventfds(struct vfu_function *f, const struct vfio_irq_set *set,
			 struct vfu_msg *msg)
{
	for (uint32_t i = 0; i < set->count; i++) {
		int fd = -1;

		if (msg->fd_count) {
			fd = msg->fds[i];
			msg->fds[i] = -1;
			/* Whatever it is: a write to it must not block. */
			fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
		}
		msix_set_fd(&f->msix, set->start + i, fd);
	}
}

static void act_on_vector(struct vfu_function *f, uint32_t action, uint32_t vector)
{
	switch (action) {
	case VFIO_IRQ_SET_ACTION_TRIGGER:
		msix_raise(&f->msix, vector);
		break;
	case VFIO_IRQ_SET_ACTION_MASK:
		msix_mask(&f->msix, vector, true);
		break;
	default:
		msix_mask(&f->msix, vector, false);
		break;
	}
}

static int do_set_irqs(struct vfu_function *f, struct vfu_msg *msg)
{
	const uint32_t header = offsetof(struct vfio_irq_set, data);
	const uint8_t *bools = msg->payload + header;
	uint32_t data_len = msg->len - header;
	struct vfio_irq_set set;
	uint32_t type, action;

	memcpy(&set, msg->payload, header);
	type = set.flags & VFIO_IRQ_SET_DATA_TYPE_MASK;
	action = set.flags & VFIO_IRQ_SET_ACTION_TYPE_MASK;
	if (set.flags & ~(VFIO_IRQ_SET_DATA_TYPE_MASK | VFIO_IRQ_SET_ACTION_TYPE_MASK) ||
	    __builtin_popcount(type) != 1 || __builtin_popcount(action) != 1)
		return -EINVAL;
	if (set.index >= NUM_IRQS)
		return -EINVAL;
	if (set.index != VFIO_PCI_MSIX_IRQ_INDEX) /* QEMU disables what it has never enabled */
		return set.count || msg->fd_count ? -EINVAL : 0;
	if (set.start > HCA_MSIX_VECTORS || set.count > HCA_MSIX_VECTORS - set.start)
		return -EINVAL;
	if (data_len != (type == VFIO_IRQ_SET_DATA_BOOL ? set.count : 0))
		return -EINVAL;

	if (type == VFIO_IRQ_SET_DATA_EVENTFD) {
		/* All of them, or none: then the vectors are let go. */
		if (action != VFIO_IRQ_SET_ACTION_TRIGGER ||
		    (msg->fd_count && msg->fd_count != set.count))
			return -EINVAL;
		set_eventfds(f, &set, msg);
		return 0;
	}
	if (msg->fd_count)
		return -EINVAL;
	if (!set.count) {
		if (action != VFIO_IRQ_SET_ACTION_TRIGGER || set.start)
			return -EINVAL;
		for (uint32_t i = 0; i < HCA_MSIX_VECTORS;
		     i++) /* the whole index is switched off */
			msix_set_fd(&f->msix, i, -1);
		return 0;
	}
	for (uint32_t i = 0; i < set.count; i++) {
		if (type == VFIO_IRQ_SET_DATA_NONE || bools[i])
			act_on_vector(f, action, set.start + i);
	}
	return 0;
}

static int access_check(const struct vfu_region_access *access)
{
	uint64_t size = region_size(access->region);

	if (!size || !access->count || access->count > VFU_MAX_DATA)
		return -EINVAL;
	if (access->offset >= size || access->count > size - access->offset)
		return -EINVAL;
	return 0;
}

/* The pending bits are where the vectors are, not in the HCA. */
static void bar_read(struct vfu_function *f, uint64_t off, uint8_t *buf, uint32_t len)
{
	uint64_t pending = f->msix.pending;

	if (!pci_memory_enabled(&f->pci)) {
		memset(buf, 0xff, len);
		return;
	}
	hca_bar_read(f->hca, off, buf, len);
	for (uint32_t i = 0; i < sizeof(pending); i++) {
		uint64_t at = HCA_MSIX_PBA + i;

		if (at >= off && at - off < len)
			buf[at - off] = (uint8_t)(pending >> 8 * i);
	}
}

static void config_write(struct vfu_function *f, uint32_t off, const void *buf, uint32_t len)
{
	if (pci_config_write(&f->pci, off, buf, len) == PCI_FLR) {
		hca_log(f->hca, HCA_LOG_INFO, "function level reset");
		vfu_function_reset(f);
		return;
	}
	dma_enable(f->hca->dma, pci_bus_master(&f->pci));
	msix_control(&f->msix, pci_msix_enabled(&f->pci), pci_msix_masked(&f->pci));
}

static void region_write(struct vfu_function *f, const struct vfu_region_access *access,
			 const void *data)
{
	if (access->region == VFIO_PCI_CONFIG_REGION_INDEX)
		config_write(f, (uint32_t)access->offset, data, access->count);
	else if (pci_memory_enabled(&f->pci))
		hca_bar_write(f->hca, access->offset, data, access->count);
}

static int do_region_read(struct vfu_function *f, struct vfu_msg *msg)
{
	struct vfu_region_access access;
	uint8_t *data = msg->reply + sizeof(access);
	int ret;

	memcpy(&access, msg->payload, sizeof(access));
	ret = access_check(&access);
	if (ret)
		return ret;
	if (access.region == VFIO_PCI_CONFIG_REGION_INDEX)
		pci_config_read(&f->pci, (uint32_t)access.offset, data, access.count);
	else
		bar_read(f, access.offset, data, access.count);
	memcpy(msg->reply, &access, sizeof(access));
	msg->reply_len = sizeof(access) + access.count;
	return 0;
}

static int do_region_write(struct vfu_function *f, struct vfu_msg *msg)
{
	struct vfu_region_access access;
	int ret;

	memcpy(&access, msg->payload, sizeof(access));
	ret = access_check(&access);
	if (ret)
		return ret;
	if (msg->len - sizeof(access) != access.count)
		return -EINVAL;
	memcpy(msg->reply, &access, sizeof(access));
	msg->reply_len = sizeof(access);
	region_write(f, &access, msg->payload + sizeof(access));
	return 0;
}

/* Entry i of a multiple write: 0 or -EINVAL. */
static int multi_entry(const struct vfu_msg *msg, uint64_t i, struct vfu_multi_write *w,
		       struct vfu_region_access *access)
{
	memcpy(w, msg->payload + sizeof(uint64_t) + i * sizeof(*w), sizeof(*w));
	*access = (struct vfu_region_access){ w->offset, w->region, w->count };
	return access->count > VFU_MULTI_DATA ? -EINVAL : access_check(access);
}

static int do_region_write_multi(struct vfu_function *f, struct vfu_msg *msg)
{
	struct vfu_region_access access;
	struct vfu_multi_write w;
	uint64_t count;

	memcpy(&count, msg->payload, sizeof(count));
	if (count > VFU_MULTI_MAX || msg->len != sizeof(count) + count * sizeof(w))
		return -EINVAL;
	for (uint64_t i = 0; i < count; i++) {
		if (multi_entry(msg, i, &w, &access))
			return -EINVAL;
	}
	for (uint64_t i = 0; i < count; i++) {
		multi_entry(msg, i, &w, &access);
		region_write(f, &access, w.data);
	}
	memcpy(msg->reply, &count, sizeof(count));
	msg->reply_len = sizeof(count);
	return 0;
}

static int do_reset(struct vfu_function *f, struct vfu_msg *msg)
{
	(void)msg;
	hca_log(f->hca, HCA_LOG_INFO, "reset by the machine");
	vfu_function_reset(f);
	return 0;
}

static const struct command {
	uint16_t command;
	uint16_t max_fds;
	uint32_t min, max; /* bytes of payload */
	int (*run)(struct vfu_function *f, struct vfu_msg *msg);
} commands[] = {
	/* The hot one first. */
	{ VFU_REGION_WRITE, 0, sizeof(struct vfu_region_access) + 1,
	  sizeof(struct vfu_region_access) + VFU_MAX_DATA, do_region_write },
	{ VFU_REGION_READ, 0, sizeof(struct vfu_region_access), sizeof(struct vfu_region_access),
	  do_region_read },
	{ VFU_REGION_WRITE_MULTI, 0, sizeof(uint64_t),
	  sizeof(uint64_t) + VFU_MULTI_MAX * sizeof(struct vfu_multi_write),
	  do_region_write_multi },
	{ VFU_DMA_MAP, 1, sizeof(struct vfu_dma_map), sizeof(struct vfu_dma_map), do_dma_map },
	{ VFU_DMA_UNMAP, 0, sizeof(struct vfu_dma_unmap), sizeof(struct vfu_dma_unmap),
	  do_dma_unmap },
	{ VFU_SET_IRQS, VFU_MAX_FDS, offsetof(struct vfio_irq_set, data),
	  offsetof(struct vfio_irq_set, data) + HCA_MSIX_VECTORS, do_set_irqs },
	{ VFU_GET_INFO, 0, 16, 64, do_get_info },
	{ VFU_GET_REGION_INFO, 0, sizeof(struct vfio_region_info), sizeof(struct vfio_region_info),
	  do_get_region_info },
	{ VFU_GET_REGION_IO_FDS, 0, sizeof(struct vfu_region_io_fds),
	  sizeof(struct vfu_region_io_fds), do_get_region_io_fds },
	{ VFU_GET_IRQ_INFO, 0, sizeof(struct vfio_irq_info), sizeof(struct vfio_irq_info),
	  do_get_irq_info },
	{ VFU_RESET, 0, 0, 0, do_reset },
	{ VFU_VERSION, 0, sizeof(struct vfu_version), sizeof(struct vfu_version) + VERSION_TEXT_MAX,
	  do_version },
};

int vfu_execute(struct vfu_function *f, struct vfu_msg *msg)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		const struct command *c = &commands[i];

		if (c->command != msg->header.command)
			continue;
		if (!f->negotiated && c->command != VFU_VERSION)
			return -EPROTO;
		if (msg->len < c->min || msg->len > c->max || msg->fd_count > c->max_fds)
			return -EINVAL;
		return c->run(f, msg);
	}
	return f->negotiated ? -ENOTSUP : -EPROTO;
}
