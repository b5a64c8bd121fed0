# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The tracepoints of xen-ibfront: what a guest puts on the command ring, and what comes back."""

from harness import lab

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
