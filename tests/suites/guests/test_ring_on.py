# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A kernel of guest2 that maps doorbell pages by its own means, keeps them when their process is gone, and rings on."""

import pytest

from harness import daemon, lab, programs

pytestmark = pytest.mark.timeout(300)


def command(program):
    return programs.answering("guest2", program, "-d", "xenib0", "-D", "xenib0")


@pytest.fixture(scope="module")
def ring_on(machine, guests, request):
    def allow():
        lab.run("guest2", "umount /proc/xen; rmmod xenfs xen-privcmd; modprobe xen-privcmd unrestricted=1")

    with machine.prepared(allow):
        with programs.Batch(request, command) as batch:
            yield batch
        lab.run("guest2", "rmmod xen-privcmd; modprobe xenfs; mount -t xenfs xenfs /proc/xen")


@pytest.mark.parametrize("program, case", programs.cases("isolation", "ring-on", long=["reload"]))
def test_ring_on(ring_on, program, case):
    ring_on.run(program, case)
    if case == "reload":
        # The daemon says whose pages it keeps from everybody.
        lab.run("dom0", f'grep "driver was reloaded.* domain {daemon.domid("guest2")} " /var/log/xen-ibback.log')
