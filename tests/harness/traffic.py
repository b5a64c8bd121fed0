# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A stock program that goes on between the guests: server in guest1, client in guest2."""

import contextlib

from harness import hca, lab, wait

PORT = 18700


class Traffic:
    def __init__(self, *command):
        words = [*command, "-d", "xenib0", "-p", PORT, "-F", "--no_ddp"]
        self.pids = {}
        self.start("guest1", "server", *words)
        lab.run("guest1", f"{lab.THERE}/agent", "await", PORT)
        self.start("guest2", "client", *words, "guest1")

    def start(self, guest, side, *words):
        self.pids[guest] = int(lab.run(guest, f"{lab.THERE}/in-guest", "traffic", side, *words))

    def alive(self, guest):
        return lab.ok(guest, f"kill -0 {self.pids[guest]} 2>/dev/null")

    def kill(self, *guests):
        """Its programs in these guests, or all of them."""
        for guest in guests or list(self.pids):
            lab.run(guest, f"kill -9 {self.pids[guest]} 2>/dev/null; true")

    def forget(self, guest):
        """A guest that is gone."""
        del self.pids[guest]

    def until_ended(self):
        __tracebackhide__ = True
        wait.until("the programs end", lambda: not any(self.alive(guest) for guest in self.pids))

    def said(self, side):
        return lab.call("guest1" if side == "server" else "guest2", f"cat /tmp/traffic-{side}").out


@contextlib.contextmanager
def between_guests(*command):
    """Data flow when it begins, and the programs are killed at the end."""
    traffic = Traffic(*command)
    try:
        try:
            hca.until_messages(200)
            yield traffic
        except BaseException:
            for side in ("server", "client"):
                print(f"--- {side}\n{traffic.said(side)}")
            raise
    finally:
        traffic.kill()
