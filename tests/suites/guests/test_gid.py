# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A guest that has a GID of its own (gid=alias), beside one that has the port's: who asks for it by that GID reaches this guest, and no other;
the SA knows it again after another manager has started, and not any more when the vHCA is gone."""

import re

import pytest

from harness import cm, daemon, guest, ipoib, lab, rdma, wait

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("alias"), pytest.mark.timeout(300)]

GUEST, OTHER = "guest1", "guest2"
PAIRS = [("dom0", GUEST), (OTHER, GUEST), (GUEST, OTHER)]


def gid(where, index=0):
    return lab.run(where, f"cat {ipoib.device(where)}/ports/1/gids/{index}")


def known():
    """The GUIDs of the port, as the SA has them."""
    said = lab.run("dom0", f"{lab.THERE}/guids", "mlx5_0", merge=True)
    return [int(value, 16) for value in re.findall(r"^\d: (\w+)", said, re.MULTILINE)]


def guid():
    """Of the guest's node, which its GID has."""
    return int(lab.run(GUEST, f"cat {ipoib.device(GUEST)}/node_guid").replace(":", ""), 16)


def attach(*options):
    lab.lab("detach", GUEST)
    lab.lab("attach", GUEST, *options)
    guest.until_active(GUEST)
    ipoib.up(GUEST)


@pytest.fixture(scope="module")
def alias(guests):
    with ipoib.reaching(PAIRS[:1]):
        attach("gid=alias")
        yield
        lab.lab("detach", GUEST)
        lab.lab("attach", GUEST)


def test_table():
    """At index 0, and the port's is where it is in the port's table."""
    own = gid(GUEST)
    assert int(own.replace(":", ""), 16) & ((1 << 64) - 1) == guid()
    assert gid(OTHER) == gid("dom0") != own
    assert gid("dom0", 1) == own and gid(GUEST, 1) == gid("dom0")
    assert known()[1] == guid()


@pytest.mark.parametrize("where, other", PAIRS)
@pytest.mark.parametrize("program", cm.PROGRAMS)
def test_ip(program, where, other):
    ipoib.ping(where, other)
    cm.connect(program, where, other)


def test_gid():
    """At one port number dom0, and that guest, listen to GIDs: each hears who asks for its own."""
    port = next(cm.PORTS)
    for server in (GUEST, "dom0"):
        address = lab.run(server, f"cat {ipoib.device(server)}/ports/1/gids/0")
        with lab.running(server, f"ucmatose -f gid -b {address} -p {port}") as process:
            wait.until(f"{server} listens", cm.listens(server, port))
            lab.run(OTHER, f"ucmatose -f gid -s {address} -p {port} -b {gid(OTHER)}", merge=True)
            process.finish()


def test_rc_with_grh():
    for server, client in ((GUEST, OTHER), (OTHER, GUEST)):
        words = ["ibv_rc_pingpong", "-d", guest.DEVICE, "-g", "0", "-p", "18900"]
        with lab.running(server, *words) as process:
            lab.run(server, f"{lab.THERE}/agent", "await", "18900")
            lab.run(client, *words, server, merge=True)
            process.finish()


def test_manager_starts_again():
    lab.run("dom0", "/lab/subnet-manager stop")
    lab.run("dom0", "/lab/subnet-manager start")
    wait.until("the SA knows it again", lambda: guid() in known())
    ipoib.ping(OTHER, GUEST)
    cm.connect("rping", OTHER, GUEST)


def test_worker_is_killed():
    """The next one has the same GID."""
    before = gid(GUEST)
    worker = daemon.status(GUEST, "pid")
    lab.run("dom0", f"kill -9 {worker}")
    guest.until_new_worker(GUEST, worker)
    assert gid(GUEST) == before
    ipoib.up(GUEST)
    ipoib.ping(OTHER, GUEST)


def test_given_back():
    own = guid()
    lab.lab("detach", GUEST)
    assert not rdma.exists(GUEST, guest.DEVICE)
    wait.until("the SA does not have it any more", lambda: own not in known())
    attach("gid=alias")
    wait.until("the SA has it again", lambda: own in known())
