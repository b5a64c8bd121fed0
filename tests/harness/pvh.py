# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""PVH guests, guest3 beside the PV ones: under emulation one ends now and then by a triple fault, as it boots or as modules are loaded,
wherever it is (docs/lab.md)."""

import functools
import warnings

from harness import daemon, guest, lab, process, wait

GUEST = "guest3"
TRIES = 3


def triple_faults():
    return int(lab.run("dom0", "xl dmesg | grep -c 'Triple fault'; true"))


def again_if_it_falls(test):
    """Makes a test once more in which that happened. The summary tells of it."""

    @functools.wraps(test)
    def wrapper(*args, **options):
        __tracebackhide__ = True
        for left in reversed(range(TRIES)):
            before = triple_faults()
            try:
                return test(*args, **options)
            except AssertionError as error:
                if not left or triple_faults() == before:
                    raise
                warnings.warn(f"made again, as the PVH guest ended by a triple fault: {error}", stacklevel=2)

    return wrapper


def make_ready():
    """What is not there is made. One that fell is started again by xl."""
    if not daemon.domain_exists(GUEST):
        lab.lab("guest", "start", GUEST, "--type", "pvh", merge=True)
    wait.until(f"{GUEST} answers", lambda: lab.answers(GUEST))
    if not guest.active(GUEST):
        guest.start_again(GUEST)


def with_guest(test):
    """guest3 is ready when the test begins."""

    @functools.wraps(test)
    def wrapper(*args, **options):
        __tracebackhide__ = True
        make_ready()
        test(*args, **options)

    return again_if_it_falls(wrapper)


def stop():
    process.call(lab.LAB, "guest", "stop", GUEST, "--kill")
