# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Tests in which everything happens that the harness must cope with: test_harness.py looks at their results."""

import os
import time
from pathlib import Path

import pytest

from harness import TESTS, lab, process, programs, pvh, wait

SAMPLE = Path(os.environ["SAMPLE"])


@pytest.fixture(scope="session")
def prepared(machine):
    machine.prepare(lambda: lab.run("dom0", f"echo prepared >>{SAMPLE}/log"))


@pytest.fixture(scope="module")
def batch(machine, request):
    with programs.Batch(request, lambda program: lab.run_words("dom0", TESTS / "host" / "harness" / program)) as batch:
        yield batch


@pytest.mark.timeout(1)
@pytest.mark.parametrize("program", ["cases"])
@pytest.mark.parametrize("case", ["first", "fail", "skip", "hang", "next", "die", "last"])
def test_batch(batch, program, case):
    batch.run(program, case)


@pytest.mark.timeout(1)
def test_hangs():
    time.sleep(60)


MEET = f"touch {SAMPLE}/$0; until [ -e {SAMPLE}/$1 ]; do sleep 0.1; done"
AHEAD = {
    "one": (MEET, "one", "other"),
    "other": (MEET, "other", "one"),
    "fails": ("echo the reason; false",),
    "slow": ("echo last words; sleep 60",),
    "gives-way": ("until [ ! -e /proc/self/autogroup ] || grep -q 'nice 10$' /proc/self/autogroup; do sleep 0.1; done",),
    "next": ("true",),
}


@pytest.mark.ahead
@pytest.mark.timeout(2)
@pytest.mark.parametrize("name", AHEAD)
def test_ahead(name):
    process.check("sh", "-c", *AHEAD[name])


def says(text):
    lab.run("dom0", f"echo {text} >>{lab.STATE}/dom0.log")


def test_says(prepared):
    says("hello")


def test_says_expected(prepared):
    says("Command line: BUG")


def test_says_half(prepared):
    """As much of a line as had come when it was looked at."""
    lab.run("dom0", f"printf BU >>{lab.STATE}/dom0.log")


def test_says_whole(prepared):
    says("G")


def test_fault(prepared):
    says("BUG")


def test_after_fault(prepared):
    assert lab.run("dom0", "echo hello") == "hello"


def test_falls(prepared):
    (SAMPLE / "fallen").touch()
    lab.run("dom0", "true")


def test_falls_behind(prepared):
    (SAMPLE / "fallen").touch()


def test_notices(prepared):
    lab.ok("dom0", "true")


def test_stands_again(prepared):
    lab.run("dom0", "true")


def test_guest_silent(prepared):
    (SAMPLE / "fallen-guest").touch()
    raise wait.Silent("guest1 does not answer")


def test_guest_again(prepared):
    assert not (SAMPLE / "fallen-guest").exists()


FALLS = (1, 3)  # of the times that it is prepared


@pytest.fixture(scope="session")
def unsteady(machine):
    """The machine falls as it is prepared: the first time, and when it is started again for others."""

    def put():
        (SAMPLE / "begun").open("a").write(".")
        if len((SAMPLE / "begun").read_text()) in FALLS:
            (SAMPLE / "fallen").touch()
        lab.run("dom0", "true")

    machine.prepare(put)


def test_unsteady(unsteady):
    """The fixture fails for it, and for no other."""


def test_unsteady_next(unsteady):
    (SAMPLE / "fallen").touch()
    lab.run("dom0", "true")


def test_unsteady_third(unsteady):
    lab.run("dom0", "true")


TRIES = []  # of which there is one for each time that a PVH guest fell, or that a test was made


@pytest.mark.parametrize("falls", [0, 2, 3])
def test_pvh(monkeypatch, falls):
    """A PVH guest falls so often, and the test would pass without that."""
    monkeypatch.setattr(pvh, "triple_faults", lambda: len(TRIES))

    @pvh.again_if_it_falls
    def test():
        if len(TRIES) < falls:
            TRIES.append(falls)
            raise AssertionError("it does not answer")

    TRIES.clear()
    test()


def test_pvh_errs(monkeypatch):
    """The test fails, and the guest has not fallen."""
    monkeypatch.setattr(pvh, "triple_faults", lambda: 1)

    @pvh.again_if_it_falls
    def test():
        TRIES.append("errs")
        raise AssertionError(f"made {TRIES.count('errs')} times")

    test()
