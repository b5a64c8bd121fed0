# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What stock tools say of the HCAs in dom0: two of them, active, each with an identity of its own."""

import re

import pytest

from harness import lab, pairs, rdma

HCAS = ["mlx5_0", "mlx5_1"]

pytestmark = pytest.mark.usefixtures("dom0")


@pytest.mark.parametrize("command", ["ibv_devices", "rdma resource show"])
def test_both_are_named(command):
    said = lab.run("dom0", command)
    assert all(hca in said for hca in HCAS), said


@pytest.mark.parametrize("hca", HCAS)
def test_devinfo(hca):
    info = rdma.devinfo("dom0", hca)
    assert info["state"] == "PORT_ACTIVE"
    assert info["link_layer"] == "InfiniBand"
    assert info["transport"] == "InfiniBand"
    assert info["phys_port_cnt"] == "1"
    assert info["port_lid"] != "0"
    for limit in rdma.LIMITS:
        assert int(info[limit]) > 0, limit
    assert info["atomic_cap"] == "ATOMIC_HCA"
    assert info["gids"]


def test_identities():
    first, second = (rdma.devinfo("dom0", hca) for hca in HCAS)
    for name in ("node_guid", "port_lid", "gids"):
        assert first[name] != second[name], name


@pytest.mark.parametrize("hca", HCAS)
def test_ibstat(hca):
    said = lab.run("dom0", "ibstat", hca)
    assert "State: Active" in said and "Physical state: LinkUp" in said, said
    assert re.search(r"Base lid: (\d+)", said)[1] == rdma.devinfo("dom0", hca)["port_lid"]


@pytest.mark.long
def test_counters():
    """They count what was sent."""

    def sent():
        return int(lab.run("dom0", f"cat /sys/class/infiniband/{HCAS[1]}/ports/1/counters/port_xmit_packets"))

    before = sent()
    pairs.run("dom0", "pingpong/rc")
    assert sent() - before >= 100


def perfquery(lid, *options):
    """The extended counters of the port with that LID, as the first HCA's user is told."""
    said = lab.run("dom0", "perfquery", "-C", HCAS[0], "-x", *options, lid, "1")
    return {name: int(value) for name, value in re.findall(r"^(\w+):\.+(\d+)$", said, re.MULTILINE)}


@pytest.mark.long
def test_perfquery():
    """Ports answer for their counters themselves, to their own host and by the fabric: what was sent and received, in units of four octets."""
    lids = [lab.run("dom0", f"cat /sys/class/infiniband/{hca}/ports/1/lid") for hca in HCAS]
    before = [perfquery(lid) for lid in lids]
    pairs.run("dom0", "pingpong/rc-1-mib")
    for lid, then in zip(lids, before):
        now = perfquery(lid)
        for name in ("PortXmitData", "PortRcvData"):
            assert now[name] - then[name] >= (1 << 20) / 4, (name, then, now)
        assert now["PortXmitPkts"] > then["PortXmitPkts"]
        perfquery(lid, "-R")
        assert perfquery(lid)["PortRcvData"] < (1 << 20) / 4
