# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A PV guest that is saved and restored while it has a vHCA."""

import pytest

from harness import guest, lab, leftovers, pairs, rdma, save, wait
from harness.traffic import between_guests

pytestmark = [pytest.mark.usefixtures("guests"), pytest.mark.timeout(480)]

TRAFFIC = ["ib_write_bw", "-s", 1048576, "-q", 4, "-D", 300]


@pytest.fixture(scope="module")
def ledger():
    return leftovers.Ledger()


def test_in_use(ledger):
    """The guest comes back without the device, its programs know that it is gone, and one that is attached works."""
    ledger.open()
    witness = save.witness("guest2")
    with between_guests(*TRAFFIC) as traffic, save.saved("guest2") as saved:
        saved.restore()
        assert not rdma.exists("guest2", "xenib0"), "it has a dead device"
        witness.testifies()
        traffic.kill()
    lab.lab("attach", "guest2")
    pairs.run("guest2")
    leftovers.until_no_more_than("no object of it is left in the HCA", ledger.objects)
    ledger.close_grants()


@pytest.mark.long
def test_cancelled(ledger):
    """With a save that is a snapshot only, the guest runs on as after one that failed, and has its device again. What is restored
    after that finds a vHCA, if it is configured to have one."""
    ledger.open()
    try:
        witness = save.witness("guest2")
        with between_guests(*TRAFFIC) as traffic, save.saved("guest2", "-c") as saved:
            wait.until("guest2 has its device again", lambda: guest.active("guest2"))
            witness.testifies()
            traffic.kill()
            ledger.close()
            pairs.run("guest2")
            lab.run("dom0", """xl destroy guest2 && echo 'vhca = [ "hca=mlx5_0" ]' >>/etc/xen/guest2.cfg""")
            saved.restore()
        wait.until("guest2 has its device", lambda: guest.active("guest2"))
        lab.run("guest2", f"{lab.THERE}/agent", "start")
        pairs.run("guest2")
    finally:
        lab.run("dom0", "sed -i /^vhca/d /etc/xen/guest2.cfg")
