# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Guests that are saved, and a witness in them."""

import contextlib

from harness import lab, wait

FILE = "/var/tmp/saved"  # in dom0's memory, where there is room for one guest


class Witness:
    def __init__(self, guest):
        self.guest = guest

    def testifies(self):
        """Programs were told that the device is gone, and memory is as it was."""
        __tracebackhide__ = True
        lab.run(self.guest, "grep DEVICE_FATAL /tmp/async-events || { cat /tmp/async-events; false; }")
        lab.run(self.guest, "pkill ibv_asyncwatch; md5sum -c /tmp/sum && rm /dev/shm/memory")


def witness(guest):
    """A program that sees what processes are told, and memory of another that must be what it was."""
    lab.run(
        guest,
        """setsid stdbuf -oL ibv_asyncwatch -d xenib0 >/tmp/async-events 2>&1 &
        head -c 16777216 /dev/urandom >/dev/shm/memory && md5sum /dev/shm/memory >/tmp/sum
        until grep -q FD /tmp/async-events; do usleep 50000; done""",
    )
    return Witness(guest)


class Saved:
    def __init__(self, guest):
        self.guest = guest

    def restore(self):
        __tracebackhide__ = True
        lab.run("dom0", f"xl restore {FILE} && rm {FILE}", merge=True)
        lab.connect_anew(self.guest)
        wait.until(f"{self.guest} answers", lambda: lab.answers(self.guest))


@contextlib.contextmanager
def saved(guest, *options):
    """A guest is saved; "-c": and goes on."""
    try:
        lab.run("dom0", "xl", "save", *options, guest, FILE, merge=True)
        yield Saved(guest)
    finally:
        lab.run("dom0", "rm", "-f", FILE)
