/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fixture.h - what each KUnit case begins with: a device that is not registered, whose ring has a
 * backend (backend.h), a context of a process, and memory of it.
 */
#ifndef XENIB_KUNIT_FIXTURE_H
#define XENIB_KUNIT_FIXTURE_H

#include <kunit/test.h>
#include <rdma/uverbs_ioctl.h>

#include "backend.h"
#include "xenib.h"

#define BUF_PAGES 4096UL

struct fixture {
	struct xenib_dev *dev;
	struct xenbus_device xbdev;
	struct kunit_backend backend;
	struct xenib_ucontext uctx;
	struct xenib_pd pd;
	struct uverbs_attr_bundle attrs;
	unsigned int faults;
	unsigned long buf; /* of BUF_PAGES pages */
};

/* Of a suite: test->priv is the fixture. */
int fixture_init(struct kunit *test);

/* For one that has more: @size is that of a structure which begins with the fixture. */
int fixture_make(struct kunit *test, size_t size);

/* The case has left no grant. */
void fixture_exit(struct kunit *test);

/* Counts faults of the ring, and of events. @context: the fixture */
void fixture_fault(void *context);

/* The address of a page of its memory. */
unsigned long fixture_page(const struct fixture *fixture, unsigned long number);

/* Registers pages of its memory, from the first on. @access: enum ib_access_flags */
struct ib_mr *fixture_reg(struct fixture *fixture, unsigned long first, unsigned long pages,
			  int access);

/* Deregisters, which is not refused. */
void fixture_dereg(struct kunit *test, struct ib_mr *mr);

/* How many pages are granted, but for those of the ring. */
int granted_pages(const struct fixture *fixture);

#endif
