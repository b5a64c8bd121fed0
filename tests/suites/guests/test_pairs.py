# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Pairs of stock programs (tests/pairs/table), server in guest1, client in guest2."""

import functools
import re

import pytest

from harness import pairs, programs


def long(name):
    """Of perftest the gate runs each operation over each transport, and its variants with "make test-long"."""
    return not re.fullmatch("pingpong/.*|(latency|bandwidth)/((send|write|read)-[a-z]+|atomic-(fetch-)?add|send-rc-(events|srq))", name)


@pytest.fixture(scope="module")
def batch(guests, request):
    with programs.Batch(request, functools.partial(pairs.command, "guest2")) as batch:
        yield batch


@pytest.mark.timeout(180)
@pytest.mark.parametrize("program, case", pairs.params(pairs.in_guests, long))
def test_pair(batch, program, case):
    batch.run(program, case)
