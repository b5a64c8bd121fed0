# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""tests/run, which runs the suites that are not pytest's yet. It goes with them."""

from harness import TESTS, process


def test_runner():
    process.check(TESTS / "host" / "runner" / "check", merge=True)
