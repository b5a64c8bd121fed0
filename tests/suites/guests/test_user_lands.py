# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""User lands of other releases, as containers in guests: programs and libraries are theirs, and the provider is compiled in them for
their rdma-core, or they have nothing of ours and use a vHCA with personality=mlx5. Guests have Debian 13's beside it. What a user land
has written stays as long as the guest."""

import pytest

from harness import guest, lab
from harness.user_land import UserLand, run_pair

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("guests"), pytest.mark.timeout(300)]

PROGRAMS = {
    "rc": ["ibv_rc_pingpong", "-c"],
    "events": ["ibv_rc_pingpong", "-c", "-e"],
    "ud": ["ibv_ud_pingpong", "-s", 2048],
    "srq": ["ibv_srq_pingpong", "-c"],
}
PERFTEST = [["ib_write_bw", "-s", 65536, "-n", 200, "-F"], ["ib_read_lat", "-s", 4096, "-n", 200, "-F"]]
MORE = {"debian12": [], "sid": ["--no_ddp"]}  # options of its perftest


@pytest.fixture(scope="module")
def mlx5_devices(guests):
    with guest.mlx5_devices():
        yield


@pytest.fixture(scope="module", params=list(MORE))
def as_it_is(user_lands, request):
    """With nothing of ours."""
    land = UserLand(request.param)
    land.has_nothing_of_ours("guest1", "guest2")
    return land


@pytest.fixture(scope="module")
def user_land(as_it_is):
    """With the package of our provider."""
    land = UserLand(as_it_is.name, ours=True)
    land.install_provider("guest1", "guest2")
    return land


@pytest.mark.parametrize("words", [["ib_write_bw"], ["ib_send_lat"], ["ibv_srq_pingpong"], ["ibv_ud_pingpong", "-s", 2048]],
                         ids=lambda words: words[0])
def test_as_it_is(as_it_is, mlx5_devices, words):
    """libmlx5 and perftest of that release, by default options."""
    words = as_it_is.words(*words)
    run_pair("guest1", "guest2", words, words, guest.MLX5)


def test_info(user_land):
    said = lab.run("guest2", *user_land.words("ibv_devinfo", "-d", "xenib0"), merge=True)
    assert "PORT_ACTIVE" in said, said


@pytest.mark.parametrize("what", list(PROGRAMS))
def test_with_ours(user_land, what):
    """Its programs with Debian 13's, as client and as server."""
    run_pair("guest1", "guest2", PROGRAMS[what], user_land.words(*PROGRAMS[what]))
    run_pair("guest2", "guest1", user_land.words(*PROGRAMS[what]), PROGRAMS[what])


@pytest.mark.parametrize("words", PERFTEST, ids=lambda words: words[0])
def test_perftest(user_land, words):
    """Those of two releases do not understand each other."""
    words = user_land.words(*words, *MORE[user_land.name])
    run_pair("guest1", "guest2", words, words)
