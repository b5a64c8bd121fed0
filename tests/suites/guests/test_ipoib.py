# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""IPoIB in guests: their kernels join the broadcast group and find paths by dom0's xen-ibgsi, and send by their own QPs."""

import pytest

from harness import daemon, guest, ipoib, lab

pytestmark = [pytest.mark.usefixtures("interfaces"), pytest.mark.timeout(240)]

PAIRS = [("guest2", "dom0"), ("guest1", "guest2")]


@pytest.fixture(scope="module")
def interfaces(guests):
    """At its end both guests are detached, and nobody has the module open: it can be removed."""
    with ipoib.everywhere():
        yield


@pytest.mark.parametrize("where, other", PAIRS)
def test_ping(where, other):
    """Small packets, and such as are sent in fragments."""
    ipoib.ping(where, other)
    ipoib.ping(where, other, "-s", "8000")


def test_saquery():
    """A program of the guest asks the SA, which answers with a table."""
    said = lab.run("guest1", "saquery", "-C", "xenib0", "-N")
    assert "NodeRecord" in said, said


def test_interface_down():
    """dom0's interface goes, and with it dom0's membership of the groups: guests keep theirs."""
    name = ipoib.interface("dom0")
    lab.run("dom0", f"ip link set {name} down")
    try:
        ipoib.ping("guest1", "guest2")
        groups = lab.run("dom0", "saquery", "-g")
        assert "ff12:401b:ffff::ffff:ffff" in groups, groups
    finally:
        lab.run("dom0", f"ip link set {name} up")
    ipoib.ping("guest1", "dom0")


def test_verbs_alone():
    """Another vHCA of the same guest, whose kernel has no part in the fabric's management there by its configuration."""
    lab.lab("attach", "guest1", "--dev", "1", "kernel=verbs", "max-mem-bytes=64M")
    try:
        devices = lab.run("guest1", "cat /sys/class/infiniband_mad/umad*/ibdev").split()
        assert devices == ["xenib0"], devices
        shown = lab.run("dom0", "xen-ib show guest1 1 --json")
        assert '"kernel"' in shown, shown
    finally:
        lab.lab("detach", "guest1", "--dev", "1")


@pytest.mark.long
def test_sm_restart():
    """The subnet manager forgets all groups; everybody joins again."""
    lab.run("dom0", "/lab/subnet-manager stop && /lab/subnet-manager start")
    ipoib.ping("guest1", "guest2")
    ipoib.ping("guest2", "dom0")


@pytest.mark.long
def test_kill_worker():
    """The interface goes with the device and comes back with it; the other guest's is not touched."""
    worker = daemon.worker("guest2")
    lab.run("dom0", "kill", "-9", worker)
    guest.until_new_worker("guest2", worker)
    ipoib.up("guest2")
    ipoib.ping("guest2", "guest1")
    ipoib.ping("guest1", "dom0")
