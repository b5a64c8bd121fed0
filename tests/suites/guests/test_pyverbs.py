# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""rdma-core's own tests of verbs by pyverbs (lab up --user-land pyverbs), in dom0 and in a guest by both personalities: each test
ends as in dom0, but for what is said here."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from harness import TESTS, guest, lab

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("user_lands"), pytest.mark.timeout(900)]

RUN = TESTS / "programs" / "verbs" / "pyverbs-run"
# All that are not about one vendor's HCA.
MODULES = ["addr", "atomic", "cq", "cq_events", "cqex", "device", "flow", "fork", "mr", "odp", "parent_domain", "pd", "qp", "qpex",
           "rdmacm", "relaxed_ordering", "rss_traffic", "shared_pd", "srq", "tag_matching"]

# What may end otherwise in a guest, and why, by device.
OTHERWISE = {guest.DEVICE: {}, guest.MLX5: {}}


def results(where, device):
    """Of each test: how it ended, and why."""
    land = ["/lab/user-land", "pyverbs"]
    lab.run(where, *land, "true")
    if device == guest.DEVICE:
        lab.run(where, "cd /user/pyverbs && cp /etc/libibverbs.d/xenib.driver etc/libibverbs.d && cp /usr/lib/*/libibverbs/libxenib-*.so usr/lib/*/libibverbs")
    lab.put(where, RUN, to="/user/pyverbs/root")
    said = lab.run(where, *land, "python3", "/root/pyverbs-run", device, *(f"test_{name}" for name in MODULES))
    lines = [line.split(" ", 2) for line in said.splitlines() if line.startswith("@")]
    return {name: (result[1:], why) for result, name, why in (line + [""] * (3 - len(line)) for line in lines)}


@pytest.fixture(scope="module")
def ran(user_lands):
    """Of all tests, by device; dom0's by None. All run at once."""
    with guest.mlx5_devices(["guest2"]), ThreadPoolExecutor() as threads:
        asked = {None: ("dom0", "mlx5_0"), guest.DEVICE: ("guest1", guest.DEVICE), guest.MLX5: ("guest2", guest.MLX5)}
        running = {device: threads.submit(results, *where) for device, where in asked.items()}
        yield {device: future.result() for device, future in running.items()}


def test_dom0(ran):
    """The HCA model has what the stock driver tells of it."""
    failed = {name: why for name, (result, why) in ran[None].items() if result == "fail"}
    assert not failed
    assert sum(result == "ok" for result, why in ran[None].values()) >= 100


@pytest.mark.parametrize("device", list(OTHERWISE))
def test_as_dom0(ran, device):
    """Each test ends as there, also what is skipped."""
    mine = ran[device]
    for name in sorted(ran[None]):
        print(f"{name}: {' '.join(ran[None][name])} | {' '.join(mine.get(name, ['absent']))}")
    assert mine.keys() == ran[None].keys()
    others = {name: mine[name] for name, (result, why) in ran[None].items() if mine[name][0] != result}
    assert others.keys() == OTHERWISE[device].keys(), others
