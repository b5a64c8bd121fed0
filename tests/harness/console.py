# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What the consoles of Xen, dom0 and guests say: a fault there fails the test beside which it came ("lab check")."""

import functools
import re

from harness import TESTS, lab, process

SILENCE = "does not answer"  # so the lab says it of a machine


@functools.cache
def patterns():
    """Of lines that are faults, and of those that only look so, as "lab check" has them."""
    faults = process.check("bash", "-c", '. "$1" && fault_patterns', "bash", TESTS / "lab" / "lib" / "check.sh").splitlines()
    allowed = [line for line in (TESTS / "lab" / "expected.txt").read_text().splitlines() if line and not line.startswith("#")]
    return tuple(re.compile("|".join(f"(?:{one})" for one in some).encode()) for some in (faults, allowed))


def has_fault(text):
    fault, allowed = patterns()
    return any(fault.search(line) and not allowed.search(line) for line in text.splitlines())


class Consoles:
    def __init__(self):
        self.seen = None  # how much of each has been looked at
        self.asked = False  # where the machine is that does not answer

    def files(self):
        return [file for pattern in ("*dom0.log", "*guest?.log") for file in lab.STATE.glob(pattern)]

    def new(self):
        """What they have said since this was last called. A line that was not whole then comes once more."""
        for file in self.files():
            seen = self.seen.get(file, 0)
            with file.open("rb") as log:
                log.seek(seen)
                text = log.read()
            self.seen[file] = seen + text.rfind(b"\n") + 1
            yield text

    def faults(self, leaks=False):
        """What is found since the last search, or nothing. A search waits until the machines have said all that they have to say, which
        takes its time: so it is made only if something that has come looks like a fault. What comes late is found after one of the next
        tests. LEAKS: search in any case, and on the debug kernel for leaks, too."""
        if not leaks and self.seen is not None and not any([has_fault(text) for text in self.new()]):
            return ""
        result = process.call(lab.LAB, "check", *(["--leaks"] if leaks else []), merge=True)
        self.seen = {file: file.stat().st_size for file in self.files()}
        return "" if result.status == 0 else f"lab check:\n{result.out}"

    def state(self):
        """Where the machine is, something of which does not answer ("lab state"). It is asked once, until it is started again."""
        if self.asked:
            return "asked before"
        self.asked = True
        return f"lab state:\n{process.call(lab.LAB, 'state', merge=True).out}"


def silent(faults):
    """Of the machines that tests share, those that do not answer, as a search has found."""
    return [name for name in ("dom0", "guest1", "guest2") if any(line.endswith(f" {name} {SILENCE}") for line in faults.splitlines())]


def only_silence(faults):
    """Is it all that a search has found that dom0 does not answer?"""
    return all(line.endswith(f"dom0 {SILENCE}") for line in faults.splitlines()[1:])
