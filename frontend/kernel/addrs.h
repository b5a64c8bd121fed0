/* SPDX-License-Identifier: GPL-2.0 */
/*
 * addrs.h - tells the backend the IP addresses of the interfaces that a device has (IPoIB). It
 * finds by them for whom a connection is that somebody asks for.
 *
 * Notifiers say that something has changed; a work item compares what there is with what was told.
 * While the backend refuses an address because it is another's, the work runs again after a pause.
 */
#ifndef XENIB_ADDRS_H
#define XENIB_ADDRS_H

#include <linux/notifier.h>
#include <linux/types.h>
#include <linux/workqueue.h>

/* Of one device. Those beyond it are not told. */
#define XENIB_ADDRS 64

struct net_device;
struct xenib_context;
struct xenib_dev;

struct xenib_addr {
	u8 family; /* 4 or 6; 0: none */
	u8 at[16];
};

struct xenib_addrs {
	struct xenib_context *ctx;
	struct notifier_block inet, inet6;
	struct delayed_work work;
	/* The work's */
	unsigned int pause; /* in jiffies, before it runs again; 0: nothing was refused */
	struct xenib_addr told[XENIB_ADDRS], now[XENIB_ADDRS];
};

/**
 * xenib_addrs_are_of() - whether the interface is one that the device has, of whatever partition.
 * With the RTNL, and net_rwsem.
 */
bool xenib_addrs_are_of(const struct net_device *netdev, const struct xenib_dev *dev);

/** xenib_addrs_init() - before the device has interfaces. */
void xenib_addrs_init(struct xenib_addrs *addrs, struct xenib_context *ctx);

/** xenib_addrs_exit() - when it has none any more. The backend is not told. */
void xenib_addrs_exit(struct xenib_addrs *addrs);

#endif
