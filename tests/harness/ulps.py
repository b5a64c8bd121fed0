# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What Linux does over a port of InfiniBand, from one machine to another: TCP and UDP over IPoIB, files, disks and messages over RDMA. Little
data, as the HCA model moves it."""

import contextlib

import pytest

from harness import GUEST_KERNEL, KERNEL, TESTS, guest, hca, ipoib, lab, nvme, scsi, shares, tcp

MIB = 1 << 20

# Of these the kernel's checkers report what Linux does itself, in dom0 with mlx5 alone, too: RDS unmaps by another direction than it has mapped
# by, and takes two of its locks in two orders.
REPORTED = ("rds",)
NOT_ON_DEBUG = pytest.mark.skipif(KERNEL == "debug", reason="Linux's own part is reported")
# When the device goes, SRP frees its commands (scsi_remove_host() in srp_remove_target()) before it looks at their completions; and the target
# of iSCSI takes locks in a timer (iscsit_handle_time2retain_timeout()) that it has taken with interrupts elsewhere.
REPORTED_AT_RESET = (*REPORTED, "iser", "srp")


def on_debug(names, reported):
    """Parameters of a test: on the debug kernel these are left out."""
    return [pytest.param(name, marks=NOT_ON_DEBUG if name in reported else []) for name in names]


@contextlib.contextmanager
def sending(least):
    """So many octets at least go through the HCA meanwhile."""
    before = hca.total("bytes_sent")
    yield
    sent = hca.total("bytes_sent") - before
    assert sent >= least, f"{sent} octets were sent"


# ---- TCP and UDP over IPoIB ----


def iperf3(where, other):
    """Both directions. It ends when the last data are the sender's kernel's."""
    address = ipoib.ADDRESS[other]
    for options in ("", "-R"):
        with tcp.server(other, 5201, f"iperf3 -s -1 -B {address}") as process, sending(2 * MIB):
            lab.run(where, f"iperf3 -c {address} -n 4M {options}", merge=True)
            process.finish()


def netperf(where, other):
    """A stream by TCP, and requests by TCP and UDP."""
    address = ipoib.ADDRESS[other]
    with tcp.server(other, 12865, f"netserver -D -4 -L {address}"):
        for test, amount, least in [("TCP_STREAM", 4 * MIB, 4 * MIB), ("TCP_RR", 100, 2 * 100 * 50), ("UDP_RR", 100, 2 * 100 * 30)]:
            with sending(least):
                lab.run(where, f"netperf -H {address} -t {test} -l -{amount}", merge=True)


# ---- files ----

TREE = "/usr/lib/python3.13/asyncio /usr/lib/python3.13/json"


def files(protocol, where, other):
    """Small and large: what the client writes is what the server has, and what the client reads."""
    share = shares.SHARES[protocol]
    lab.run(where, f"rm -rf /tmp/tree && mkdir /tmp/tree && cp -r {TREE} /tmp/tree && head -c 4M /dev/urandom >/tmp/tree/large")
    want = shares.hashes(where, "/tmp/tree")
    assert want.count("\n") > 20, want
    try:
        with share.served(other), shares.mounted(share, where, other):
            with sending(5 * MIB):
                lab.run(where, f"cp -r /tmp/tree/* {share.MOUNTED} && sync")
            assert shares.hashes(other, share.SERVED) == want
            shares.mount(share, where, other)
            with sending(5 * MIB):
                assert shares.hashes(where, share.MOUNTED) == want
    finally:
        lab.call(where, "rm -rf /tmp/tree")


# ---- disks ----


def scsi_disk(protocol, where, other):
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


FIO = f"fio --name=disk --filename={nvme.DISK} --ioengine=libaio --iodepth=8 --direct=1 --rw=randwrite --verify=crc32c --verify_fatal=1"


def fio(where, target, size, mib):
    """On a disk by NVMe that is there: random writes, eight at a time, and a look at each block; then at one that is not what was written any more."""
    words = f"{FIO} --bs={size} --size={mib}m"
    lab.run(where, words, merge=True)
    lab.run(where, f"{words} --verify_only", merge=True)
    lab.run(target, f"dd if=/dev/urandom of={nvme.BEHIND} bs=4k seek=9 count=1 oflag=direct status=none")
    said = lab.call(where, f"{words} --verify_only", merge=True)
    assert said.status == 1 and "verify" in said.out, str(said)


# ---- messages ----


@contextlib.contextmanager
def rds(*names):
    """These have the module, and the program rds-echo."""
    try:
        for name in names:
            lab.run(name, f"mkdir -p {lab.THERE}")
            lab.put(name, TESTS / "programs" / "ulps" / "rds-echo", to=lab.THERE)
            lab.run(name, "modprobe rds_rdma")
        yield
    finally:
        for name in names:
            unload_rds(name)


def unload_rds(where):
    """From guests with Linux 7.3 when they have no device and so no connections, as it does not wait for the end of those (docs/kernels.md)."""
    if where == "dom0" or GUEST_KERNEL != "backports":
        lab.call(where, "modprobe -r rds_rdma")
    elif lab.ok(where, "[ -d /sys/module/rds_rdma ]"):
        with ipoib.detached(where):
            lab.run(where, "modprobe -r rds_rdma")
        guest.until_active(where)
        ipoib.up(where)


def rds_echo(where, other):
    with lab.running(other, f"{lab.THERE}/rds-echo {ipoib.ADDRESS[other]} 4000") as process:
        process.until_says("ready")
        with sending(2 * 4 * 100000):
            said = lab.run(where, f"{lab.THERE}/rds-echo {ipoib.ADDRESS[where]} 4001 {ipoib.ADDRESS[other]} 4000")
    assert said == "28 messages came back"
