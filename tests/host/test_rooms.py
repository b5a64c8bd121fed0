# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Unit tests and fuzzers of the rooms: a test for each program (unit/test_*.c, fuzz/fuzz_*.c; build-rules.mk)."""

import os
from pathlib import Path

import pytest

from harness import PATIENCE, TESTS, TOP, lab, process
from harness.ahead import once

ROOMS = ["shared-ring", "provider", "backend", "tools", "tests/hca"]
FUZZ_SECONDS = int(os.environ.get("FUZZ_SECONDS") or 60)  # of each fuzzer, in the long run
SMOKE_SECONDS = 10


def programs(kind):
    """The programs of a kind, "unit" or "fuzz", of all rooms: parameters, called ROOM/NAME."""
    found = []
    for room in ROOMS:
        for line in process.check("make", "-s", "--no-print-directory", "-C", TOP / room, "list").splitlines():
            word, program = line.split()
            if word == kind:
                name = program.removeprefix("test_").removeprefix("fuzz_")
                found.append(pytest.param(room, program, id=f"{Path(room).name}/{name}"))
    return found


UNIT = programs("unit")
FUZZ = programs("fuzz")


def make(room, *arguments):
    __tracebackhide__ = True
    return lab.root("tools", "make", "-s", "--no-print-directory", "-C", TOP / room, *arguments)


@once
def compile_all(room):
    """The room's unit tests and fuzzers are compiled together, by the first test that needs one."""
    make(room, f"-j{os.cpu_count()}", "tests", "fuzzers")


@pytest.mark.ahead
@pytest.mark.timeout(240)
@pytest.mark.parametrize("room, program", UNIT)
def test_unit(room, program):
    """From its room's folder, as "make unit" runs it. "within" shows where the threads of a program are that does not end."""
    compile_all(room)
    lab.root("tools", TESTS / "host" / "within", 100 * PATIENCE, TOP / "build" / room / program, cwd=TOP / room)


@pytest.mark.ahead
@pytest.mark.timeout(240)
@pytest.mark.parametrize("room, program", FUZZ)
def test_fuzz(room, program):
    """As many inputs as the room has for a start (FUZZ_SMOKE), or for some seconds, and all that have found something before."""
    compile_all(room)
    make(room, program.replace("_", "-", 1), "FUZZ_RUNS=$(FUZZ_SMOKE)", f"FUZZ_SECONDS={SMOKE_SECONDS}")


@pytest.mark.long
@pytest.mark.ahead
@pytest.mark.timeout(240 + 2 * FUZZ_SECONDS)
@pytest.mark.parametrize("room, program", FUZZ)
def test_fuzz_long(room, program):
    compile_all(room)
    make(room, program.replace("_", "-", 1), "FUZZ_RUNS=-1", f"FUZZ_SECONDS={FUZZ_SECONDS}")
