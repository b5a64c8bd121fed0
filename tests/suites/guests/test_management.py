# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The module xen-ibgsi, by whoever opens its device in dom0."""

import pytest

from harness import ipoib, lab

pytestmark = [pytest.mark.usefixtures("guests"), pytest.mark.timeout(180)]

RESET = r"'\001\000\000\000'"  # XEN_IBGSI_RESET


@pytest.fixture
def module():
    """Whoever loads it unloads it."""
    loaded = lab.ok("dom0", "[ -d /sys/module/xen_ibgsi ]")
    ipoib.load_gsi()
    yield
    if not loaded:
        lab.run("dom0", "rmmod xen-ibgsi")


def test_closed_at_once(module):
    """A reset is closed while it is on its way, as by a worker whose HCA is gone: nothing runs on in memory that was given back."""
    lab.run("dom0", f"for i in $(seq 500); do printf {RESET} >/dev/xen-ib-gsi || exit; done")
