# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Waiting for conditions: tests never sleep for a time in which something should have happened."""

import time

from harness import KERNEL

SECONDS = 600 if KERNEL == "debug" else 180  # for what must happen, on a busy machine too


class Silent(AssertionError):
    """A machine does not answer."""


def until(what, condition, seconds=SECONDS):
    """Waits until CONDITION() is true, and returns what it is then. One that fails by an assertion, as what asks a machine that does not
    answer, is not true yet."""
    __tracebackhide__ = True
    deadline = time.monotonic() + seconds
    while True:
        try:
            if value := condition():
                return value
            why = ""
        except AssertionError as failure:
            why = f": {failure}"
        assert time.monotonic() < deadline, f"{what}: not within {seconds} s{why}"
        time.sleep(0.1)


def settled(what):
    """What WHAT() returns when it is the same for a second: the daemon writes its status a few times in that."""
    while True:
        before = what()
        time.sleep(1)
        if what() == before:
            return before
