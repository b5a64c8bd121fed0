# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What benchmarks/bench makes of its numbers."""

from harness import TESTS, process


def test_numbers():
    process.check(TESTS / "host" / "benchmarks" / "check", merge=True)
