# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Pairs of stock programs (tests/pairs/table), server in guest1, client in guest2."""

import functools
import re

import pytest

from harness import pairs, programs


def long(name):
    """The gate runs each operation over each transport, and with events and SRQs some; "make test-long" has the other variants."""
    latency = "latency/send-rc(-events|-srq)?"
    return not re.fullmatch(f"pingpong/(rc|uc|ud|x?srq|rc-events)|{latency}|bandwidth/([a-z]+-(rc|uc|ud|xrc)|atomic-add)", name)


@pytest.fixture(scope="module")
def batch(guests, request):
    with programs.Batch(request, functools.partial(pairs.command, "guest2")) as batch:
        yield batch


@pytest.mark.timeout(180)
@pytest.mark.parametrize("program, case", pairs.params(pairs.in_guests, long))
def test_pair(batch, program, case):
    batch.run(program, case)
