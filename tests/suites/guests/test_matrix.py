# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Each release's rdma-core in PV and PVH guests, by our provider and by libmlx5, on the kernel that the machines have. test_kernels
runs this on all kernels, and docs/kernels.md has the table."""

import pytest

from harness import guest, rdma
from harness.pvh import GUEST as PVH
from harness.pvh import stop, with_guest
from harness.user_land import UserLand, run_pair

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("user_lands"), pytest.mark.timeout(480)]

SERVER, PV = "guest1", "guest2"
LANDS = ["debian12", "sid", "debian13"]
PROGRAMS = [["ibv_rc_pingpong", "-c"], ["ibv_rc_pingpong", "-c", "-e"], ["ibv_ud_pingpong", "-s", 2048], ["ibv_srq_pingpong", "-c"]]
PERFTEST = [["ib_write_bw", "-F", "-n", 200], ["ib_read_lat", "-F", "-n", 200]]
NO_DDP = {("xenib", "debian13"), ("xenib", "sid")}  # perftest there takes each device for libmlx5's (docs/provider.md)


@pytest.fixture(scope="module", autouse=True)
def both_personalities(user_lands):
    """The PV guests have a vHCA of each. A PVH guest is there from its first test on."""
    with guest.mlx5_devices((SERVER, PV)):
        yield
    stop()


def land_of(name, personality):
    """Debian 13's is that of guests, which have our package: there libmlx5 is what takes a device of its own."""
    return UserLand() if name == "debian13" else UserLand(name, ours=personality == "xenib")


def run(name, client, personality):
    """All programs, server in a PV guest. What a PVH guest that was started again does not have is made."""
    land = land_of(name, personality)
    device = guest.MLX5 if personality == "mlx5" else guest.DEVICE
    if personality == "mlx5" and not rdma.exists(client, device):
        guest.attach_mlx5(client)
    if land.name:
        (land.install_provider if personality == "xenib" else land.has_nothing_of_ours)(SERVER, client)
    more = ["--no_ddp"] if (personality, name) in NO_DDP else []
    for words in [*PROGRAMS, *([*program, *more] for program in PERFTEST)]:
        words = land.words(*words)
        run_pair(SERVER, client, words, words, device)


@pytest.mark.parametrize("personality", ["xenib", "mlx5"])
@pytest.mark.parametrize("land", LANDS)
def test_pv(land, personality):
    run(land, PV, personality)


@pytest.mark.parametrize("personality", ["xenib", "mlx5"])
@pytest.mark.parametrize("land", LANDS)
@with_guest
def test_pvh(land, personality):
    run(land, PVH, personality)
