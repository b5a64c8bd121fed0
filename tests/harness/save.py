# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Guests that are saved, and a witness in them."""

import contextlib

import pytest

from harness import daemon, lab, wait

FILE = "/var/tmp/saved"  # in dom0's memory, where there is room for one guest


# What the backend's directory has of a vHCA as it was attached: by what the guest is limited and known.
SPEC = ("hca", "hca-choice", "port", "node-guid", "pkeys", "kernel", *(f"max-{key}" for key in ("qp", "mr-bytes", "mem-bytes")))


def vhcas(guest, backend=0):
    """What a guest has been attached, by number."""
    numbers = lab.run("dom0", f"xenstore-list /local/domain/{backend}/backend/vhca/$(xl domid {guest})").split()
    return {number: {key: daemon.node(guest, number, key, backend) for key in SPEC} for number in numbers}


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


SEEN = "/tmp/tables-seen"


class Tables:
    """A program that has many page tables, and looks at all that they map."""

    def __init__(self, guest):
        self.guest = guest

    def rounds(self):
        __tracebackhide__ = True
        said = lab.call(self.guest, f"cat {SEEN}").out
        assert "wrong" not in said, said
        return int(said.split()[1]) if said else 0

    def go_on(self, rounds=2):
        """Waits until they have been looked at again."""
        __tracebackhide__ = True
        before = self.rounds()
        lab.run(self.guest, "pgrep -x tables")
        wait.until("all memory was looked at again", lambda: self.rounds() >= before + rounds)


@contextlib.contextmanager
def tables(guest):
    try:
        lab.run(guest, f"rm -f {SEEN}; setsid {lab.THERE}/tables {SEEN} >/dev/null 2>&1 &")
        tables = Tables(guest)
        wait.until("the program has many tables", tables.rounds)
        yield tables
    finally:
        lab.call(guest, f"pkill -x tables; rm -f {SEEN}*")


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


class Stamps:
    def __init__(self, writer, guest):
        self.writer, self.guest = writer, guest
        lab.run(writer, f"rm -f {WRITTEN} {WRITTEN}-round; setsid {lab.THERE}/stamps write {WRITTEN} xenib0 >/tmp/stamps 2>&1 &")
        lab.run(writer, f"{lab.THERE}/agent", "await", 18791)
        lab.run(guest, f"rm -f {OFFERED}; setsid {lab.THERE}/stamps offer {writer} {OFFERED} xenib0 >/tmp/stamps 2>&1 &")

    def said(self):
        return "\n".join(lab.call(where, "cat /tmp/stamps").out for where in (self.writer, self.guest))

    def begun(self):
        if not lab.ok(self.writer, "pgrep -x stamps"):
            pytest.fail(self.said())
        return lab.ok(self.writer, f"[ -e {WRITTEN}-round ]")

    def are_there(self):
        __tracebackhide__ = True
        wait.until("the writer has ended", lambda: lab.ok(self.writer, f"[ -e {WRITTEN} ]"))
        number = lab.run(self.writer, f"cat {WRITTEN}")
        print(f"{number} writes")
        lab.run(self.guest, f"{lab.THERE}/stamps look {OFFERED} {number}", merge=True)


WRITTEN, OFFERED = "/tmp/stamps-written", "/dev/shm/stamps"


@contextlib.contextmanager
def stamps(writer, guest):
    """One guest's HCA writes into another guest, all the time, what can be told from what was there before."""
    stamps = Stamps(writer, guest)
    try:
        wait.until("all of the memory was written once", stamps.begun)
        yield stamps
    finally:
        for where in (writer, guest):
            lab.call(where, f"pkill -x stamps; rm -f {WRITTEN}* {OFFERED}")
