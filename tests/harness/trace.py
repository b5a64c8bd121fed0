# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The tracepoints of xen-ibfront: what a guest puts on the command ring, and what comes back."""

import re
from collections import Counter
from typing import NamedTuple

from harness import TOP, lab

TRACING = "/sys/kernel/tracing"


def of(where, command):
    """The trace of the driver in a guest, while it runs a command."""
    __tracebackhide__ = True
    switch = f"{TRACING}/events/xenib/enable"
    lab.run(where, f"mount -t tracefs tracefs {TRACING}")
    try:
        return lab.run(where, f"echo >{TRACING}/trace; echo 1 >{switch}; {command} >/dev/null; echo 0 >{switch}; cat {TRACING}/trace")
    finally:
        lab.run(where, f"umount {TRACING}")


class Requests(NamedTuple):
    """How many there were of each operation."""

    waited: Counter  # for: each a round trip to dom0
    posted: Counter


def requests(where, program, *arguments):
    """What one of our programs asks dom0 for."""
    __tracebackhide__ = True
    names = {int(number): name for name, number in re.findall(r"\bXEN_VHCA_OP_(\w+) = (\d+),", (TOP / "shared-ring" / "vhca_request.h").read_text())}
    found = Requests(Counter(), Counter())
    words = " ".join(map(str, (f"{lab.THERE}/{program}", *arguments)))
    sent = rf"^ *{re.escape(program[:15])}-\d+ .* xenib_cmd_send: \S+ id=\d+ op=(\d+) posted=([01]) "
    for op, posted in re.findall(sent, of(where, words), re.MULTILINE):
        found[int(posted)][names[int(op)]] += 1
    return found
