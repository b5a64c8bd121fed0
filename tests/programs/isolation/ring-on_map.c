// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xen/xen.h>
#include <xen/sys/privcmd.h>

#include "ring-on_map.h"

#define PAGE 4096
#define QUEUES 4096 /* numbers of queues that are tried; the HCA gives out low ones first */
#define EQS 128

/* Registers of a doorbell page. */
#define CQ_ARM 0x20
#define EQ_ARM 0x40
#define EQ_UPDATE 0x48
#define SEND 0x800
#define SEND_OTHER 0x900

#define BATCH 512

/* One call maps many; those that are refused have an error each. */
static void map_batch(struct frames *f, int privcmd, uint64_t first, unsigned int n)
{
	uint8_t *at = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, privcmd, 0);
	xen_pfn_t frames[BATCH];
	int errors[BATCH] = { 0 };
	privcmd_mmapbatch_v2_t map = {
		.num = n,
		.dom = DOMID_SELF,
		.addr = (uintptr_t)at,
		.arr = frames,
		.err = errors,
	};
	unsigned int i;
	int ret;

	require(at != MAP_FAILED, "addresses for %u frames", n);
	for (i = 0; i < n; i++)
		frames[i] = first + i;
	ret = ioctl(privcmd, IOCTL_PRIVCMD_MMAPBATCH_V2, &map);
	if (ret && errno == EPERM)
		skip("privcmd lets nobody map (modprobe xen-privcmd unrestricted=1)");
	if (ret && errno == ENOSYS)
		skip("this guest is not PV");
	for (i = 0; i < n; i++) {
		if (errors[i])
			continue;
		require(f->count < FRAMES_MAX, "not more than %d frames are this domain's",
			FRAMES_MAX);
		f->frame[f->count] = frames[i];
		f->page[f->count++] = at + i * PAGE;
	}
	note("frames %#llx to %#llx: ioctl %d, %u mapped so far", (unsigned long long)first,
	     (unsigned long long)first + n - 1, ret, f->count);
}

void frames_map(struct frames *f, uint64_t first, unsigned int pages)
{
	int privcmd = open("/dev/xen/privcmd", O_RDWR | O_CLOEXEC);
	unsigned int i, n;

	require(privcmd >= 0, "open /dev/xen/privcmd");
	memset(f, 0, sizeof(*f));
	for (i = 0; i < pages; i += n) {
		n = pages - i < BATCH ? pages - i : BATCH;
		map_batch(f, privcmd, first + i, n);
	}
	close(privcmd);
}

void frames_unmap(struct frames *f)
{
	unsigned int i;

	for (i = 0; i < f->count; i++)
		munmap(f->page[i], PAGE);
	f->count = 0;
}

void frames_print(const struct frames *f)
{
	unsigned int i;

	for (i = 0; i < f->count; i++)
		printf("frame %#" PRIx64 "\n", f->frame[i]);
	fflush(stdout);
}

bool frames_have(const struct frames *f, uint64_t frame)
{
	unsigned int i;

	for (i = 0; i < f->count && f->frame[i] != frame; i++)
		;
	return i < f->count;
}

static void store64(uint8_t *page, unsigned int reg, uint32_t high, uint32_t low)
{
	uint64_t value = htobe64((uint64_t)high << 32 | low);

	atomic_store_explicit((_Atomic uint64_t *)(page + reg), value, memory_order_release);
}

static void store32(uint8_t *page, unsigned int reg, uint32_t value)
{
	atomic_store_explicit((_Atomic uint32_t *)(page + reg), htobe32(value),
			      memory_order_release);
}

static void ring_all(uint8_t *page)
{
	uint32_t n;

	for (n = 0; n < QUEUES; n++) {
		store64(page, n & 1 ? SEND_OTHER : SEND, 0, n << 8);
		store64(page, CQ_ARM, 0, n);
	}
	for (n = 0; n < EQS; n++) {
		store32(page, EQ_ARM, n << 24);
		store32(page, EQ_UPDATE, n << 24);
	}
}

static void *ring(void *arg)
{
	struct ringer *r = arg;
	unsigned int i;

	while (!atomic_load(&r->stop)) {
		for (i = 0; i < r->frames->count; i++)
			ring_all(r->frames->page[i]);
		atomic_fetch_add(&r->rounds, 1);
	}
	return NULL;
}

void ring_start(struct ringer *r, const struct frames *f)
{
	memset(r, 0, sizeof(*r));
	r->frames = f;
	require(!pthread_create(&r->thread, NULL, ring, r), "start a thread");
}

void ring_for(struct ringer *r, unsigned int rounds)
{
	uint64_t until = now_ms() + opt.deadline_ms, from = atomic_load(&r->rounds);

	while (atomic_load(&r->rounds) < from + 1 + rounds) {
		require(now_ms() < until, "the ringing goes on");
		usleep(10000);
	}
}

void ring_stop(struct ringer *r)
{
	atomic_store(&r->stop, true);
	pthread_join(r->thread, NULL);
}
