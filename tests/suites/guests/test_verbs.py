# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The programs of tests/programs/verbs in guest1: what must be refused, every byte of every operation, events, multicast.

EVENTS_COUNT in the environment: messages of each storm of events, if not what a case has by itself.
"""

import os

import pytest

from harness import lab, programs

EVENTS_COUNT = int(os.environ.get("EVENTS_COUNT") or 0)


def command(program):
    count = ["--count", EVENTS_COUNT] if program == "events" else []
    return lab.run_words("guest1", f"{lab.THERE}/{program}", "--results", "-d", "xenib0", "-D", "xenib0", *count)


@pytest.fixture(scope="module")
def batch(guests, request):
    with programs.Batch(request, command) as batch:
        yield batch


@pytest.mark.timeout(90 + EVENTS_COUNT // 100)
@pytest.mark.parametrize("program, case", programs.cases("verbs", *programs.VERBS, wanted=programs.in_guests))
def test_verbs(batch, program, case):
    batch.run(program, case)
