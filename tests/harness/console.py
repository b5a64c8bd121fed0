# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What the consoles of Xen, dom0 and guests say: a fault there fails the test beside which it came ("lab check")."""

from harness import lab, process

SILENCE = "does not answer"  # so the lab says it of a machine


class Consoles:
    def __init__(self):
        self.searched = None  # how long they were when they were searched
        self.asked = False  # where the machine is that does not answer

    def sizes(self):
        return {file.name: file.stat().st_size for pattern in ("*dom0.log", "*guest?.log") for file in lab.STATE.glob(pattern)}

    def faults(self, leaks=False):
        """What is found since the last search, or nothing. A search waits until the machines have said all that they have to say,
        so it is made only if they have said something; what comes late is found after one of the next tests. LEAKS: search
        in any case, and on the debug kernel for leaks, too."""
        if not leaks and self.sizes() == self.searched:
            return ""
        result = process.call(lab.LAB, "check", *(["--leaks"] if leaks else []), merge=True)
        self.searched = self.sizes()
        return "" if result.status == 0 else f"lab check:\n{result.out}"

    def state(self, failure):
        """Where the machine is ("lab state"), if a failure is that something there does not answer. It is asked once, until it is
        started again."""
        if self.asked or SILENCE not in failure:
            return ""
        self.asked = True
        return f"lab state:\n{process.call(lab.LAB, 'state', merge=True).out}"


def only_silence(faults):
    """Is it all that a search has found that dom0 does not answer?"""
    return all(line.endswith(f"dom0 {SILENCE}") for line in faults.splitlines()[1:])
