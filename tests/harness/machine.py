# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The machine that a run's tests share: started, prepared, started again when it has fallen silent, ended."""

import contextlib
import shutil
import time
import warnings

from harness import BUILD, GUEST_KERNEL, KERNEL, LAB_NAME, lab, process
from harness.console import Consoles, silent

MAX_RESTARTS = 3  # in one run
LOGS = BUILD / "tests" / "logs"
KEPT = LOGS / f"kept-{LAB_NAME}"  # the options of a machine that --keep left up


def with_kernel(options):
    return [*options, "--kernel", KERNEL, *(["--guest-kernel", GUEST_KERNEL] if GUEST_KERNEL != KERNEL else [])]


class Machine:
    def __init__(self, options, keep=False):
        self.options = with_kernel(options)
        self.keep = keep
        self.started = False
        self.restarts = 0
        self.preparations = []
        self.consoles = Consoles()

    def start(self):
        """Takes what --keep has left, or starts a machine."""
        LOGS.mkdir(parents=True, exist_ok=True)
        if self.keep and KEPT.exists() and KEPT.read_text() == " ".join(self.options) and lab.answers():
            process.call(lab.LAB, "check")
        else:
            process.call(lab.LAB, "down")  # one that a killed run has left behind
            self.up()
        KEPT.write_text(" ".join(self.options))
        self.started = True

    def become(self, options, failed):
        """Another one, for the rest of a run, some of whose tests have failed, or none. What was put on this one is not on it."""
        if self.options == with_kernel(options):
            return
        if failed:
            self.save_logs()
        self.options = with_kernel(options)
        self.preparations = []
        self.consoles = Consoles()
        process.call(lab.LAB, "down")
        self.up()
        KEPT.write_text(" ".join(self.options))

    def up(self):
        while True:
            result = process.call(lab.LAB, "up", *self.options, merge=True)
            if result.status == 0:
                return
            self.save_logs()
            process.call(lab.LAB, "down")
            self.count_restart(f"the machine did not start:\n{result.out}")

    def count_restart(self, why):
        """The summary tells of it; more than a few fail all tests that are left."""
        assert self.restarts < MAX_RESTARTS, why
        self.restarts += 1
        warnings.warn(f"started again, as {why}", stacklevel=2)

    def prepare(self, function):
        """Calls a function that puts something on the machine, and again whenever the machine is started again. One that fails is
        forgotten: the next test that needs it calls this again (conftest.py)."""
        function()
        self.preparations.append(function)

    @contextlib.contextmanager
    def prepared(self, function):
        """The same for as long as this lasts: what a module's tests need, and undo afterwards."""
        self.prepare(function)
        try:
            yield
        finally:
            self.preparations.remove(function)

    def revive(self, faults):
        """Starts it again if it does not answer any more, or one of its guests as a search of the consoles has found: the tests that are
        left would all fail. Says whether that was so."""
        if lab.answers() and not silent(faults):
            return False
        self.start_again()
        while not self.is_prepared():
            self.start_again()
        return True

    def start_again(self):
        self.save_logs()
        self.count_restart("the machine does not answer")
        process.call(lab.LAB, "down")
        self.up()
        self.consoles = Consoles()

    def is_prepared(self):
        """Puts on it what was there; it may fall silent over that."""
        try:
            for function in self.preparations:
                function()
        except AssertionError:
            if lab.answers():
                raise
            return False
        return True

    def save_logs(self):
        """Consoles and the log of the HCA model, for reading after a failure."""
        to = LOGS / time.strftime("%Y%m%d-%H%M%S")
        to.mkdir(parents=True, exist_ok=True)
        for file in lab.STATE.glob("*.log"):
            shutil.copy(file, to)
        print(f"logs of the machine: {to}")

    def stop(self, failed):
        """At the end of a run, some of whose tests have failed, or none."""
        if failed:
            self.save_logs()
        if not self.keep:
            KEPT.unlink(missing_ok=True)
            result = process.call(lab.LAB, "down", merge=True)
            assert result.status == 0 or not self.started, str(result)
