# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A guest with two vCPUs: it has two completion vectors, and each vCPU handles one of them; and what stands on its device is used by both at
once. Other guests of the tests have one vCPU, and so are frontends that know of one vector."""

import re

import pytest

from harness import cm, daemon, guest, ipoib, ktest, lab, nvme, process, tcp, ulps, wait

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("guest_of_two"), pytest.mark.timeout(480)]

GUEST, OTHER = "guest3", "guest1"
BOTH_WAYS = [(GUEST, OTHER), (OTHER, GUEST)]


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


def test_kernel_cases():
    """What the kernels of the other guests are tested with, and that they go on when the worker is killed."""
    with ktest.loaded(GUEST, "kverbs=1"):
        ktest.run_all(GUEST, ktest.CASES + ktest.MORE)


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


# ---- both vCPUs at once ----


@pytest.fixture(scope="module")
def interfaces(guest_of_two):
    with ipoib.reaching([(GUEST, OTHER)], GUEST, OTHER):
        yield


@pytest.mark.parametrize("where, other", BOTH_WAYS)
def test_streams(interfaces, where, other):
    """By TCP, four each way, while datagrams of three fragments go and come."""
    address = ipoib.ADDRESS[other]
    with lab.running(where, f"ping -q -i 0.01 -s 5000 {address}") as ping:
        with tcp.server(other, 5201, f"iperf3 -s -1 -B {address}") as server, ulps.sending(8 << 20):
            lab.run(where, f"iperf3 -c {address} -n 8M -P 4 --bidir", merge=True)
            server.finish()
        lab.run(where, "killall -INT ping")
        ping.finish()
        said = ping.said()
    assert int(said.split(" received")[0].split()[-1]) > 10, said


ON_EACH = f"{ulps.FIO} --bs=4k --size=2m --numjobs=2 --offset_increment=2m --cpus_allowed=0-1 --cpus_allowed_policy=split"


@pytest.mark.parametrize("where, other", BOTH_WAYS)
def test_disk(interfaces, where, other):
    """By NVMe, with a queue for each vCPU that the user has, and a program on each, while streams go by TCP."""
    address = ipoib.ADDRESS[other]
    with nvme.connected(where, other, queues=2):
        with tcp.server(other, 5201, f"iperf3 -s -B {address}"), lab.running(where, f"iperf3 -c {address} -t 1000 --bidir"):
            if where == GUEST:
                lab.run(where, ON_EACH, merge=True)
            else:
                ulps.fio(where, other, "4k", 2)
            nvme.compare(where, other)
            lab.call(where, "killall -KILL iperf3")
            lab.call(other, "killall -KILL iperf3")


@pytest.mark.parametrize("where, other", BOTH_WAYS)
def test_files(interfaces, where, other):
    ulps.files("nfs", where, other)


@pytest.mark.parametrize("where, other", BOTH_WAYS)
def test_connections(interfaces, where, other):
    for program in cm.PROGRAMS:
        cm.connect(program, where, other)
