# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The command tests/lab/lab (docs/lab.md): machines, what runs in them, and the roots they are made of.

WHERE is "dom0", "guest1" and so on. A single COMMAND is a shell command line, several are words, as with "lab run".
"""

import os
from pathlib import Path

from harness import LAB_NAME, TESTS, process
from harness.wait import Silent

LAB = os.environ.get("LAB") or str(TESTS / "lab" / "lab")
STATE = Path(os.environ.get("XENIB_RUN") or "/run/xen-ib-lab") / LAB_NAME  # consoles and logs

THERE = "/opt/tests"  # where our programs are in machines

NO_ANSWER = 255  # exit status of lab run


def lab(*words, **options):
    """Calls a lab command that has to succeed. Returns what it printed."""
    __tracebackhide__ = True
    return process.check(LAB, *words, **options)


def root(name, *command, **options):
    """Runs a command, which has to succeed, in the "tools" or "target" root. Returns what it printed."""
    __tracebackhide__ = True
    return lab("root", name, "--", *command, merge=True, **options)


def run_words(where, *command):
    """The words that run a command there."""
    return [LAB, "run", where, *command]


def call(where, *command, **options):
    """Runs a command there, and returns its process.Result."""
    __tracebackhide__ = True
    result = process.call(*run_words(where, *command), **options)
    if result.status == NO_ANSWER:
        raise Silent(str(result))
    return result


def run(where, *command, **options):
    """Runs a command that has to succeed. Returns what it printed, without the blanks around it."""
    __tracebackhide__ = True
    result = call(where, *command, **options)
    assert result.status == 0, str(result)
    return result.out.strip()


def ok(where, *command):
    """Does a command succeed? A machine that does not answer is an error, not a no."""
    __tracebackhide__ = True
    return call(where, *command).status == 0


def running(where, *command, **options):
    """A command in the background: process.running()."""
    return process.running(*run_words(where, *command), **options)


def put(where, *files, to):
    __tracebackhide__ = True
    lab("put", where, *files, to)


def connect_anew(where):
    """Closes the connection that the lab keeps to a guest. In one that goes on from a snapshot TCP is not where this connection is, which
    would wait for two minutes."""
    process.call("ssh", "-F", STATE / "ssh_config", "-O", "exit", where)


def answers(where="dom0"):
    return process.call(LAB, "run", "--timeout", 30, where, "true").status == 0
