# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What Linux does over a port of InfiniBand, over vHCAs, between guests, and between a guest and dom0. NVMe is in test_nvme.py, programs of
rdma_cm in test_cm.py."""

import pytest

from harness import cm, ipoib, lab, mpi, scsi, ulps, wait

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("interfaces"), pytest.mark.timeout(240)]

# Who asks, and who serves
PAIRS = [("guest1", "dom0"), ("guest2", "guest1")]


@pytest.fixture(scope="module")
def interfaces(guests):
    with ipoib.reaching(PAIRS):
        yield


@pytest.mark.parametrize("where, other", PAIRS)
def test_iperf3(where, other):
    ulps.iperf3(where, other)


@pytest.mark.parametrize("where, other", PAIRS)
def test_netperf(where, other):
    ulps.netperf(where, other)


@pytest.mark.parametrize("where, other", PAIRS)
def test_nfs(where, other):
    ulps.files(where, other)


@pytest.mark.parametrize("where, other", PAIRS)
@pytest.mark.parametrize("protocol", scsi.PROTOCOLS)
def test_disk(protocol, where, other):
    ulps.scsi_disk(protocol, where, other)


@pytest.fixture(scope="module")
def rds(interfaces):
    with ulps.rds("dom0", *ipoib.GUESTS):
        yield


@pytest.mark.parametrize("where, other", PAIRS)
def test_rds(rds, where, other):
    ulps.rds_echo(where, other)


def test_io_demo(interfaces):
    """UCX connects by rdma_cm. Small messages: with large ones io_demo stops on the HCA model in dom0, too."""
    port = next(cm.PORTS)
    ucx = "UCX_NET_DEVICES=xenib0:1 UCX_TLS=rc_v,self UCX_SOCKADDR_TLS_PRIORITY=rdmacm"
    with lab.running("guest2", f"{ucx} io_demo -p {port}"):
        wait.until("it listens", cm.listens("guest2", port))
        with ulps.sending(20 * 64):
            lab.run("guest1", f"{ucx} io_demo -p {port} -i 20 -d 64:1000 {ipoib.ADDRESS['guest2']}", merge=True)


def test_mpi(interfaces, machine):
    """Open MPI by libfabric, which connects by rdma_cm. Its completion queues would be too large with its defaults."""
    options = "--mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include 'verbs;ofi_rxm' -x FI_UNIVERSE_SIZE=4"
    with machine.prepared(mpi.make_hosts), ulps.sending(2 * 65536):
        said = lab.run("guest1", f"{mpi.RUN} {options} {lab.THERE}/all-to-all --most 65536", merge=True)
    assert "all-to-all: passed" in said, said
