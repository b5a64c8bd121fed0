# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The stock driver in dom0 goes and comes back: as a whole, for one HCA, and while a program has objects."""

import contextlib

import pytest

from harness import lab, pairs, rdma, wait

HCAS = ["mlx5_0", "mlx5_1"]

pytestmark = [pytest.mark.usefixtures("dom0"), pytest.mark.timeout(180)]


def until_active():
    for hca in HCAS:
        wait.until(f"{hca} is ACTIVE", lambda: rdma.active("dom0", hca))


def unload():
    lab.run("dom0", "rmmod mlx5_ib mlx5_core || { lsmod | grep mlx5; false; }")
    assert not rdma.exists("dom0", HCAS[0])


@contextlib.contextmanager
def loaded_again():
    try:
        yield
    finally:
        lab.run("dom0", "modprobe mlx5_core && modprobe mlx5_ib")
        until_active()


def test_reload():
    with loaded_again():
        unload()
    pairs.run("dom0", "pingpong/rc")


def test_rebind():
    """One HCA is taken from its driver and given back; the other does not notice."""
    driver = "/sys/bus/pci/drivers/mlx5_core"
    pci = lab.run("dom0", f"basename $(readlink -f /sys/class/infiniband/{HCAS[1]}/device)")
    lab.run("dom0", f"echo {pci} >{driver}/unbind")
    try:
        assert not rdma.exists("dom0", HCAS[1])
        pairs.run("dom0", "pingpong/rc-one-hca")
    finally:
        lab.run("dom0", f"echo {pci} >{driver}/bind")
        until_active()
    pairs.run("dom0", "pingpong/rc")


@pytest.mark.long
def test_in_use():
    """The driver goes while a program holds its objects: the program is told, and nothing hangs."""
    with loaded_again(), lab.running("dom0", "stdbuf", "-oL", "ibv_asyncwatch", "-d", HCAS[0]) as watch:
        watch.until_says("async event FD")
        unload()
        watch.until_says("DEVICE_FATAL")
    pairs.run("dom0", "pingpong/rc")
