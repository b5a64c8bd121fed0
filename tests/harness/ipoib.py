# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""IPoIB in dom0 and in guests, whose kernels use their vHCAs; opensm in dom0 is the subnet manager."""

import contextlib

from harness import guest, ktest, lab, wait

GUESTS = ["guest1", "guest2"]
ADDRESS = {"dom0": "10.9.0.1", "guest1": "10.9.0.11", "guest2": "10.9.0.12"}
HCA = {"dom0": "mlx5_0", "guest1": guest.DEVICE, "guest2": guest.DEVICE}


def interface(where):
    return lab.run(where, f"ls /sys/class/infiniband/{HCA[where]}/device/net | head -n 1")


def up(where):
    """It has an interface with its address, which has joined the broadcast group."""
    lab.run(where, "modprobe ib_ipoib")
    wait.until(f"{where} has an IPoIB interface", lambda: lab.ok(where, f"ls /sys/class/infiniband/{HCA[where]}/device/net/*"))
    name = interface(where)
    lab.run(where, f"ip address replace {ADDRESS[where]}/24 dev {name} && ip link set {name} up")
    wait.until(f"{where} has joined", lambda: lab.ok(where, f"ip -o link show {name} | grep -q LOWER_UP"))


def down(where):
    lab.call(where, "modprobe -r ib_ipoib")


def load_gsi():
    """Workers that start from now on find the module. Those that have it open keep it from going."""
    lab.run("dom0", "[ -d /sys/module/xen_ibgsi ] || insmod /lib/modules/xen-ibgsi.ko")


def again(where):
    """A worker of its own that knows of the module."""
    lab.lab("detach", where)
    lab.lab("attach", where)


def answers(where, other):
    return lambda: lab.ok(where, "ping", "-c", "1", "-W", "1", ADDRESS[other])


def ping(where, other, *options):
    wait.until(f"{other} answers {where}", answers(where, other))
    return lab.run(where, "ping", "-c", "3", "-W", "20", *options, ADDRESS[other])


@contextlib.contextmanager
def everywhere():
    lab.run("dom0", "/lab/subnet-manager start")
    load_gsi()
    try:
        up("dom0")
        for name in GUESTS:
            again(name)
            ktest.reload(name, "kverbs=1")
            up(name)
        yield
    finally:
        for name in GUESTS:
            down(name)
            ktest.reload(name)
            lab.lab("detach", name)
        down("dom0")
        lab.run("dom0", "rmmod xen-ibgsi")
        for name in GUESTS:
            lab.lab("attach", name)
        lab.run("dom0", "/lab/subnet-manager stop")
