# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A guest is suspended again and again while a program uses its vHCA: nothing gathers, in dom0, in the guest, in the HCA.

CYCLES in the environment: how often, 200 unless given. The last tenth of it is saved and restored, else it goes on where it was.
"""

import contextlib
import os

import pytest

from harness import gathered, guest, lab, pairs, save, wait

CYCLES = int(os.environ.get("CYCLES") or 200)
RESTORED = 10

pytestmark = [pytest.mark.usefixtures("guests"), pytest.mark.timeout(600 + 20 * CYCLES), pytest.mark.long]

# KiB of memory for which nobody is to blame, at rest.
ROOM = 4096

READY = "grep -qs ACTIVE /sys/class/infiniband/xenib0/ports/1/state"
WORDS = f"{lab.THERE}/neighbour -d xenib0 until-told <>/tmp/told >>/tmp/cycles 2>&1"
LOOP = f"while [ -e /tmp/go ]; do if {READY}; then {WORDS}; fi; usleep 200000; done"
FOR_EVER = f":>/tmp/cycles; [ -p /tmp/told ] || mkfifo /tmp/told; touch /tmp/go; setsid sh -c '{LOOP}' & true"
STARTS = "grep -c ^working /tmp/cycles"


class Program:
    """One that uses the device of guest2, and is started again whenever it has lost it. To ask for it takes the guest's processor, so the guest
    waits."""

    def starts(self):
        return int(lab.run("guest2", f"{STARTS}; true"))

    def until_works(self, starts=0):
        """It has been started more often than that, and is at work. The one before would wait for completions for a while."""
        __tracebackhide__ = True
        lab.run("guest2", f"[ {starts} = 0 ] || pkill -9 -x neighbour; until [ $({STARTS}) -gt {starts} ]; do usleep 200000; done")


@contextlib.contextmanager
def for_ever():
    lab.run("guest2", FOR_EVER)
    try:
        yield Program()
    finally:
        lab.run("guest2", "rm -f /tmp/go; pkill -9 -x neighbour; true")


def suspend(program):
    """It is suspended, and goes on. Nobody has to keep what it was."""
    starts = program.starts()
    lab.run("dom0", "xl save -c guest2 /dev/null", merge=True)
    program.until_works(starts)


def restore(program):
    starts = program.starts()
    with save.saved("guest2") as saved:
        saved.restore()
    program.until_works(starts)


def at_rest():
    """What there is without that program."""
    guest.until_active("guest2")
    pairs.run("guest2")
    return gathered.counts(), {where: gathered.used(where) for where in ("dom0", "guest2")}


def cycles(count, cycle):
    with for_ever() as program:
        program.until_works()
        for _ in range(count):
            cycle(program)


def nothing_gathers(before, used):
    """used: of the machines that are looked at"""
    __tracebackhide__ = True

    def as_before():
        now, used_now = at_rest()
        more = {where: (used[where], used_now[where]) for where in used if used_now[where] > used[where] + ROOM}
        differences = {**gathered.differences(before, now), **more}
        assert not differences, differences
        return True

    wait.until("all is as it was before", as_before)


def test_cycles():
    """The first ones make what is made on first use. A restored guest has 1.7 MiB less each time, also when no vHCA is
    attached: there its memory is not looked at."""
    cycles(1, suspend)
    cycles(1, restore)
    before, used = at_rest()
    cycles(CYCLES - CYCLES // RESTORED, suspend)
    nothing_gathers(before, used)
    cycles(CYCLES // RESTORED, restore)
    nothing_gathers(before, {"dom0": used["dom0"]})
    print(f"{CYCLES} cycles: {used} KiB before, {at_rest()} now")
