# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What a subnet manager makes of the fabric: opensm in dom0 sets up the managed switch between the two HCAs, answers queries, and there are
IPoIB and rdma_cm.

The second HCA's network interface is in a network namespace of its own: between two addresses of one the kernel would not use the fabric.
"""

import contextlib
import re

import pytest

from harness import hca, lab, rdma, wait

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("subnet"), pytest.mark.timeout(120)]

HCAS = ["mlx5_0", "mlx5_1"]
NEAR, FAR = "10.9.0.1", "10.9.0.2"
IN_FAR = ["nsenter", "--net=/run/netns/far"]


@pytest.fixture(scope="module")
def subnet(dom0):
    with hca.managed():
        start_manager()
        yield
        stop_manager()
    wait.until("both are as before", lambda: all(rdma.active("dom0", name) for name in HCAS))


def start_manager():
    lab.run("dom0", "/lab/subnet-manager start")


def stop_manager():
    lab.run("dom0", "/lab/subnet-manager stop")


@pytest.fixture(scope="module")
def interfaces(subnet):
    """The IPoIB interfaces of both HCAs, with addresses; the second one is in the namespace."""
    lab.run("dom0", "modprobe ib_ipoib && ip netns add far")
    near, far = (lab.run("dom0", f"ls /sys/class/infiniband/{name}/device/net") for name in HCAS)
    try:
        lab.run("dom0", f"ip link set {far} netns far")
        lab.run("dom0", f"ip address add {NEAR}/24 dev {near} && ip link set {near} up")
        lab.run("dom0", *IN_FAR, "sh", "-c", f"ip link set lo up; ip address add {FAR}/24 dev {far} && ip link set {far} up")
        yield near, far
    finally:
        lab.run("dom0", *IN_FAR, "ip", "link", "set", far, "netns", "1")
        lab.run("dom0", "ip netns delete far && modprobe -r ib_ipoib")


def guid(name):
    return int(lab.run("dom0", f"cat /sys/class/infiniband/{name}/node_guid").replace(":", ""), 16)


def lid(name):
    return int(lab.run("dom0", f"cat /sys/class/infiniband/{name}/ports/1/lid"), 16)


def switch_lid():
    said = lab.run("dom0", "smpquery -D portinfo 0,1 0")
    return int(re.search(r"^Lid:\.+(\d+)$", said, re.MULTILINE)[1])


def test_switch():
    """The manager has found the switch, and has told it where each LID is."""
    at_switch = switch_lid()
    said = lab.run("dom0", "ibroute", str(at_switch))
    ports = {int(at, 16): int(port) for at, port in re.findall(r"^(0x\w+) (\d+) :", said, re.MULTILINE)}
    assert ports == {at_switch: 0, lid("mlx5_0"): 1, lid("mlx5_1"): 2}, said


@pytest.mark.parametrize("route", ["directed", "by LID", "by LID, then directed"])
def test_requests_to_the_other_hca(route):
    """Management packets pass the switch by each kind of route, and so do their responses."""
    way = {
        "directed": ["-D", "nodeinfo", "0,1,2"],
        "by LID": ["nodeinfo", str(lid("mlx5_1"))],
        "by LID, then directed": ["-c", "nodeinfo", str(switch_lid()), "0,2"],
    }
    said = lab.run("dom0", "smpquery", *way[route])
    assert f"{guid('mlx5_1'):#018x}" in said, said


@pytest.mark.parametrize("name", HCAS)
def test_saquery(name):
    """The SA knows both, whoever asks: the manager's own port, or the other one by the fabric."""
    said = lab.run("dom0", "saquery", "-C", name, "-N").lower()
    assert all(f"{guid(name):#018x}" in said for name in HCAS), said


def test_path():
    """The SA knows a path from one to the other."""
    lids = [str(lid(name)) for name in HCAS]
    said = lab.run("dom0", "saquery", "-C", HCAS[1], "--src-to-dst", ":".join(lids))
    assert re.findall(r"[sd]lid\.+(\d+)", said) == lids[::-1], said


def reaches(*words):
    return lambda: lab.ok("dom0", *words)


def test_ipoib(interfaces):
    """Small packets, such as are sent in fragments, and a multicast: the broadcast group is joined, and ARP and paths are resolved."""
    wait.until("the other HCA answers", reaches(*IN_FAR, "ping", "-c", "1", "-W", "1", NEAR))
    lab.run("dom0", *IN_FAR, "ping", "-c", "3", "-W", "20", "-s", "8000", NEAR)
    wait.until("a multicast is answered by the other one", reaches(*IN_FAR, "ping", "-L", "-c", "1", "-W", "1", f"ff02::1%{interfaces[1]}"))


def listens():
    return "LISTEN" in lab.run("dom0", "rdma resource show cm_id")


def test_rping(interfaces):
    """Connections by rdma_cm, to an address of IPoIB; every octet is compared."""
    with lab.running("dom0", "rping", "-s", "-a", NEAR, "-C", "20", "-V") as server:
        wait.until("the server listens", listens)
        said = lab.run("dom0", *IN_FAR, "rping", "-c", "-a", NEAR, "-C", "20", "-V", "-v", merge=True)
        assert said.count("ping data") == 20, said
        server.finish()


def test_multicast_needs_the_sa(subnet):
    """A group that nobody has joined at the SA ends at the switch, whatever QPs are attached to it."""
    lab.run("dom0", f"{lab.THERE}/multicast", "-d", HCAS[0], "-D", HCAS[1], "not-joined", merge=True)


def aliases(*words):
    """The GUIDs of the second HCA's port, as the SA has them."""
    said = lab.run("dom0", f"{lab.THERE}/guids", HCAS[1], *words, merge=True)
    return [int(value, 16) for value in re.findall(r"^\d: (\w+)", said, re.MULTILINE)]


def gid_is(index, value):
    said = lab.run("dom0", f"cat /sys/class/infiniband/{HCAS[1]}/ports/1/gids/{index}")
    return int(said.replace(":", ""), 16) & ((1 << 64) - 1) == value


def test_alias_guid():
    """A GUID that is asked of the SA is written into the port, whose GID table has it then. A manager that was started again knows nothing
    of it."""
    alias = 0x02163E0000000001
    assert gid_is(1, 0)
    assert aliases("1", f"{alias:x}")[1] == alias
    wait.until("the port has the GID", lambda: gid_is(1, alias))
    assert gid_is(2, 0)
    stop_manager()
    start_manager()
    assert aliases()[1] == 0
    assert gid_is(1, alias)
    assert aliases("1", f"{alias + 1:x}")[1] == alias + 1
    wait.until("the port has the other GID", lambda: gid_is(1, alias + 1))


@contextlib.contextmanager
def traffic():
    """Packets from the second HCA to the first one, and a function that waits until more of them are answered."""
    with lab.running("dom0", *IN_FAR, "ping", "-i", "0.2", NEAR) as ping:

        def goes_on(what):
            before = ping.said().count("bytes from")
            wait.until(what, lambda: ping.said().count("bytes from") > before + 5)

        yield goes_on


def test_manager_starts_again(interfaces):
    """Traffic goes on without a manager, and with the next one: the switch keeps its tables, and ports their LIDs."""
    lids = [lid(name) for name in HCAS]
    with traffic() as goes_on:
        goes_on("pings are answered")
        stop_manager()
        goes_on("pings are answered without a manager")
        start_manager()
        goes_on("pings are answered with the next one")
    assert [lid(name) for name in HCAS] == lids
    test_saquery(HCAS[1])


def sa_knows(name):
    return f"{guid(name):#018x}" in lab.run("dom0", "saquery", "-N").lower()


def test_link_is_lost(interfaces):
    """The switch tells the manager of a link that is lost, and of one that is back, which is set up then."""
    with traffic() as goes_on:
        goes_on("pings are answered")
        with hca.link_down(1):
            wait.until("the SA does not know the HCA any more", lambda: not sa_knows(HCAS[1]))
            assert not rdma.active("dom0", HCAS[1])
        wait.until("the link is up", lambda: rdma.active("dom0", HCAS[1]))
        goes_on("pings are answered again")
        assert sa_knows(HCAS[1])
