# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""IPoIB in dom0 and in guests, whose kernels use their vHCAs; opensm in dom0 is the subnet manager."""

import contextlib
import re

from harness import guest, ktest, lab, wait

GUESTS = ["guest1", "guest2"]
NETWORK = "10.9.0.0/24"
ADDRESS = {"dom0": "10.9.0.1", "guest1": "10.9.0.11", "guest2": "10.9.0.12", "guest3": "10.9.0.13",
           "m2.dom0": "10.9.0.2", "m2.guest1": "10.9.0.21"}
ADDRESS_6 = {where: address.replace("10.9.0.", "fd09::") for where, address in ADDRESS.items()}
HCA = {"dom0": "mlx5_0", "m2.dom0": "mlx5_0"}  # of guests: guest.DEVICE


def device(where):
    return f"/sys/class/infiniband/{HCA.get(where, guest.DEVICE)}"


def gid(where, index=0):
    """The device's."""
    return lab.run(where, f"cat {device(where)}/ports/1/gids/{index}")


def interfaces(where):
    return f"{device(where)}/device/net"


def interface(where):
    return lab.run(where, f"ls {interfaces(where)} | head -n 1")


def load(where):
    """It has an interface. Returns its name."""
    lab.run(where, "modprobe ib_ipoib")
    wait.until(f"{where} has an IPoIB interface", lambda: lab.ok(where, f"ls {interfaces(where)}/*"))
    return interface(where)


def joined(where, name):
    """Has an interface joined its broadcast group?"""
    return lab.ok(where, f"ip -o link show {name} | grep -q LOWER_UP")


def up(where):
    """It has an interface with its address, which has joined the broadcast group."""
    name = load(where)
    lab.run(where, f"ip address replace {ADDRESS[where]}/24 dev {name} && ip address replace {ADDRESS_6[where]}/64 dev {name} && ip link set {name} up")
    wait.until(f"{where} has joined", lambda: joined(where, name))


def set_mode(where, mode):
    """connected or datagram: packets go by a connection to each peer that takes part in it, or as datagrams."""
    path = f"/sys/class/net/{interface(where)}/mode"
    lab.run(where, f"echo {mode} >{path}")
    assert lab.run(where, f"cat {path}") == mode


@contextlib.contextmanager
def connected(*names):
    """They are in connected mode for as long as this lasts."""
    try:
        for name in names:
            set_mode(name, "connected")
        yield
    finally:
        for name in names:
            set_mode(name, "datagram")


def mtu(where):
    return int(lab.run(where, f"cat /sys/class/net/{interface(where)}/mtu"))


def down(where):
    lab.call(where, "modprobe -r ib_ipoib")


def load_gsi(dom0="dom0"):
    """Workers that start from now on find the module. Those that have it open keep it from going."""
    lab.run(dom0, "[ -d /sys/module/xen_ibgsi ] || insmod /lib/modules/xen-ibgsi.ko")


@contextlib.contextmanager
def detached(*names):
    """These guests are without vHCAs for as long as this lasts, and have new ones afterwards."""
    for name in names:
        lab.lab("detach", name)
    yield
    for name in names:
        lab.lab("attach", name)


def again(where):
    """A worker of its own that knows of the module."""
    with detached(where):
        pass


def answers(where, other, addresses=ADDRESS):
    return lambda: lab.ok(where, "ping", "-c", "1", "-W", "1", addresses[other])


def link_address(where):
    """The automatic one, which is nobody else's."""
    show = f"ip -o -6 address show dev {interface(where)} scope link -tentative -dadfailed"
    wait.until(f"{where} has an address of its link", lambda: lab.run(where, show))
    return re.search(r"inet6 ([0-9a-f:]+)/", lab.run(where, show))[1]


def ping(where, other, *options):
    wait.until(f"{other} answers {where}", answers(where, other))
    return lab.run(where, "ping", "-c", "3", "-W", "20", *options, ADDRESS[other])


def connected_ping(where, other):
    """Packets that are too large for datagrams, in both directions."""
    with connected(where, other):
        assert [mtu(name) for name in (where, other)] == [65520] * 2
        for here, there in ((where, other), (other, where)):
            ping(here, there, "-s", "30000", "-M", "do")


def unload_gsi(*names):
    """Nobody has it open but the workers of these guests, whose vHCAs are attached again."""
    with detached(*names):
        lab.run("dom0", "rmmod xen-ibgsi")


@contextlib.contextmanager
def everywhere(*names):
    """In dom0 and in these guests."""
    lab.run("dom0", "/lab/subnet-manager start")
    load_gsi()
    try:
        up("dom0")
        for name in names:
            with detached(name):
                ktest.load(name, "kverbs=1")
            up(name)
        yield
    finally:
        for name in names:
            down(name)
        down("dom0")
        with detached(*names):
            for name in names:
                ktest.load(name)
            lab.run("dom0", "rmmod xen-ibgsi")
        lab.run("dom0", "/lab/subnet-manager stop")


@contextlib.contextmanager
def reaching(pairs, *names):
    """Everywhere, in these guests or both; and of each of these pairs the one reaches the other."""
    with everywhere(*(names or GUESTS)):
        for where, other in pairs:
            ping(where, other)
        yield
