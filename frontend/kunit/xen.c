// SPDX-License-Identifier: GPL-2.0
/*
 * xen.c - the Xen functions of the KUnit cases, see xen.h.
 */
#include <linux/atomic.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "xen.h"

#define MAX_PAGES 512
#define MAX_CHANNELS 8

atomic_t kunit_grants;
atomic_t kunit_read_only_grants;
atomic_t kunit_busy_grants;
unsigned int kunit_features;
void (*kunit_notified)(unsigned int channel);

static void *pages[MAX_PAGES];

static struct {
	irq_handler_t handler;
	void *arg;
} channels[MAX_CHANNELS];

static unsigned int next_channel;
static atomic_t next_ref;

void *kunit_page(grant_ref_t ref)
{
	return ref < MAX_PAGES ? pages[ref] : NULL;
}

/* A reference to a page of the process is above MAX_PAGES: nobody looks the page up. */
int kunit_alloc_refs(u16 count, grant_ref_t *head)
{
	*head = MAX_PAGES;
	return 0;
}

int kunit_claim_ref(grant_ref_t *head)
{
	return MAX_PAGES + (unsigned int)atomic_inc_return(&next_ref) % 1000000;
}

void kunit_grant_ref(grant_ref_t ref, domid_t domid, unsigned long frame, int readonly)
{
	atomic_inc(&kunit_grants);
	if (readonly)
		atomic_inc(&kunit_read_only_grants);
}

int kunit_try_end_access(grant_ref_t ref)
{
	if (atomic_dec_if_positive(&kunit_busy_grants) >= 0)
		return 0;
	atomic_dec(&kunit_grants);
	return 1;
}

void kunit_end_access(grant_ref_t ref, struct page *page)
{
	atomic_dec(&kunit_grants);
	if (page)
		put_page(page);
}

/* The pages are contiguous. kunit_page() finds each of them by its reference. */
int kunit_setup_ring(struct xenbus_device *dev, gfp_t gfp, void **vaddr, unsigned int count,
		     grant_ref_t *refs)
{
	unsigned int i, ref = 0;

	*vaddr = kzalloc(count * PAGE_SIZE, gfp);
	if (!*vaddr)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		while (ref < MAX_PAGES && pages[ref])
			ref++;
		if (WARN_ON(ref == MAX_PAGES))
			return -ENOSPC;
		pages[ref] = *vaddr + i * PAGE_SIZE;
		refs[i] = ref;
		atomic_inc(&kunit_grants);
	}
	return 0;
}

void kunit_teardown_ring(void **vaddr, unsigned int count, grant_ref_t *refs)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		pages[refs[i]] = NULL;
		atomic_dec(&kunit_grants);
	}
	kfree(*vaddr);
	*vaddr = NULL;
}

int kunit_alloc_evtchn(struct xenbus_device *dev, evtchn_port_t *port)
{
	*port = next_channel++ % MAX_CHANNELS;
	return 0;
}

int kunit_free_evtchn(struct xenbus_device *dev, evtchn_port_t port)
{
	return 0;
}

unsigned int kunit_newest_channel(void)
{
	return (next_channel - 1) % MAX_CHANNELS;
}

/* The interrupt has the number of the event channel. */
int kunit_bind(evtchn_port_t port, irq_handler_t handler, unsigned long flags, const char *name,
	       void *arg)
{
	channels[port].handler = handler;
	channels[port].arg = arg;
	return port;
}

void kunit_unbind(unsigned int irq, void *arg)
{
	channels[irq].handler = NULL;
}

void kunit_notify(int irq)
{
	if (kunit_notified)
		kunit_notified(irq);
}

void kunit_interrupt(unsigned int channel)
{
	unsigned long flags;

	local_irq_save(flags);
	if (channels[channel].handler)
		channels[channel].handler(channel, channels[channel].arg);
	local_irq_restore(flags);
}

void kunit_irq_lateeoi(unsigned int irq, unsigned int flags)
{
}

enum xenbus_state kunit_driver_state(const char *path)
{
	return XenbusStateConnected;
}

unsigned int kunit_read_unsigned(const char *dir, const char *node, unsigned int without)
{
	return kunit_features;
}

int kunit_printf(struct xenbus_transaction t, const char *dir, const char *node, const char *format,
		 ...)
{
	return 0;
}

int kunit_rm(struct xenbus_transaction t, const char *dir, const char *node)
{
	return 0;
}

unsigned long kunit_page_to_gfn(struct page *page)
{
	return 0;
}
