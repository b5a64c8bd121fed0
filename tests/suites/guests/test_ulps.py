# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What Linux does over a port of InfiniBand, over vHCAs: TCP and UDP over IPoIB, files, disks and messages over RDMA, between guests, and
between a guest and dom0. Little data, as the HCA model moves it. NVMe is in test_nvme.py, programs of rdma_cm in test_cm.py."""

import contextlib

import pytest

from harness import TESTS, cm, hca, ipoib, lab, mpi, nfs, scsi, tcp, wait

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("interfaces"), pytest.mark.timeout(240)]

# Who asks, and who serves
PAIRS = [("guest1", "dom0"), ("guest2", "guest1")]

MIB = 1 << 20


@pytest.fixture(scope="module")
def interfaces(guests):
    with ipoib.reaching(PAIRS):
        yield


@contextlib.contextmanager
def sending(least):
    """So many octets at least go through the HCA meanwhile."""
    before = hca.total("bytes_sent")
    yield
    sent = hca.total("bytes_sent") - before
    assert sent >= least, f"{sent} octets were sent"


# ---- TCP and UDP over IPoIB ----


@pytest.mark.parametrize("where, other", PAIRS)
def test_iperf3(where, other):
    """Both directions."""
    address = ipoib.ADDRESS[other]
    for options in ("", "-R"):
        with tcp.server(other, 5201, f"iperf3 -s -1 -B {address}") as process, sending(4 * MIB):
            lab.run(where, f"iperf3 -c {address} -n 4M {options}", merge=True)
            process.finish()


@pytest.mark.parametrize("where, other", PAIRS)
def test_netperf(where, other):
    """A stream by TCP, and requests by TCP and UDP."""
    address = ipoib.ADDRESS[other]
    with tcp.server(other, 12865, f"netserver -D -4 -L {address}"):
        for test, amount, least in [("TCP_STREAM", 4 * MIB, 4 * MIB), ("TCP_RR", 100, 2 * 100 * 50), ("UDP_RR", 100, 2 * 100 * 30)]:
            with sending(least):
                lab.run(where, f"netperf -H {address} -t {test} -l -{amount}", merge=True)


# ---- files ----

TREE = "/usr/lib/python3.13/asyncio /usr/lib/python3.13/json"


@pytest.mark.parametrize("where, other", PAIRS)
def test_nfs(where, other):
    """Files small and large: what the client writes is what the server has, and what the client reads."""
    lab.run(where, f"rm -rf /tmp/tree && mkdir /tmp/tree && cp -r {TREE} /tmp/tree && head -c 4M /dev/urandom >/tmp/tree/large")
    want = nfs.hashes(where, "/tmp/tree")
    assert want.count("\n") > 20, want
    try:
        with nfs.served(other), nfs.mounted(where, other):
            with sending(5 * MIB):
                lab.run(where, f"cp -r /tmp/tree/* {nfs.MOUNTED} && sync")
            assert nfs.hashes(other, nfs.SERVED) == want
            nfs.mount(where, other)
            with sending(5 * MIB):
                assert nfs.hashes(where, nfs.MOUNTED) == want
    finally:
        lab.call(where, "rm -rf /tmp/tree")


# ---- disks ----


@pytest.mark.parametrize("where, other", PAIRS)
@pytest.mark.parametrize("protocol", scsi.PROTOCOLS)
def test_disk(protocol, where, other):
    """What is written to it is there, and is read again: in pieces of several sizes, and by several programs at once."""
    with scsi.served(protocol, other), scsi.disk(protocol, where, other) as disk:
        for size, amount in [("1M", 8 * MIB), ("64k", 4 * MIB), ("4k", 256 << 10)]:
            with sending(2 * amount):
                write = f"dd if=/tmp/written of={disk} bs={size} oflag=direct status=none"
                lab.run(where, f"head -c {amount} /dev/urandom >/tmp/written; {write}")
                check_disk(where, disk, other, size, amount)
        write = f"dd if=/tmp/written of={disk} bs=64k oflag=direct status=none count=16"
        lab.run(where, f"head -c 4M /dev/urandom >/tmp/written; for i in 0 16 32 48; do {write} skip=$i seek=$i & done; wait")
        check_disk(where, disk, other, "64k", 4 * MIB)


def check_disk(where, disk, other, size, amount):
    __tracebackhide__ = True
    read = f"dd bs={size} iflag=count_bytes,direct count={amount} status=none if="
    sums = [lab.run(where, "sha256sum </tmp/written"), lab.run(other, f"{read}{scsi.BEHIND} | sha256sum")]
    sums.append(lab.run(where, f"{read}{disk} | sha256sum"))
    assert len(set(sums)) == 1, f"written, there, read again, in pieces of {size}: {sums}"


# ---- messages ----


@pytest.fixture(scope="module")
def rds(interfaces):
    names = ["dom0", *ipoib.GUESTS]
    try:
        for name in names:
            lab.run(name, f"mkdir -p {lab.THERE}")
            lab.put(name, TESTS / "programs" / "rds" / "rds-echo", to=lab.THERE)
            lab.run(name, "modprobe rds_rdma")
        yield
    finally:
        for name in names:
            lab.call(name, "modprobe -r rds_rdma")


@pytest.mark.parametrize("where, other", PAIRS)
def test_rds(rds, where, other):
    with lab.running(other, f"{lab.THERE}/rds-echo {ipoib.ADDRESS[other]} 4000") as process:
        process.until_says("ready")
        with sending(2 * 4 * 100000):
            said = lab.run(where, f"{lab.THERE}/rds-echo {ipoib.ADDRESS[where]} 4001 {ipoib.ADDRESS[other]} 4000")
    assert said == "28 messages came back"


# ---- programs that connect by rdma_cm ----


def test_io_demo(interfaces):
    """UCX connects by rdma_cm. Small messages: with large ones io_demo stops on the HCA model in dom0, too."""
    port = next(cm.PORTS)
    ucx = "UCX_NET_DEVICES=xenib0:1 UCX_TLS=rc_v,self UCX_SOCKADDR_TLS_PRIORITY=rdmacm"
    with lab.running("guest2", f"{ucx} io_demo -p {port}"):
        wait.until("it listens", cm.listens("guest2", port))
        with sending(20 * 64):
            lab.run("guest1", f"{ucx} io_demo -p {port} -i 20 -d 64:1000 {ipoib.ADDRESS['guest2']}", merge=True)


def test_mpi(interfaces, machine):
    """Open MPI by libfabric, which connects by rdma_cm. Its completion queues would be too large with its defaults."""
    options = "--mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include 'verbs;ofi_rxm' -x FI_UNIVERSE_SIZE=4"
    with machine.prepared(mpi.make_hosts), sending(2 * 65536):
        said = lab.run("guest1", f"{mpi.RUN} {options} {lab.THERE}/all-to-all --most 65536", merge=True)
    assert "all-to-all: passed" in said, said
