# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Pairs of stock programs (tests/pairs/table), server in guest1, client in guest2."""

import functools

import pytest

from harness import pairs, programs


@pytest.fixture(scope="module")
def batch(guests, request):
    with programs.Batch(request, functools.partial(pairs.command, "guest2")) as batch:
        yield batch


@pytest.mark.timeout(180)
@pytest.mark.parametrize("program, case", pairs.params(pairs.in_guests))
def test_pair(batch, program, case):
    batch.run(program, case)
