# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Programs of tests/programs/isolation: what a process must not be able to do to another, in its guest and in another one."""

import pytest

from harness import lab, programs

STEAL_PORT = 18790  # as steal.h has it

pytestmark = pytest.mark.timeout(300)


def command(guest, program, *options):
    return lab.run_words(guest, f"{lab.THERE}/{program}", *options, "--results", "-d", "xenib0")


# ---- processes of a guest ----


@pytest.fixture(scope="module")
def batches(guests, request):
    """By program. The guests work at once."""
    in_guest1 = programs.Batch(request, lambda program: command("guest1", program, "-D", "xenib0"))
    in_guest2 = programs.Batch(request, lambda program: command("guest2", program, "-D", "xenib0"))
    with in_guest1, in_guest2:
        in_guest2.begin("steal")
        yield {"forge": in_guest1, "steal": in_guest2}


LONG = ["message-answer", "race-contexts", "race-freed", "race-twice"]


@pytest.mark.parametrize("program, case", programs.cases("isolation", "forge", "steal", wanted=lambda name: not name.startswith("mlx5-"), long=LONG))
def test_processes(batches, program, case):
    batches[program].run(program, case)


# ---- a process of guest1, whose victim is in guest2 ----


@pytest.fixture(scope="module")
def from_guest(guests, request):
    with lab.running("guest2", f"{lab.THERE}/steal", "serve", "xenib0"):
        lab.run("guest2", f"{lab.THERE}/agent", "await", STEAL_PORT)
        with programs.Batch(request, lambda program: command("guest1", program, "--peer", "guest2")) as batch:
            yield batch


# Of these the gate has the attacks of another process alone.
FROM_PROCESS = [f"{operation}-{why}" for operation in ("cas", "faa") for why in ("own-qp", "other-pd", "unwanted", "nowhere")]


@pytest.mark.parametrize("program, case", programs.cases("isolation", "steal", long=FROM_PROCESS))
def test_steal_from_guest(from_guest, program, case):
    from_guest.run(program, case)
