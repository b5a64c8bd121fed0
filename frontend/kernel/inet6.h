/* SPDX-License-Identifier: GPL-2.0 */
/*
 * inet6.h - automatic IPv6 addresses of the IPoIB interfaces of a device.
 *
 * By default they are made of the port's GID, which is that of all guests and of the backend's
 * domain: each but the first would find its address taken.
 */
#ifndef XENIB_INET6_H
#define XENIB_INET6_H

#include <linux/notifier.h>

struct xenib_dev;

struct xenib_inet6 {
	struct xenib_dev *dev;
	struct notifier_block netdevs;
};

/** xenib_inet6_init() - before the device has interfaces. */
void xenib_inet6_init(struct xenib_inet6 *inet6, struct xenib_dev *dev);

/** xenib_inet6_exit() - when it has none any more. */
void xenib_inet6_exit(struct xenib_inet6 *inet6);

#endif
