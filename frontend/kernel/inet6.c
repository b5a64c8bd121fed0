// SPDX-License-Identifier: GPL-2.0
/*
 * inet6.c - see inet6.h.
 */
#include <linux/netdevice.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>

#include "kernel/addrs.h"
#include "kernel/inet6.h"
#include "xenib.h"

#if IS_ENABLED(CONFIG_IPV6)
/*
 * Of a secret and the interface's own address, which has the number of its QP (RFC 7217). Programs
 * that manage networks leave it at that when there is a secret. What the administrator has chosen
 * for all interfaces stays.
 */
static void choose(struct net_device *netdev)
{
	struct inet6_dev *in6 = __in6_dev_get(netdev);
	struct ipv6_stable_secret *secret;

	if (!in6 || in6->cnf.addr_gen_mode != IN6_ADDR_GEN_MODE_EUI64)
		return;
	secret = &in6->cnf.stable_secret;
	if (!secret->initialized)
		get_random_bytes(&secret->secret, sizeof(secret->secret));
	secret->initialized = true;
	in6->cnf.addr_gen_mode = IN6_ADDR_GEN_MODE_STABLE_PRIVACY;
}
#else
static void choose(struct net_device *netdev)
{
}
#endif

static int netdev_changed(struct notifier_block *nb, unsigned long event, void *data)
{
	struct xenib_inet6 *inet6 = container_of(nb, struct xenib_inet6, netdevs);
	struct net_device *netdev = netdev_notifier_info_to_dev(data);

	if (event != NETDEV_REGISTER)
		return NOTIFY_DONE;
	down_read(&net_rwsem);
	if (xenib_addrs_are_of(netdev, inet6->dev))
		choose(netdev);
	up_read(&net_rwsem);
	return NOTIFY_DONE;
}

void xenib_inet6_init(struct xenib_inet6 *inet6, struct xenib_dev *dev)
{
	inet6->dev = dev;
	inet6->netdevs.notifier_call = netdev_changed;
	/* After IPv6's own, which makes what is changed here. */
	inet6->netdevs.priority = -1;
	register_netdevice_notifier(&inet6->netdevs);
}

void xenib_inet6_exit(struct xenib_inet6 *inet6)
{
	unregister_netdevice_notifier(&inet6->netdevs);
}
