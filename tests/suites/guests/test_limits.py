# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Limits of a vHCA's configuration, and how much it bears."""

import contextlib
import re
import subprocess

import pytest

from harness import BUILD, daemon, lab, wait

pytestmark = [pytest.mark.usefixtures("guests"), pytest.mark.timeout(240)]


@contextlib.contextmanager
def second_vhca(*limits):
    """guest2's xenib1, with limits."""
    try:
        lab.lab("attach", "guest2", "--dev", 1, "hca=mlx5_1", *limits)
        yield
    finally:
        lab.lab("detach", "guest2", "--dev", 1)


def exhaust(where, *words):
    __tracebackhide__ = True
    return lab.run(where, f"{lab.THERE}/exhaust", *words, merge=True)


def test_refused():
    """Each kind of object: as many as allowed, and then ENOMEM, counted in dom0."""
    limits = "ctx=3 pd=5 mr=70 cq=6 qp=4 srq=2 ah=9 mcast=3".split()
    with second_vhca(*(f"max-{limit}" for limit in limits), "max-mem-bytes=4194304"):
        exhaust("guest2", "-d", "xenib1", *limits, "bytes=4194304")
        # Seven eighths of max-mem-bytes
        assert re.search(r"max_mr_size:.*0x380000$", lab.run("guest2", "ibv_devinfo -v -d xenib1"), re.MULTILINE)
        for op in "CTX_OPEN PD_ALLOC MR_REG CQ_CREATE QP_CREATE SRQ_CREATE AH_CREATE MCAST_ATTACH".split():
            wait.until(f"{op} is counted", lambda: daemon.status("guest2", f"refused {op} E_LIMIT", 1))


def test_multicast():
    """guest2 puts as many QPs into a group as it can, of which the HCA takes 128: others can still join it."""
    with lab.running("guest2", f"{lab.THERE}/exhaust", "-d", "xenib0", "--hold", "mcast=1000", stdin=subprocess.PIPE) as program:
        program.until_says("holding")
        exhaust("guest1", "-d", "xenib0", "--at-least", "mcast=1")
        lab.run("dom0", "mkdir", "-p", lab.THERE)
        lab.put("dom0", BUILD / "tests" / "programs" / "verbs" / "exhaust", to=lab.THERE)
        exhaust("dom0", "-d", "mlx5_0", "--at-least", "mcast=1")
        assert len(re.findall("^mcast: 8 made, then: ", program.said(), re.MULTILINE)) == 1
        wait.until("8 are counted", lambda: daemon.status("guest2", "object multicast") == 8)
        program.end_input()
        program.process.wait()


def victim(*words):
    __tracebackhide__ = True
    return lab.run("guest2", f"{lab.THERE}/victim", "-d", "xenib1", *words, "registers", merge=True)


def test_largest_region():
    """What the device says of the largest region is true, beside queues to use it with."""
    with second_vhca("max-mem-bytes=33554432"):
        victim("--results")


def commands(expression):
    """How many commands of these names there have been on the second vHCA."""
    return sum(int(count) for count in re.findall(rf"^command (?:{expression}) +(\d+)", daemon.status_file("guest2", 1), re.MULTILINE))


def commands_with_pages(size, times):
    """Registers so much so often, and returns how many commands have told the backend of pages."""
    before, closed = commands("UMEM_CREATE|UMEM_ADD"), commands("CTX_CLOSE")
    victim("--max-size", size, "--count", times)
    # The last command of a process is in the status file, and so are all before it.
    wait.until("its end is counted", lambda: commands("CTX_CLOSE") > closed)
    return commands("UMEM_CREATE|UMEM_ADD") - before


@pytest.mark.long
def test_registered_again():
    """A region that is registered again costs no more than the MR, however large it is: here 272 MiB, 68 commands' worth of pages."""
    with second_vhca("max-mem-bytes=402653184", "max-mr-bytes=402653184"):
        once = commands_with_pages(285212672, 1)
        assert once >= 68
        assert commands_with_pages(285212672, 3) == once


@pytest.mark.long
def test_many_qps():
    exhaust("guest1", "-d", "xenib0", "--at-least", "qp=500")


@pytest.mark.long
def test_many_mrs():
    exhaust("guest1", "-d", "xenib0", "--at-least", "mr=2000")


@pytest.mark.long
def test_many_processes():
    exhaust("guest1", "-d", "xenib0", "--processes", 64)
