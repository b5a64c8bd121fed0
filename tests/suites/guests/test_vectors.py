# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A guest with two vCPUs: it has two completion vectors, and each vCPU handles one of them. Other guests of the tests have one vCPU, and so
are frontends that know of one vector."""

import re

import pytest

from harness import daemon, guest, ktest, lab, process, wait

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("guest_of_two"), pytest.mark.timeout(480)]

GUEST = "guest3"


@pytest.fixture(scope="module")
def guest_of_two(guests):
    """Others want its memory."""
    lab.lab("guest", "start", GUEST, "--type", "pv", "--vcpus", "2", merge=True)
    try:
        guest.start_again(GUEST)
        yield
    finally:
        process.call(lab.LAB, "guest", "stop", GUEST, "--kill")


def handled():
    """By channel: how often each vCPU was interrupted by it."""
    rows = lab.run(GUEST, "grep xen-ibfront-events- /proc/interrupts").splitlines()
    return {row.split()[-1][-1]: [int(count) for count in row.split()[1:3]] for row in rows}


def deliver(vectors):
    """A process has a CQ of each vector, and hears of its completion."""
    said = lab.run(GUEST, f"{lab.THERE}/events -d xenib0 -D xenib0 -v cq-every-vector 2>&1")
    assert f"the device has {vectors} vectors" in said, said


def assert_each_has_its_own(before, after):
    """What was handled since then, by vector and vCPU."""
    for vector, other in (("0", 1), ("1", 0)):
        own = 1 - other
        assert after[vector][own] > before[vector][own], (before, after)
        assert after[vector][other] == before[vector][other], (before, after)


def test_processes():
    before = handled()
    deliver(2)
    assert_each_has_its_own(before, handled())


def test_kernel():
    """Its modules have CQs of the second vector."""
    with ktest.loaded(GUEST, "kverbs=1"):
        before = handled()
        ktest.run(GUEST, "rc-event")
        after = handled()
        assert after["1"][1] > before["1"][1] and after["1"][0] == before["1"][0], (before, after)
        ktest.run(GUEST, "many")


def test_backend_of_one():
    """One that does not offer several."""
    backend = f"/local/domain/0/backend/vhca/{daemon.domid(GUEST)}/0"
    lab.run(GUEST, "rmmod xen-ibfront")
    wait.until("the vHCA is offered again", lambda: lab.run("dom0", f"xenstore-read {backend}/state").strip() == "2")
    lab.run("dom0", f"xenstore-rm {backend}/max-event-vectors")
    guest.restore_device(GUEST)
    assert list(handled()) == ["0"]
    deliver(1)
    nodes = lab.run("dom0", f"xenstore-ls /local/domain/{daemon.domid(GUEST)}/device/vhca/0")
    assert re.search("^ *event-event-channel", nodes, re.MULTILINE), nodes
    assert not re.search("^ *event-vectors", nodes, re.MULTILINE), nodes
