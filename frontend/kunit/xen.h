/* SPDX-License-Identifier: GPL-2.0 */
/*
 * xen.h - replaces what the frontend uses of Xen; it is included before each source. Pages are
 * shared within the kernel, grants are counted, and an event channel is a function call.
 */
#ifndef XENIB_KUNIT_XEN_H
#define XENIB_KUNIT_XEN_H

#include <linux/interrupt.h>
#include <xen/events.h>
#include <xen/grant_table.h>
#include <xen/page.h>
#include <xen/xenbus.h>

/* Grants; those to be read that were ever made; how many attempts to end one will fail. */
extern atomic_t kunit_grants;
extern atomic_t kunit_read_only_grants;
extern atomic_t kunit_busy_grants;

/* Called when the frontend notifies the backend. */
extern void (*kunit_notified)(unsigned int channel);

/* Calls the handler of an event channel, with interrupts off. */
void kunit_interrupt(unsigned int channel);

/* The event channel that was allocated last. */
unsigned int kunit_newest_channel(void);

/* The page behind a reference of kunit_setup_ring(). */
void *kunit_page(grant_ref_t ref);

/* Each has the arguments of the function that it replaces. */
int kunit_alloc_refs(u16 count, grant_ref_t *head);
int kunit_claim_ref(grant_ref_t *head);
void kunit_grant_ref(grant_ref_t ref, domid_t domid, unsigned long frame, int readonly);
int kunit_try_end_access(grant_ref_t ref);
void kunit_end_access(grant_ref_t ref, struct page *page);
int kunit_setup_ring(struct xenbus_device *dev, gfp_t gfp, void **vaddr, unsigned int count,
		     grant_ref_t *refs);
void kunit_teardown_ring(void **vaddr, unsigned int count, grant_ref_t *refs);
int kunit_alloc_evtchn(struct xenbus_device *dev, evtchn_port_t *port);
int kunit_free_evtchn(struct xenbus_device *dev, evtchn_port_t port);
int kunit_bind(evtchn_port_t port, irq_handler_t handler, unsigned long flags, const char *name,
	       void *arg);
void kunit_unbind(unsigned int irq, void *arg);
void kunit_notify(int irq);
void kunit_irq_lateeoi(unsigned int irq, unsigned int flags);
enum xenbus_state kunit_driver_state(const char *path);
int kunit_printf(struct xenbus_transaction t, const char *dir, const char *node, const char *format,
		 ...);
int kunit_rm(struct xenbus_transaction t, const char *dir, const char *node);
unsigned long kunit_page_to_gfn(struct page *page);

/* What the backend's directory says of each feature. */
extern unsigned int kunit_features;
unsigned int kunit_read_unsigned(const char *dir, const char *node, unsigned int without);

#define gnttab_alloc_grant_references kunit_alloc_refs
#define gnttab_claim_grant_reference kunit_claim_ref
#define gnttab_grant_foreign_access_ref kunit_grant_ref
#define gnttab_try_end_foreign_access kunit_try_end_access
#define gnttab_end_foreign_access kunit_end_access
#define xenbus_setup_ring kunit_setup_ring
#define xenbus_teardown_ring kunit_teardown_ring
#define xenbus_alloc_evtchn kunit_alloc_evtchn
#define xenbus_free_evtchn kunit_free_evtchn
#define bind_evtchn_to_irqhandler_lateeoi kunit_bind
#define unbind_from_irqhandler kunit_unbind
#define notify_remote_via_irq kunit_notify
#define xen_irq_lateeoi kunit_irq_lateeoi
#define xenbus_read_driver_state kunit_driver_state
#define xenbus_read_unsigned kunit_read_unsigned
#define xenbus_printf kunit_printf
#define xenbus_rm kunit_rm
#define xen_page_to_gfn kunit_page_to_gfn

#endif
