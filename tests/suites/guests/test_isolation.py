# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Programs of tests/programs/isolation: what a process must not be able to do to another, in its guest and in another one."""

import pytest

from harness import lab, programs

STEAL_PORT = 18790  # as steal.h has it

pytestmark = pytest.mark.timeout(300)


def in_guest1(program, *options):
    return lab.run_words("guest1", f"{lab.THERE}/{program}", *options, "--results", "-d", "xenib0")


# ---- processes of a guest ----


@pytest.fixture(scope="module")
def batch(guests, request):
    with programs.Batch(request, lambda program: in_guest1(program, "-D", "xenib0")) as batch:
        yield batch


@pytest.mark.parametrize("program, case", programs.cases("isolation", "forge", "steal", long=["message-answer"]))
def test_processes(batch, program, case):
    batch.run(program, case)


# ---- a process of guest1, whose victim is in guest2 ----


@pytest.fixture(scope="module")
def from_guest(guests, request):
    with lab.running("guest2", f"{lab.THERE}/steal", "serve", "xenib0"):
        lab.run("guest2", f"{lab.THERE}/agent", "await", STEAL_PORT)
        with programs.Batch(request, lambda program: in_guest1(program, "--peer", "guest2")) as batch:
            yield batch


@pytest.mark.parametrize("program, case", programs.cases("isolation", "steal"))
def test_steal_from_guest(from_guest, program, case):
    from_guest.run(program, case)
