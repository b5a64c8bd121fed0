// SPDX-License-Identifier: GPL-2.0
/*
 * addrs.c - see addrs.h.
 */
#include <linux/if_arp.h>
#include <linux/if_infiniband.h>
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <net/if_inet6.h>

#include "compat.h"
#include "kernel/addrs.h"
#include "vhca_request.h"
#include "xenib.h"

/* How long until a refused address is told again: twice as long each time. */
#define AGAIN_FIRST (2 * HZ)
#define AGAIN_LAST (60 * HZ)

/* Interfaces */

#define QPN_SIZE 4 /* what is before the GID in a hardware address */

static bool is_main(const struct net_device *netdev, const struct xenib_dev *dev)
{
	return netdev->type == ARPHRD_INFINIBAND && netdev->dev.parent == &dev->xbdev->dev;
}

/*
 * Those of other partitions have no device, but a link to the main one, which may be in another
 * namespace by now.
 */
static bool is_child(const struct net_device *netdev, const struct xenib_dev *dev)
{
	int link = dev_get_iflink(netdev);
	struct net *net;

	for_each_net(net) {
		const struct net_device *main = __dev_get_by_index(net, link);

		if (main && is_main(main, dev) &&
		    !memcmp(main->dev_addr + QPN_SIZE, netdev->dev_addr + QPN_SIZE,
			    INFINIBAND_ALEN - QPN_SIZE))
			return true;
	}
	return false;
}

bool xenib_addrs_are_of(const struct net_device *netdev, const struct xenib_dev *dev)
{
	if (netdev->type != ARPHRD_INFINIBAND)
		return false;
	return netdev->dev.parent ? is_main(netdev, dev) : is_child(netdev, dev);
}

/* In a notifier, which may not look further */
static bool may_be_ours(const struct xenib_addrs *addrs, const struct net_device *netdev)
{
	return netdev->type == ARPHRD_INFINIBAND &&
	       (!netdev->dev.parent || is_main(netdev, addrs->ctx->dev));
}

/* What is there */

struct list {
	struct xenib_addr *at;
	unsigned int n;
};

static void add(struct list *list, u8 family, const void *addr, size_t size)
{
	if (list->n >= XENIB_ADDRS)
		return;
	list->at[list->n].family = family;
	memcpy(list->at[list->n++].at, addr, size);
}

static void add_inet(struct list *list, const struct net_device *netdev)
{
	const struct in_device *in = __in_dev_get_rtnl(netdev);
	const struct in_ifaddr *ifa;

	if (!in)
		return;
	in_dev_for_each_ifa_rtnl(ifa, in)
		add(list, 4, &ifa->ifa_local, sizeof(ifa->ifa_local));
}

#if IS_ENABLED(CONFIG_IPV6)
static void add_inet6(struct list *list, const struct net_device *netdev)
{
	struct inet6_dev *in6 = __in6_dev_get(netdev);
	const struct inet6_ifaddr *ifa;

	if (!in6)
		return;
	read_lock_bh(&in6->lock);
	list_for_each_entry(ifa, &in6->addr_list, if_list)
		add(list, 6, &ifa->addr, sizeof(ifa->addr));
	read_unlock_bh(&in6->lock);
}
#else
static void add_inet6(struct list *list, const struct net_device *netdev)
{
}
#endif

static void collect(struct xenib_addrs *addrs)
{
	struct list list = { .at = addrs->now };
	struct net_device *netdev;
	struct net *net;

	memset(addrs->now, 0, sizeof(addrs->now));
	rtnl_lock();
	down_read(&net_rwsem);
	for_each_net(net) {
		for_each_netdev(net, netdev) {
			if (!xenib_addrs_are_of(netdev, addrs->ctx->dev))
				continue;
			add_inet(&list, netdev);
			add_inet6(&list, netdev);
		}
	}
	up_read(&net_rwsem);
	rtnl_unlock();
}

/* What is told */

static int tell(struct xenib_addrs *addrs, u8 op, const struct xenib_addr *addr)
{
	struct xenib_cmd cmd = {
		.req.op = op,
		.req.u.addr = { .ctx = addrs->ctx->handle, .family = addr->family },
	};

	memcpy(cmd.req.u.addr.addr, addr->at, sizeof(addr->at));
	return xenib_cmd_exec(addrs->ctx->dev->ring, &cmd);
}

static struct xenib_addr *find(struct xenib_addr *in, const struct xenib_addr *addr)
{
	unsigned int i;

	for (i = 0; i < XENIB_ADDRS; i++) {
		if (!memcmp(&in[i], addr, sizeof(*addr)))
			return &in[i];
	}
	return NULL;
}

static void tell_gone(struct xenib_addrs *addrs)
{
	unsigned int i;

	for (i = 0; i < XENIB_ADDRS; i++) {
		struct xenib_addr *addr = &addrs->told[i];

		if (!addr->family || find(addrs->now, addr))
			continue;
		tell(addrs, XEN_VHCA_OP_ADDR_DEL, addr);
		memset(addr, 0, sizeof(*addr));
	}
}

/* Returns whether another guest, or the backend's domain, has one of them. */
static bool tell_new(struct xenib_addrs *addrs)
{
	static const struct xenib_addr none;
	bool is_taken = false;
	unsigned int i;
	int err;

	for (i = 0; i < XENIB_ADDRS && addrs->now[i].family; i++) {
		struct xenib_addr *free;

		if (find(addrs->told, &addrs->now[i]))
			continue;
		free = find(addrs->told, &none);
		if (!free)
			break;
		err = tell(addrs, XEN_VHCA_OP_ADDR_ADD, &addrs->now[i]);
		if (!err)
			*free = addrs->now[i];
		is_taken |= err == -EBUSY;
	}
	return is_taken;
}

static void addrs_work(struct work_struct *work)
{
	struct xenib_addrs *addrs = container_of(work, struct xenib_addrs, work.work);

	collect(addrs);
	tell_gone(addrs);
	if (!tell_new(addrs)) {
		addrs->pause = 0;
		return;
	}
	/* Nothing tells when the other gives it up, as it does late in a failover. */
	addrs->pause = clamp(2 * addrs->pause, AGAIN_FIRST, AGAIN_LAST);
	queue_delayed_work(system_dfl_wq, &addrs->work, addrs->pause);
}

static int inet_changed(struct notifier_block *nb, unsigned long event, void *data)
{
	struct xenib_addrs *addrs = container_of(nb, struct xenib_addrs, inet);
	const struct in_ifaddr *ifa = data;

	if (may_be_ours(addrs, ifa->ifa_dev->dev))
		mod_delayed_work(system_dfl_wq, &addrs->work, 0);
	return NOTIFY_DONE;
}

static int inet6_changed(struct notifier_block *nb, unsigned long event, void *data)
{
	struct xenib_addrs *addrs = container_of(nb, struct xenib_addrs, inet6);
	const struct inet6_ifaddr *ifa = data;

	if (may_be_ours(addrs, ifa->idev->dev))
		mod_delayed_work(system_dfl_wq, &addrs->work, 0);
	return NOTIFY_DONE;
}

void xenib_addrs_init(struct xenib_addrs *addrs, struct xenib_context *ctx)
{
	addrs->ctx = ctx;
	INIT_DELAYED_WORK(&addrs->work, addrs_work);
	addrs->inet.notifier_call = inet_changed;
	addrs->inet6.notifier_call = inet6_changed;
	register_inetaddr_notifier(&addrs->inet);
	register_inet6addr_notifier(&addrs->inet6);
}

void xenib_addrs_exit(struct xenib_addrs *addrs)
{
	unregister_inet6addr_notifier(&addrs->inet6);
	unregister_inetaddr_notifier(&addrs->inet);
	cancel_delayed_work_sync(&addrs->work);
}
