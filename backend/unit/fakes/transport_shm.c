// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * transport_shm.c - see transport_shm.h.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared-ring/vhca_request.h"
#include "unit/fakes/shm_events.h"
#include "unit/fakes/transport_shm.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct shm *to_shm(struct transport *t)
{
	return (struct shm *)t;
}

static bool fails(struct shm *shm)
{
	bool now;

	pthread_mutex_lock(&lock);
	now = shm->fail_in && !--shm->fail_in;
	pthread_mutex_unlock(&lock);
	return now;
}

static int shm_map(struct transport *t, const uint32_t *refs, unsigned int n, bool read_only,
		   void *addr, void **mapped)
{
	int prot = read_only ? PROT_READ : PROT_READ | PROT_WRITE;
	size_t bytes = (size_t)n * XEN_VHCA_PAGE_SIZE;
	struct shm *shm = to_shm(t);
	uint8_t *at = addr;
	unsigned int i, run;

	*mapped = addr;
	if (fails(shm))
		return -ENOMEM;
	if (!at)
		at = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < n; i += run) {
		for (run = 1; i + run < n && refs[i + run] == refs[i] + run; run++)
			;
		if (refs[i] >= SHM_PAGES || run > SHM_PAGES - refs[i]) {
			munmap(at, bytes);
			shm->took_reservation = 1;
			*mapped = NULL;
			return -EFAULT;
		}
		mmap(at + (size_t)i * XEN_VHCA_PAGE_SIZE, run * XEN_VHCA_PAGE_SIZE, prot,
		     MAP_SHARED | MAP_FIXED, shm->memory, (off_t)refs[i] * XEN_VHCA_PAGE_SIZE);
	}
	*mapped = at;
	return 0;
}

static int new_dmabuf(uint32_t pages, mode_t mode)
{
	int fd = memfd_create("dma-buf", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, pages) || fchmod(fd, mode))
		abort();
	return fd;
}

static int shm_dmabuf_create(struct transport *t, uint32_t pages, bool read_only)
{
	struct shm *shm = to_shm(t);

	if (!pages || pages > t->dmabuf_pages)
		abort();
	if (fails(shm))
		return -EMFILE;
	shm->dmabufs++;
	return new_dmabuf(pages, read_only ? SHM_READ_ONLY : SHM_WRITABLE);
}

static int shm_dmabuf_add(struct transport *t, int dmabuf, uint32_t first, const uint32_t *refs,
			  unsigned int n)
{
	char octets[XEN_VHCA_DATA_REFS];
	unsigned int i;

	if (fails(to_shm(t)))
		return -ENOMEM;
	for (i = 0; i < n; i++)
		if (refs[i] >= SHM_PAGES)
			return -EFAULT;
	memset(octets, 1, n);
	if (pwrite(dmabuf, octets, n, first) != n)
		abort();
	return 0;
}

static int shm_dmabuf_range(struct transport *t, int dmabuf, uint32_t first, uint32_t pages)
{
	char octets[SHM_PAGES];
	struct stat st;
	int fd;

	if (pages > SHM_PAGES || pread(dmabuf, octets, pages, first) != pages)
		abort();
	if (fails(to_shm(t)))
		return -EDQUOT;
	if (fstat(dmabuf, &st))
		abort();
	fd = new_dmabuf(pages, st.st_mode & 0777);
	if (pwrite(fd, octets, pages, 0) != pages)
		abort();
	to_shm(t)->ranges++;
	return fd;
}

static int shm_bind(struct transport *t, enum transport_channel channel, uint32_t port)
{
	(void)t;
	(void)channel;
	return port ? 0 : -EINVAL;
}

static int shm_fd(struct transport *t)
{
	return to_shm(t)->to_back;
}

static void shm_notify(struct transport *t, enum transport_channel channel)
{
	eventfd_write(to_shm(t)->to_front[channel], 1);
}

static int shm_events_open(struct transport *t, uint32_t bits, const uint32_t *ports,
			   unsigned int vectors)
{
	struct shm *shm = to_shm(t);
	unsigned int i;

	if (!shm->watches)
		return -EOPNOTSUPP;
	if (fails(shm))
		return -ENOMEM;
	if (bits >= SHM_PAGES)
		return -EINVAL;
	for (i = 0; i < vectors; i++)
		if (!ports[i])
			return -EINVAL;
	shm->events = shm_events_new(shm_page(shm, bits), &shm->to_front[CHANNEL_EVENTS]);
	return 0;
}

static void shm_events_close(struct transport *t)
{
	shm_events_free(to_shm(t)->events);
	to_shm(t)->events = NULL;
}

static int shm_watch(struct transport *t, int channel, uint32_t bit, uint32_t vector)
{
	return fails(to_shm(t)) ? -ENOMEM :
				  shm_events_watch(to_shm(t)->events, channel, bit, vector);
}

static void shm_unwatch(struct transport *t, uint32_t watch)
{
	shm_events_unwatch(to_shm(t)->events, watch);
}

static int shm_watches_fd(struct transport *t)
{
	return shm_events_fd(to_shm(t)->events);
}

static unsigned int shm_unread(struct transport *t, uint32_t *watches, unsigned int n)
{
	return shm_events_unread(to_shm(t)->events, watches, n);
}

static void shm_told(struct transport *t, struct transport_told *told)
{
	shm_events_told(to_shm(t)->events, told);
}

static int shm_pending(struct transport *t)
{
	eventfd_t count;

	return eventfd_read(to_shm(t)->to_back, &count) ? 0 : 1;
}

static void shm_done(struct transport *t)
{
	to_shm(t)->done++;
}

/* Under the lock. */
static struct shm_uar *free_uar(struct shm *shm, uint32_t type, uint64_t gfn, int *err)
{
	unsigned int i;

	for (i = 0; gfn && i < shm->uars; i++) {
		if (shm->uar[i].in_use && shm->uar[i].gfn == gfn) {
			*err = -EEXIST;
			return NULL;
		}
	}
	for (i = 0; i < shm->uars; i++)
		if (!shm->uar[i].in_use && shm->uar[i].type == type)
			return &shm->uar[i];
	*err = -EXFULL;
	return i < SHM_UARS ? &shm->uar[shm->uars++] : NULL;
}

static int shm_uar_alloc(struct transport *t, uint32_t type, uint64_t gfn, struct hca_uar *uar)
{
	struct shm *shm = to_shm(t);
	struct shm_uar *free;
	int err = 0;

	if (fails(shm))
		return -EPERM;
	if (!t->auto_translated != !gfn)
		abort();
	pthread_mutex_lock(&lock);
	free = free_uar(shm, type, gfn, &err);
	if (free) {
		*free = (struct shm_uar){ .in_use = true, .type = type, .gfn = gfn };
		uar->index = 1 + (free - shm->uar);
		uar->frame = 0xfe000 + uar->index;
		shm->allowed++;
		err = 0;
	}
	pthread_mutex_unlock(&lock);
	return err;
}

static int shm_uar_free(struct transport *t, uint32_t index)
{
	struct shm *shm = to_shm(t);

	pthread_mutex_lock(&lock);
	if (!index || index > shm->uars || !shm->uar[index - 1].in_use)
		abort();
	shm->uar[index - 1].in_use = false;
	shm->allowed--;
	pthread_mutex_unlock(&lock);
	return 0;
}

static int shm_uar_reset(struct transport *t)
{
	struct shm *shm = to_shm(t);
	unsigned int i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < shm->uars; i++)
		shm->uar[i].in_use = false;
	shm->allowed = 0;
	pthread_mutex_unlock(&lock);
	return 0;
}

static const struct transport_ops shm_ops = {
	.map = shm_map,
	.dmabuf_create = shm_dmabuf_create,
	.dmabuf_add = shm_dmabuf_add,
	.dmabuf_range = shm_dmabuf_range,
	.bind = shm_bind,
	.fd = shm_fd,
	.notify = shm_notify,
	.events_open = shm_events_open,
	.events_close = shm_events_close,
	.watch = shm_watch,
	.unwatch = shm_unwatch,
	.events_fd = shm_watches_fd,
	.unread = shm_unread,
	.told = shm_told,
	.pending = shm_pending,
	.done = shm_done,
	.uar_alloc = shm_uar_alloc,
	.uar_free = shm_uar_free,
	.uar_reset = shm_uar_reset,
};

struct shm *shm_new(bool auto_translated)
{
	struct shm *shm = calloc(1, sizeof(*shm));
	size_t bytes = (size_t)SHM_PAGES * XEN_VHCA_PAGE_SIZE;
	unsigned int channel;

	shm->t.ops = &shm_ops;
	shm->t.domid = 5;
	shm->t.auto_translated = auto_translated;
	shm->memory = memfd_create("guest", MFD_CLOEXEC);
	if (shm->memory < 0 || ftruncate(shm->memory, bytes))
		abort();
	shm->guest = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, shm->memory, 0);
	shm->to_back = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (shm->guest == MAP_FAILED || shm->to_back < 0)
		abort();
	for (channel = 0; channel < CHANNELS; channel++) {
		shm->to_front[channel] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		if (shm->to_front[channel] < 0)
			abort();
	}
	return shm;
}

void shm_free(struct shm *shm)
{
	unsigned int channel;

	munmap(shm->guest, (size_t)SHM_PAGES * XEN_VHCA_PAGE_SIZE);
	close(shm->memory);
	close(shm->to_back);
	for (channel = 0; channel < CHANNELS; channel++)
		close(shm->to_front[channel]);
	free(shm);
}

void shm_woken(struct shm *shm, int channel)
{
	if (shm->events)
		shm_events_woken(shm->events, channel);
}

uint64_t shm_notified(struct shm *shm)
{
	struct transport_told told = { 0 };

	if (shm->events)
		shm_events_told(shm->events, &told);
	return told.notified.count;
}

void *shm_page(struct shm *shm, uint32_t ref)
{
	return shm->guest + (size_t)ref * XEN_VHCA_PAGE_SIZE;
}
