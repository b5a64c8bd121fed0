# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The programs of tests/programs/verbs: what must be refused, events, multicast in guest1, every byte of every operation in guest2.

EVENTS_COUNT in the environment: messages of each storm of events, if not what a case has by itself.
"""

import functools
import os

import pytest

from harness import lab, programs

EVENTS_COUNT = int(os.environ.get("EVENTS_COUNT") or 0)


def command(guest, program):
    count = ["--count", EVENTS_COUNT] if program == "events" else []
    return lab.run_words(guest, f"{lab.THERE}/{program}", "--results", "-d", "xenib0", "-D", "xenib0", *count)


@pytest.fixture(scope="module")
def batches(guests, request):
    """By program. The guests work at once."""
    in_guest1 = programs.Batch(request, functools.partial(command, "guest1"))
    in_guest2 = programs.Batch(request, functools.partial(command, "guest2"))
    with in_guest1, in_guest2:
        in_guest2.begin("integrity")
        yield {"violate": in_guest1, "events": in_guest1, "multicast": in_guest1, "integrity": in_guest2}


@pytest.mark.timeout(90 + EVENTS_COUNT // 100)
@pytest.mark.parametrize("program, case", programs.cases("verbs", *programs.VERBS))
def test_verbs(batches, program, case):
    batches[program].run(program, case)
