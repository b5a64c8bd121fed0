# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A PV guest that is saved and restored while it has a vHCA."""

import pytest

from harness import guest, lab, leftovers, pairs, save
from harness.traffic import between_guests

pytestmark = [pytest.mark.usefixtures("guests"), pytest.mark.timeout(480)]

TRAFFIC = ["ib_write_bw", "-s", 1048576, "-q", 4, "-D", 300]


@pytest.fixture(scope="module")
def ledger():
    return leftovers.Ledger()


def test_in_use(ledger):
    """The guest comes back with the vHCA that somebody had attached, and its programs know that the device was gone."""
    ledger.open()
    witness = save.witness("guest2")
    had = save.vhcas("guest2")
    with between_guests(*TRAFFIC) as traffic, save.saved("guest2") as saved:
        saved.restore()
        guest.until_active("guest2")
        witness.testifies()
        traffic.kill()
    assert save.vhcas("guest2") == had, "it is another vHCA"
    pairs.run("guest2")
    leftovers.until_no_more_than("no object of it is left in the HCA", ledger.objects)
    ledger.close_grants()


@pytest.mark.long
def test_cancelled(ledger):
    """With a save that is a snapshot only, the guest runs on as after one that failed, and has its device again. So has what is restored
    from the snapshot when that one is gone."""
    ledger.open()
    had = save.vhcas("guest2")
    witness = save.witness("guest2")
    with between_guests(*TRAFFIC) as traffic, save.saved("guest2", "-c") as saved:
        guest.until_active("guest2")
        witness.testifies()
        traffic.kill()
        ledger.close()
        pairs.run("guest2")
        lab.run("dom0", "xl destroy guest2")
        saved.restore()
    guest.until_active("guest2")
    assert save.vhcas("guest2") == had, "it is another vHCA"
    lab.run("guest2", f"{lab.THERE}/agent", "start")
    pairs.run("guest2")
