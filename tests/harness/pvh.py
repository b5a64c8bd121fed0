# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""PVH guests: under emulation one ends now and then by a triple fault, as it boots or as modules are loaded, wherever it is (docs/lab.md)."""

import functools
import warnings

from harness import lab

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
