// SPDX-License-Identifier: GPL-2.0
/*
 * addr.c - the IP addresses of guests, by which they are asked for: see gsi.h.
 */
#include <linux/if_arp.h>
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>

#include "compat.h"
#include "gsi.h"

struct gsi_addr {
	struct list_head list; /* of the HCA's */
	struct gsi_endpoint *ep;
	struct cm_addr addr;
};

/* Under RCU: the interface that has the address, or NULL. */
static const struct net_device *find_interface(struct net *net, const struct cm_addr *addr)
{
	const struct net_device *netdev;
	struct in6_addr six;
	__be32 four;

	if (addr->family == 4) {
		memcpy(&four, addr->at, sizeof(four));
		return __ip_dev_find(net, four, false);
	}
	memcpy(&six, addr->at, sizeof(six));
	netdev = XENIB_IPV6_DEV_FIND(net, &six, NULL);
	return IS_ERR(netdev) ? NULL : netdev;
}

/*
 * Of this domain's own: they are asked for here, whoever else says that they are his. Containers
 * that have nothing to do with the fabric may have any addresses, so of a network namespace of its
 * own an interface counts if it is of InfiniBand.
 */
static bool is_local(const struct cm_addr *addr)
{
	const struct net_device *netdev;
	bool local = false;
	struct net *net;

	rcu_read_lock();
	for_each_net_rcu(net) {
		netdev = find_interface(net, addr);
		local = netdev && (net_eq(net, &init_net) || netdev->type == ARPHRD_INFINIBAND);
		if (local)
			break;
	}
	rcu_read_unlock();
	return local;
}

/* One host's, of which there is one. */
static bool is_unicast(const struct cm_addr *addr)
{
	struct in6_addr six;
	__be32 four;

	if (addr->family == 4) {
		memcpy(&four, addr->at, sizeof(four));
		return !ipv4_is_zeronet(four) && !ipv4_is_loopback(four) &&
		       !ipv4_is_multicast(four) && !ipv4_is_lbcast(four);
	}
	memcpy(&six, addr->at, sizeof(six));
	return (ipv6_addr_type(&six) & IPV6_ADDR_UNICAST) &&
	       !(ipv6_addr_type(&six) & IPV6_ADDR_LOOPBACK);
}

static struct gsi_addr *find(struct gsi_hca *hca, u32 port, const struct cm_addr *addr)
{
	struct gsi_addr *one;

	list_for_each_entry(one, &hca->cm.addrs, list) {
		if (one->ep->port == port && !memcmp(&one->addr, addr, sizeof(*addr)))
			return one;
	}
	return NULL;
}

struct gsi_endpoint *gsi_addr_find(struct gsi_hca *hca, u32 port, const struct cm_addr *addr)
{
	struct gsi_addr *one = find(hca, port, addr);

	return one && !is_local(addr) ? one->ep : NULL;
}

static int add(struct gsi_endpoint *ep, const struct cm_addr *addr)
{
	struct gsi_addr *one = find(ep->hca, ep->port, addr);

	if (one && one->ep == ep)
		return 0;
	if (one || is_local(addr)) {
		/* A guest asks again and again while it is in use: once is enough. */
		if (!memcmp(&ep->refused, addr, sizeof(*addr)))
			return -EBUSY;
		ep->refused = *addr;
		pr_warn_ratelimited("domain %u has the address of %s%u: %*ph\n", ep->domid,
				    one ? "domain " : "this domain, ", one ? one->ep->domid : 0,
				    addr->family == 4 ? 4 : 16, addr->at);
		return -EBUSY;
	}
	if (ep->n_addrs >= MAX_ADDRS)
		return -EAGAIN;
	one = kzalloc(sizeof(*one), GFP_KERNEL);
	if (!one)
		return -ENOMEM;
	one->ep = ep;
	one->addr = *addr;
	list_add_tail(&one->list, &ep->hca->cm.addrs);
	ep->n_addrs++;
	return 0;
}

static void del(struct gsi_addr *one)
{
	one->ep->n_addrs--;
	list_del(&one->list);
	kfree(one);
}

int gsi_addr_change(struct gsi_endpoint *ep, const struct xen_ibgsi_addr *change)
{
	struct cm_addr addr = { .family = change->family };
	struct gsi_addr *one;
	int err = 0;

	if (ep->dead || !ep->agent)
		return -ENODEV;
	if (change->family != 4 && change->family != 6)
		return -EINVAL;
	memcpy(addr.at, change->addr, change->family == 4 ? 4 : 16);
	if (!is_unicast(&addr))
		return -EINVAL;
	mutex_lock(&ep->hca->cm.lock);
	one = find(ep->hca, ep->port, &addr);
	if (change->command == XEN_IBGSI_ADDR_ADD)
		err = add(ep, &addr);
	else if (one && one->ep == ep)
		del(one);
	else
		err = -EINVAL;
	mutex_unlock(&ep->hca->cm.lock);
	return err;
}

void gsi_addr_forget(struct gsi_endpoint *ep)
{
	struct gsi_addr *one, *next;

	list_for_each_entry_safe(one, next, &ep->hca->cm.addrs, list) {
		if (one->ep == ep)
			del(one);
	}
}
