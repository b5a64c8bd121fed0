# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A kernel of guest2 that maps doorbell pages by its own means, keeps them when their process is gone, and rings on."""

import pytest

from harness import daemon, guest, lab, programs

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def unrestricted(machine, guests):
    def allow():
        lab.run("guest2", "umount /proc/xen; rmmod xenfs xen-privcmd; modprobe xen-privcmd unrestricted=1")

    with machine.prepared(allow):
        yield
        lab.run("guest2", "rmmod xen-privcmd; modprobe xenfs; mount -t xenfs xenfs /proc/xen")


def batch_of(request, device):
    return programs.Batch(request, lambda program: programs.answering("guest2", program, "-d", device, "-D", device))


@pytest.fixture(scope="module")
def ring_on(unrestricted, request):
    with batch_of(request, "xenib0") as batch:
        yield batch


@pytest.mark.parametrize("program, case", programs.cases("isolation", "ring-on", long=["reload"]))
def test_ring_on(ring_on, program, case):
    ring_on.run(program, case)
    if case == "reload":
        # The daemon says whose pages it keeps from everybody.
        lab.run("dom0", f'grep "driver was reloaded.* domain {daemon.domid("guest2")} " /var/log/xen-ibback.log')


@pytest.fixture(scope="module")
def ring_on_mlx5(unrestricted, request):
    """The pages that libmlx5 has."""
    with guest.mlx5_devices(["guest2"]), batch_of(request, guest.MLX5) as batch:
        yield batch


# Not "reload": after it, what answers the program waits for xenib0 alone, not for this device. Whose pages the daemon keeps then
# does not depend on the personality, which the backend only writes to xenstore.
@pytest.mark.long
@pytest.mark.parametrize("program, case", programs.cases("isolation", "ring-on", wanted=lambda name: name != "reload"))
def test_personality(ring_on_mlx5, program, case):
    ring_on_mlx5.run(program, case)
