# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What benchmarks/bench and benchmarks/cost make of their numbers."""

import pytest

from harness import BUILD, KERNEL, LAB_NAME, TESTS, TOP, process

OTHER_VERSIONS = 3


@pytest.mark.parametrize("name", ["check", "check-cost"])
def test_numbers(name):
    process.check(TESTS / "host" / "benchmarks" / name, merge=True)


@pytest.mark.long
@pytest.mark.ahead
@pytest.mark.skipif(KERNEL != "stock", reason="counts are of the stock kernel")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("percent", [5])
def test_cost(percent):
    """What guests' kernel and user verbs cost is no more than what docs/results/cost says. On a machine of its own."""
    if not (BUILD / "benchmarks" / "counter.so").exists():
        pytest.skip("the tools root has no header for plugins of its QEMU")
    out = BUILD / "tests" / "cost"
    cost = TOP / "benchmarks" / "cost"
    only = [word for name in ("registration", "objects", "commands", "messages") for word in ("--only", name)]
    process.check(cost, "--rounds", 3, *only, "--output", out, "--down", env={"LAB_NAME": f"{LAB_NAME}-cost"}, seconds=600, merge=True)
    result = process.call(cost, "--compare", TOP / "docs/results/cost/counts.txt", out, "--limit", percent, merge=True)
    if result.status == OTHER_VERSIONS:
        pytest.skip(result.out)
    assert result.status == 0, result.out
