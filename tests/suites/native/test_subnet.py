# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What a subnet manager makes of the fabric: opensm in dom0 answers queries, and between the two HCAs there are IPoIB and rdma_cm.

The second HCA's network interface is in a network namespace of its own: between two addresses of one the kernel would not use the fabric.
"""

import re

import pytest

from harness import lab, rdma, wait

pytestmark = [pytest.mark.usefixtures("subnet"), pytest.mark.timeout(120)]

HCAS = ["mlx5_0", "mlx5_1"]
NEAR, FAR = "10.9.0.1", "10.9.0.2"
IN_FAR = ["nsenter", "--net=/run/netns/far"]


@pytest.fixture(scope="module")
def subnet(dom0):
    lab.run("dom0", "/lab/subnet-manager start")
    yield
    lab.run("dom0", "/lab/subnet-manager stop")


@pytest.fixture(scope="module")
def interfaces(subnet):
    """The IPoIB interfaces of both HCAs, with addresses; the second one is in the namespace."""
    lab.run("dom0", "modprobe ib_ipoib && ip netns add far")
    near, far = (lab.run("dom0", f"ls /sys/class/infiniband/{hca}/device/net") for hca in HCAS)
    try:
        lab.run("dom0", f"ip link set {far} netns far")
        lab.run("dom0", f"ip address add {NEAR}/24 dev {near} && ip link set {near} up")
        lab.run("dom0", *IN_FAR, "sh", "-c", f"ip link set lo up; ip address add {FAR}/24 dev {far} && ip link set {far} up")
        yield near, far
    finally:
        lab.run("dom0", *IN_FAR, "ip", "link", "set", far, "netns", "1")
        lab.run("dom0", "ip netns delete far && modprobe -r ib_ipoib")


def guid(hca):
    return int(rdma.devinfo("dom0", hca)["node_guid"].replace(":", ""), 16)


@pytest.mark.parametrize("hca", HCAS)
def test_saquery(hca):
    """The SA knows both, whoever asks: the manager's own port, or the other one by the fabric."""
    said = lab.run("dom0", "saquery", "-C", hca, "-N").lower()
    assert all(f"{guid(hca):#018x}" in said for hca in HCAS), said


def test_path():
    """The SA knows a path from one to the other."""
    lids = [rdma.devinfo("dom0", hca)["port_lid"] for hca in HCAS]
    said = lab.run("dom0", "saquery", "-C", HCAS[1], "--src-to-dst", ":".join(lids))
    assert re.findall(r"[sd]lid\.+(\d+)", said) == lids[::-1], said


def reaches(*words):
    return lambda: lab.ok("dom0", *words)


def test_ipoib(interfaces):
    """Small packets, such as are sent in fragments, and a multicast: the broadcast group is joined, and ARP and paths are resolved."""
    wait.until("the other HCA answers", reaches(*IN_FAR, "ping", "-c", "1", "-W", "1", NEAR))
    lab.run("dom0", *IN_FAR, "ping", "-c", "3", "-W", "20", "-s", "8000", NEAR)
    wait.until("a multicast is answered", reaches(*IN_FAR, "ping", "-c", "1", "-W", "1", f"ff02::1%{interfaces[1]}"))


def listens():
    return "LISTEN" in lab.run("dom0", "rdma resource show cm_id")


def test_rping(interfaces):
    """Connections by rdma_cm, to an address of IPoIB; every octet is compared."""
    with lab.running("dom0", "rping", "-s", "-a", NEAR, "-C", "20", "-V") as server:
        wait.until("the server listens", listens)
        said = lab.run("dom0", *IN_FAR, "rping", "-c", "-a", NEAR, "-C", "20", "-V", "-v", merge=True)
        assert said.count("ping data") == 20, said
        server.finish()
