# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The command tests/lab/lab (docs/lab.md)."""

import os

from harness import TESTS, process

LAB = os.environ.get("LAB") or str(TESTS / "lab" / "lab")


def lab(*words, **options):
    """Calls a lab command that has to succeed. Returns what it printed."""
    __tracebackhide__ = True
    return process.check(LAB, *words, **options)


def root(name, *command, **options):
    """Runs a command, which has to succeed, in the "tools" or "target" root. Returns what it printed."""
    __tracebackhide__ = True
    return lab("root", name, "--", *command, merge=True, **options)
