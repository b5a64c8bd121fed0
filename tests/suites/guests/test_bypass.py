# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Posting and polling involve nobody but guest and HCA."""

import collections
import contextlib
import re

import pytest

from harness import BUILD, LAB_NAME, TOP, daemon, hca, lab, pairs, process, trace, wait
from harness.traffic import between_guests

pytestmark = [pytest.mark.usefixtures("guests"), pytest.mark.timeout(180)]

BENCHMARKS = BUILD / "benchmarks"
DOORBELLS = 5000

# The processes of the daemon beside two guests, as the kernel calls them, and how many there are at least: the supervisor and
# the workers, their brokers and mm pins.
DAEMON = {"xen-ibback": 3, "xen-ib-broker": 2, "xen-ib-mm-pin": 2}


def daemon_processes():
    """How many there are at least. Workers whose memory is all in dma-bufs have no mm pin."""
    if hca.has_odp(0) and daemon.has_queue_dmabufs():
        return {**DAEMON, "xen-ib-mm-pin": 0}
    return DAEMON


def doorbells():
    """How often each doorbell page of the first HCA was rung on. The page with doorbells of EQs is that of dom0's kernel."""
    return {
        row["page"]: row["sq_doorbells"] + row["cq_arms"]
        for row in hca.ask("uars")["uar"]
        if row["function"] == 0 and not row["eq_doorbells"]
    }


def rung(before):
    """On which doorbell pages it was rung since then, and how often."""
    return {page: count - before[page] for page, count in doorbells().items() if count != before.get(page, count)}


@contextlib.contextmanager
def frozen_daemon():
    """All of it stands still, also at the end."""
    try:
        lab.run("dom0", "pkill -STOP '^xen-ib'")
        yield
        there = collections.Counter()
        for line in lab.run("dom0", "ps -eo stat=,comm= | grep -w 'xen-ib.*'").splitlines():
            state, name = line.split()[:2]
            assert state.startswith("T"), f"it runs on: {line}"
            there[name] += 1
        assert all(there[name] >= least for name, least in daemon_processes().items()), there
    finally:
        lab.run("dom0", "pkill -CONT '^xen-ib'")


@pytest.mark.parametrize(
    "command, pages",
    [
        # Both sides send.
        (["ib_write_lat", "-s", 64, "-D", 300], 2),
        # One side posts receives alone, which needs no doorbell.
        pytest.param(["ib_send_bw", "-s", 4096, "-D", 300], 1, marks=pytest.mark.long),
    ],
    ids=["latency", "bandwidth"],
)
def test_freeze(command, pages):
    """While the daemon stands still the programs go on, and ring doorbells on their own pages alone."""
    with between_guests(*command), frozen_daemon():
        before = doorbells()
        wait.until("doorbells while the daemon stands still", lambda: sum(rung(before).values()) >= DOORBELLS)
        assert len(rung(before)) == pages, f"before: {before}\nmore: {rung(before)}"
    pairs.run("guest2")


# What a process asks dom0 for that opens the device, makes and connects two RC QPs with a CQ each, destroys them and closes the
# device. Its queues take three arenas. The HCA of the lab has no BlueFlame, so there is one doorbell page.
CONNECTIONS = 2
WAITED = {
    "CTX_OPEN": 1,
    "UAR_ALLOC": 1,
    "UMEM_CREATE": 3,
    "UMEM_DESTROY": 3,
    "CTX_CLOSE": 1,
    "PORT_QUERY": 1,
    "PD_ALLOC": 1,
    "QP_CREATE": CONNECTIONS,
    "QP_MODIFY": CONNECTIONS,
    "QP_DESTROY": CONNECTIONS,
}
POSTED = {"CQ_CREATE": CONNECTIONS, "QP_MODIFY": 2 * CONNECTIONS, "CQ_DESTROY": CONNECTIONS, "PD_FREE": 1, "UAR_FREE": 1}


def test_trips():
    """How often a program has to wait for dom0 to connect: neither more nor less than is committed here."""
    lab.put("guest1", BENCHMARKS / "objects", to=lab.THERE)
    found = trace.requests("guest1", "objects", "-d", "xenib0", "--count", CONNECTIONS, "--rounds", 1)
    assert (found.waited, found.posted) == (WAITED, POSTED)


REGISTERED = {"CTX_OPEN": 1, "PD_ALLOC": 1, "MR_REG": 3, "MR_DEREG": 3, "CTX_CLOSE": 1}


def test_trips_registration():
    """Of a page: cold, again, and while it is held."""
    lab.put("guest1", BENCHMARKS / "registration", to=lab.THERE)
    found = trace.requests("guest1", "registration", "-d", "xenib0", "--most", 1, "--rounds", 1)
    assert (found.waited, found.posted) == (REGISTERED, {"PD_FREE": 1})


def ring_traffic():
    """What has passed the rings of both guests so far: each has had commands and events by the time that it is connected."""
    said = {}
    for guest in ("guest1", "guest2"):
        text = daemon.status_file(guest)
        said[guest] = re.findall("^(?:kicks|notifies|command) .*", text, re.MULTILINE)
        for line in ("kicks [1-9]", "notifies [1-9]", "command .* [1-9][0-9]*$"):
            assert re.search(f"^{line}", text, re.MULTILINE), f"{guest}: not even the commands by which it was connected:\n{text}"
    return said


@pytest.mark.long
def test_million_messages():
    with between_guests("ib_write_bw", "-s", 8, "-D", 600, "-Q", 100):
        before = wait.settled(ring_traffic)
        start = hca.total("messages_sent")
        wait.until("a million messages", lambda: hca.total("messages_sent") >= start + 1000000, seconds=2 * wait.SECONDS)
        assert wait.settled(ring_traffic) == before, "commands or events passed meanwhile"


@pytest.mark.long
def test_instructions(tmp_path):
    """No call of the data path takes more instructions in a guest than libmlx5's in dom0."""
    process.check(TOP / "benchmarks" / "bench", "--only", "instructions", "--rounds", 1, "--limit", 1, "--output", tmp_path,
                  env={"LAB_NAME": LAB_NAME}, seconds=170, merge=True)
