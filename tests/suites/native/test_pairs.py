# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Pairs of stock programs in dom0 (tests/pairs/table): ibv_*_pingpong, and perftest's latency and bandwidth.

With NATIVE=others in the environment only what guests do not run as well.
"""

import functools
import os

import pytest

from harness import pairs, programs


def long(name):
    """Guests run each of these commands, too, and on one HCA."""
    return not pairs.in_guests(name)


def wanted(name):
    return os.environ.get("NATIVE") != "others" or not pairs.in_guests(name)


@pytest.fixture(scope="module")
def batch(dom0, request):
    with programs.Batch(request, functools.partial(pairs.command, "dom0")) as batch:
        yield batch


@pytest.mark.timeout(180)
@pytest.mark.parametrize("program, case", pairs.params(wanted, long))
def test_pair(batch, program, case):
    batch.run(program, case)
