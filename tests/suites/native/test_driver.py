# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The stock driver in dom0 goes and comes back: as a whole, for one HCA, and while a program has objects."""

import contextlib

import pytest

from harness import hca, lab, pairs, rdma, wait

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


@pytest.mark.long
def test_reload():
    with loaded_again():
        unload()
    pairs.run("dom0", "pingpong/rc")


@pytest.mark.long
def test_rebind():
    """One HCA is taken from its driver and given back; the other does not notice."""
    pci = hca.function_of(HCAS[1])
    lab.run("dom0", f"echo {pci} >{hca.DRIVER}/unbind")
    try:
        assert not rdma.exists("dom0", HCAS[1])
        pairs.run("dom0", "pingpong/rc-one-hca")
    finally:
        lab.run("dom0", f"echo {pci} >{hca.DRIVER}/bind")
        until_active()
    pairs.run("dom0", "pingpong/rc")


@pytest.mark.long
def test_without_odp():
    """mlx5 registers dma-bufs only if the HCA has on-demand paging; all else is as ever."""
    dmabuf = [f"{lab.THERE}/integrity", "-d", HCAS[0], "-D", HCAS[1], "dmabuf-whole"]
    lab.run("dom0", *dmabuf)
    with hca.without_odp():
        result = lab.call("dom0", *dmabuf, merge=True)
        assert result.status == 1 and "register 262144 bytes at 0 of a dma-buf" in result.out, str(result)
        pairs.run("dom0", "pingpong/rc")
    lab.run("dom0", *dmabuf)


@pytest.mark.long
def test_moderation():
    """An HCA that moderates completion events."""
    with hca.moderating():
        said = lab.run("dom0", f"{lab.THERE}/events", "-d", HCAS[1], "-D", HCAS[1], "cq-*", merge=True)
        assert " 0 skipped" in said, said


@pytest.mark.long
def test_in_use():
    """The driver goes while a program holds its objects: the program is told, and nothing hangs."""
    with loaded_again(), lab.running("dom0", "stdbuf", "-oL", "ibv_asyncwatch", "-d", HCAS[0]) as watch:
        watch.until_says("async event FD")
        unload()
        watch.until_says("DEVICE_FATAL")
    pairs.run("dom0", "pingpong/rc")
