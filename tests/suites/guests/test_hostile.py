# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A frontend in guest2's user space that breaks the protocol; guest1 works beside it, and must not notice."""

import subprocess

import pytest

from harness import guest, ipoib, lab, process, programs

pytestmark = pytest.mark.timeout(300)


# As tests/programs/isolation/hostile/limits.c has it
IMPOSED = "sl=3,min-timeout=18,min-rnr-timer=20,max-rd-atomic=2,max-qp-wr=256,ud=0"


@pytest.fixture(scope="module")
def neighbour(machine, guests):
    """guest2 has no frontend of its own, one P_Key, and a second vHCA, with a small quota, whose QPs have limits; in guest1 an honest program
    works."""

    def take_frontend():
        lab.lab("detach", "guest2")
        lab.lab("attach", "guest2", "pkeys=0")
        lab.lab("attach", "guest2", "--dev", 1, "max-mem-bytes=64M", IMPOSED)
        ipoib.load_gsi()
        lab.run("guest2", "rmmod xen-ibfront")

    with machine.prepared(take_frontend):
        with lab.running("guest1", f"{lab.THERE}/neighbour", "--results", "-d", "xenib0", "until-told", stdin=subprocess.PIPE) as neighbour:
            neighbour.until_says("working")
            yield neighbour
        guest.restore_device("guest2")
        lab.lab("detach", "guest2", "--dev", 1)
        ipoib.unload_gsi("guest2")  # which attaches the other one without limits


def command(program):
    return programs.answering("guest2", program)


@pytest.fixture(scope="module")
def hostile(neighbour, request):
    with programs.Batch(request, command) as batch:
        yield batch


LONG = [
    *("cm-many", "limits-create", "event-connect", "life-reconnect", "mad-sm", "mad-perf", "mad-ping"),
    *("connect-nothing", "connect-number", "connect-pages", "handle-vhca", "life-killed", "life-states", "life-skipped"),
    *("event-full", "mad-class", "persistent-closed", "persistent-race", "ring-kicks", "ring-many"),
    *("persistent-order", "persistent-refused", "persistent-stale", "life-close-under-load", "event-revoked", "ring-log"),
]


# The floods are for test_cm.py.
@pytest.mark.parametrize("program, case", programs.cases("isolation", "hostile", wanted=lambda name: name not in ("cm-flood", "cm-crowd"), long=LONG))
def test_hostile(hostile, program, case):
    hostile.run(program, case)


@pytest.mark.long
@pytest.mark.parametrize("count, cases", [(100, ["fetch-*"]), (2000, ["request-random", "ring-many", "ring-log", "ring-index", "ring-id"])])
def test_count(neighbour, count, cases):
    """More of what is by chance, or a matter of many."""
    process.check(*command("hostile"), "--count", count, *cases, merge=True)


def test_neighbour(neighbour):
    """Of all that guest2 does meanwhile, and at least of this, it has noticed nothing."""
    process.check(*command("hostile"), "handle-type", "handle-in-use", merge=True)
    neighbour.end_input()
    neighbour.finish()
    assert "@pass until-told" in neighbour.said()
