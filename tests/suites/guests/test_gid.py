# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A guest that has a GID of its own (gid=alias), beside one that has the port's: who asks for it by that GID reaches this guest, and no other;
the SA knows it again after another manager has started, and not any more when the vHCA is gone. The other one is asked by the port's GID,
as dom0 is, for a service (service=)."""

import contextlib
import re

import pytest

from harness import BUILD, cm, daemon, guest, ipoib, lab, rdma, wait

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("alias"), pytest.mark.timeout(300)]

GUEST, OTHER = "guest1", "guest2"
PROGRAM = BUILD / "tests" / "programs" / "verbs" / "guids"
PAIRS = [("dom0", GUEST), (OTHER, GUEST), (GUEST, OTHER)]


def known():
    """The GUIDs of the port, as the SA has them."""
    said = lab.run("dom0", f"{lab.THERE}/{PROGRAM.name}", "mlx5_0", merge=True)
    return [int(value, 16) for value in re.findall(r"^\d: (\w+)", said, re.MULTILINE)]


def guid():
    """Of the guest's node, which its GID has."""
    return int(lab.run(GUEST, f"cat {ipoib.device(GUEST)}/node_guid").replace(":", ""), 16)


def attach(*options):
    lab.lab("attach", GUEST, *options)
    guest.until_active(GUEST)
    ipoib.up(GUEST)


@pytest.fixture(scope="module")
def alias(guests):
    lab.run("dom0", "mkdir", "-p", lab.THERE)
    lab.put("dom0", PROGRAM, to=lab.THERE)
    with ipoib.reaching(PAIRS[:1]):
        lab.lab("detach", GUEST)
        attach("gid=alias")
        yield
        lab.lab("detach", GUEST)
        lab.lab("attach", GUEST)


def test_table():
    """At index 0, and the port's is where it is in the port's table."""
    own = ipoib.gid(GUEST)
    assert int(own.replace(":", ""), 16) & ((1 << 64) - 1) == guid()
    assert ipoib.gid(OTHER) == ipoib.gid("dom0") != own
    assert ipoib.gid("dom0", 1) == own and ipoib.gid(GUEST, 1) == ipoib.gid("dom0")
    assert known()[1] == guid()


@pytest.mark.parametrize("where, other", PAIRS)
@pytest.mark.parametrize("program", cm.PROGRAMS)
def test_ip(program, where, other):
    ipoib.ping(where, other)
    cm.connect(program, where, other)


def test_gid():
    """At one port number dom0, and that guest, listen to GIDs: each hears who asks for its own."""
    port = next(cm.PORTS)
    with contextlib.ExitStack() as stack:
        servers = {where: stack.enter_context(cm.gid_server(where, port)) for where in (GUEST, "dom0")}
        for where, server in servers.items():
            cm.gid_client(OTHER, ipoib.gid(where), port)
            server.finish()


@pytest.fixture
def service():
    """The other guest's is a port number's, which dom0 listens at, too. Others are dom0's."""
    port = next(cm.PORTS)
    lab.lab("detach", OTHER)
    lab.lab("attach", OTHER, f"service=0x1+{cm.gid_service(port):#x}")
    guest.until_active(OTHER)
    yield port
    lab.lab("detach", OTHER)
    lab.lab("attach", OTHER)
    ipoib.up(OTHER)


@pytest.mark.parametrize("where", [GUEST, "dom0"])
def test_service(where, service):
    port, other_port = service, next(cm.PORTS)
    with cm.gid_server(OTHER, port) as server, cm.gid_server("dom0", other_port) as other:
        cm.gid_client(where, ipoib.gid("dom0"), port)
        server.finish()
        cm.gid_client(where, ipoib.gid("dom0"), other_port)
        other.finish()


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
    before = ipoib.gid(GUEST)
    guest.until_new_worker(GUEST, daemon.kill_worker(GUEST))
    assert ipoib.gid(GUEST) == before
    ipoib.up(GUEST)
    ipoib.ping(OTHER, GUEST)


def test_given_back():
    own = guid()
    lab.lab("detach", GUEST)
    assert not rdma.exists(GUEST, guest.DEVICE)
    wait.until("the SA does not have it any more", lambda: own not in known())
    attach("gid=alias")
    wait.until("the SA has it again", lambda: own in known())
