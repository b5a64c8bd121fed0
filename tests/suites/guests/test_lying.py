# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A daemon that lies to a guest (backend/unit/fakes/liar.c lists the lies), whose kernel must not believe it; guest1's worker is an
honest one. The guest is guest2, a PV one; what makes sense for a PVH guest, too, is made once more in test_pvh.py."""

import re
import time

import pytest

from harness import lab, liar, pairs, rdma, wait
from harness.liar import Lied, lie

pytestmark = pytest.mark.timeout(240)

LIED = Lied("guest2")


@pytest.fixture(scope="module", autouse=True)
def daemon_lies(machine, guests):
    with machine.prepared(lambda: liar.start(LIED.name)):
        yield
        liar.end(LIED.name)


@pytest.fixture(autouse=True)
def honest_again():
    yield
    LIED.honest_again()


# ---- doorbell pages ----


def frame_refused(frame):
    __tracebackhide__ = True
    LIED.page_refused(f"refusing frame 0x{frame:x} of the backend as a doorbell page", f"frame {frame:x}")


@pytest.mark.long
@pytest.mark.parametrize("bit", [51, 52, 60, 63])
def test_frame_bits(bit):
    """Not a frame number at all: the backend has broken the protocol."""
    LIED.page_refused("broke the protocol", f"frame-or {1 << bit:x}")
    LIED.until_device()
    pairs.run(LIED.name)


def test_frame_own():
    """The page of guest2's console, which is memory of guest2's kernel; by itself, and with a bit that is no address's."""
    own = int(lab.run("dom0", f"xenstore-read /local/domain/$(xl domid {LIED.name})/console/ring-ref"))
    bits = int(re.search(r"^address sizes.*: *(\d+) bits physical", lab.run(LIED.name, "cat /proc/cpuinfo"), re.MULTILINE)[1])
    assert own > 0 and bits >= 36
    frame_refused(own)
    if bits < 52:
        frame_refused(own | 1 << (bits - 12))
    pairs.run(LIED.name)


@pytest.mark.long
def test_frame_taken():
    """What guest2 has for a device: all of its map of resources that is neither memory nor made of it."""
    lines = [line for line in lab.run(LIED.name, "cat /proc/iomem").splitlines() if not re.search("RAM|Kernel|Xen", line)]
    taken = {int(found[1], 16) for line in lines if (found := re.match(r" *([0-9a-f]+)000-", line))} - {0}
    assert taken, "guest2 has no device in its map of resources"
    for frame in sorted(taken):
        frame_refused(frame)
    pairs.run(LIED.name)


# ---- what cannot be got rid of ----


@pytest.mark.long
@pytest.mark.parametrize("status", ["b", "e"], ids=["busy", "hca"])
def test_refuses(status):
    LIED.refuses(status)


# ---- events without end ----


@pytest.mark.parametrize(
    "words, told, counter, most, each_second",
    [
        # The victim has asked for one completion. Interrupts that bring nothing become few.
        ("completions", 12, "completion_events", 1, 0),
        # Two types of events of one QP
        pytest.param("async", 1000, "async_events", 2, 0, marks=pytest.mark.long),
        pytest.param("port", 1000, "async_events", 18, 1, marks=pytest.mark.long),
    ],
    ids=["completions", "async-events", "port-events"],
)
def test_events(words, told, counter, most, each_second):
    """While the backend lies so often, the counter of events grows by so much, and so much more for each second."""

    def count():
        return int(lab.run(LIED.name, f"cat /sys/class/infiniband/xenib0/hw_counters/{counter}"))

    with LIED.victim("waits", "waiting") as program:
        before, start = count(), time.monotonic()
        liar.forget_told()
        lie(words)
        wait.until(f"the backend has lied {told} times", lambda: liar.told() >= told)
        more = count() - before
        lie()
        assert 0 < more <= most + each_second * (time.monotonic() - start + 1)
        liar.passes(program)
    pairs.run(LIED.name)


# ---- pages that are not given back ----


@pytest.mark.long
def test_keeps():
    """It ends the device for good, with a line, and another vHCA under its number begins anew."""
    text = "keeps pages mapped that it has released"
    before = LIED.kernel_says(text)
    lie("keep")
    with LIED.victim("gives-back", "given back") as program:
        LIED.until_kernel_says(text, before)
        wait.until("the device goes", lambda: not rdma.exists(LIED.name, "xenib0"))
        liar.passes(program)
    assert LIED.kernel_says(text) == before + 1, "more than a line"
    lie()
    lab.lab("detach", LIED.name)
    lab.lab("attach", LIED.name)
    pairs.run(LIED.name)
