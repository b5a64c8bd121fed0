# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Calls commands. One that takes too long, or whose test ends, is ended with all that it has started."""

import contextlib
import os
import shlex
import signal
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

from harness import PATIENCE, wait

GRACE_SECONDS = 10  # for a command that is told to end
CALL_SECONDS = 600 * PATIENCE  # for one whose caller gives no limit: in a test the test's is shorter

# A make that runs pytest tells its options to each make below it; those of tests are none of its.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES")}


CALLED = {}  # by thread: what its call() waits for


@dataclass
class Result:
    """How a command ended, and what it said."""

    command: list
    status: int
    out: str
    err: str = ""

    def __str__(self):
        said = (self.err + self.out).rstrip()
        return f"{shlex.join(self.command)}: exit status {self.status}" + (f"\n{said}" if said else "")


def start(command, **options):
    """Starts a command that end() ends; options are those of subprocess.Popen. It is as nice as the thread that starts it."""
    options = {"stdin": subprocess.DEVNULL, "text": True, "errors": "replace", "env": ENVIRONMENT, **options}
    process = subprocess.Popen([str(word) for word in command], start_new_session=True, **options)
    share_as_we_do(process.pid)
    return process


def share_as_we_do(leader):
    """The kernel shares processors between sessions first (sched(7), "The autogroup feature"): beside a machine, which is a session of its
    own, a nice value within one counts for nothing."""
    if nice := os.getpriority(os.PRIO_PROCESS, threading.get_native_id()):
        with contextlib.suppress(OSError):  # it has ended, or this kernel does not do so
            Path(f"/proc/{leader}/autogroup").write_text(str(nice))


def end(process):
    """Ends a command and all that it has started. Harmless when it has ended."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(GRACE_SECONDS)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass
    process.wait()


def call(*command, seconds=CALL_SECONDS, text=None, merge=False, env=None, cwd=None):
    """Calls a command, with TEXT on its standard input, and returns its Result. MERGE: errors among the output."""
    process = start(
        command,
        stdin=subprocess.DEVNULL if text is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if merge else subprocess.PIPE,
        env={**ENVIRONMENT, **(env or {})},
        cwd=cwd,
    )
    CALLED[threading.get_ident()] = process
    try:
        out, err = process.communicate(text, seconds)
    except BaseException:
        end(process)
        for said in last_words(process):
            print(said or "", end="")
        raise
    finally:
        del CALLED[threading.get_ident()]
    return Result(process.args, process.returncode, out, err or "")


def end_of_thread(thread):
    """Ends the command that this thread waits for, if it does."""
    if process := CALLED.get(thread):
        end(process)


def last_words(process):
    """What an ended command had said, for the report of the test that it was ended with."""
    try:
        return process.communicate(timeout=2)
    except (subprocess.TimeoutExpired, ValueError):
        return ()


def check(*command, **options):
    """As call(), for what has to succeed. Returns what it printed."""
    __tracebackhide__ = True
    result = call(*command, **options)
    assert result.status == 0, str(result)
    return result.out


class Running:
    """A command that runs while the test goes on, and what it has said so far."""

    def __init__(self, process, output):
        self.process, self.output = process, output

    def said(self):
        """So far. Read without a seek: the file has one offset, at which the command goes on to write."""
        file = self.output.fileno()
        return os.pread(file, os.fstat(file).st_size, 0).decode(errors="replace")

    def until_says(self, text):
        """Waits until it has said TEXT."""
        __tracebackhide__ = True
        wait.until(f"{text!r} is said by {shlex.join(self.process.args)}", lambda: text in self.said())

    def end_input(self):
        self.process.stdin.close()

    def finish(self):
        """Waits until it ends, which has to be with success."""
        __tracebackhide__ = True
        status = self.process.wait()
        assert status == 0, str(Result(self.process.args, status, self.said()))


@contextlib.contextmanager
def running(*command, stdin=subprocess.DEVNULL):
    """A command in the background, which is ended at the end. When the test fails its output is shown."""
    with tempfile.TemporaryFile() as output:
        process = start(command, stdin=stdin, stdout=output, stderr=subprocess.STDOUT)
        program = Running(process, output)
        try:
            yield program
        finally:
            end(process)
            print(Result(process.args, process.returncode, program.said()))
