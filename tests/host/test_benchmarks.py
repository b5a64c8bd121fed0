# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What benchmarks/bench and benchmarks/cost make of their numbers."""

import re

import pytest

from harness import BUILD, KERNEL, LAB_NAME, TESTS, TOP, process

OTHER_VERSIONS = 3
PROGRAMS = ["registration", "objects", "commands", "messages"]


@pytest.mark.parametrize("name", ["check", "check-cost"])
def test_numbers(name):
    process.check(TESTS / "host" / "benchmarks" / name, merge=True)


def grown(round):
    """Counts of guests that are over 5 % above those of docs/results/cost in this round: what is counted, and both counts."""
    __tracebackhide__ = True
    out = BUILD / "tests" / "cost" / str(round)
    cost = TOP / "benchmarks" / "cost"
    only = [word for name in PROGRAMS for word in ("--only", name)]
    process.check(cost, "--rounds", 1, *only, "--output", out, "--down", env={"LAB_NAME": f"{LAB_NAME}-cost"}, merge=True)
    result = process.call(cost, "--compare", TOP / "docs/results/cost/counts.txt", out, "--limit", 5, merge=True)
    if result.status == OTHER_VERSIONS:
        pytest.skip(result.out)
    more = dict(re.findall(r"^(.+): (.+ instructions, were .+)$", result.out, re.MULTILINE))
    assert result.status == (1 if more else 0), result.out
    return more


@pytest.mark.ahead
@pytest.mark.skipif(KERNEL != "stock", reason="counts are of the stock kernel")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("rounds", [3])
def test_cost(rounds):
    """What guests' kernel and user verbs cost is no more than what docs/results/cost says, on a machine of its own. If the HCA model is late,
    all of a round can be more: a count has grown if it has in every round."""
    if not (BUILD / "benchmarks" / "counter.so").exists():
        pytest.skip("the tools root has no header for plugins of its QEMU")
    more = grown(1)
    for round in range(2, rounds + 1):
        if not more:
            return
        again = grown(round)
        more = {name: again[name] for name in more if name in again}
    assert not more, "\n".join(f"{name}: {counts}" for name, counts in more.items())
