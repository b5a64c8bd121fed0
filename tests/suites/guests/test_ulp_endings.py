# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A vHCA ends under what stands on it: IPoIB, whose packets flow, and a disk by NVMe, which is written. guest1 serves it, guest2 uses it."""

import contextlib

import pytest

from harness import guest, ipoib, ktest, lab, leftovers, nvme, rdma, wait

GUEST, TARGET = "guest2", "guest1"

pytestmark = [pytest.mark.usefixtures("guests"), pytest.mark.long, pytest.mark.timeout(300)]

WRITE = f"dd if=/dev/urandom of={nvme.DISK} bs=64k count=64 conv=nocreat,notrunc oflag=direct status=none"
WRITERS = f"rm -f /tmp/enough; for i in 0 1 2 3; do until [ -e /tmp/enough ] || ! {WRITE} seek=$((i * 64)); do :; done & done; wait; echo ended"
WRITTEN = f"awk '{{ print $5 }}' /sys/block/{nvme.DISK[5:]}/stat"  # requests


@contextlib.contextmanager
def pinging():
    """Packets in fragments both ways. What is under way when the device goes is lost, and the next ones follow."""
    with lab.running(GUEST, f"ping -q -i 0.02 -s 8000 {ipoib.ADDRESS[TARGET]} 2>/dev/null; echo ended") as pings:
        try:
            yield
            assert "ended" not in pings.said(), "ping has given up"
        finally:
            lab.call(GUEST, "killall ping")


@contextlib.contextmanager
def writing():
    """By four programs, until the disk is gone, or this ends."""
    with lab.running(GUEST, WRITERS) as writers:
        until_busy()
        yield writers
        lab.run(GUEST, "touch /tmp/enough")
        writers.finish()


def until_busy():
    """More packets have come, and more of the disk is written."""
    __tracebackhide__ = True
    packets = f"cat /sys/class/net/{ipoib.interface(GUEST)}/statistics/rx_packets"
    for count in (packets, WRITTEN):
        before = int(lab.run(GUEST, count))
        wait.until("traffic flows", lambda: int(lab.run(GUEST, count)) >= before + 20)


def connect():
    """As after a card's reset: the interface gets its address again, and the disk is connected."""
    wait.until("the disk is gone", lambda: not lab.ok(GUEST, f"test -b {nvme.DISK}"))
    ipoib.up(GUEST)
    nvme.connect(GUEST, TARGET)


@pytest.fixture(scope="module")
def traffic(guests):
    with ipoib.reaching([(GUEST, TARGET)]), nvme.connected(GUEST, TARGET), pinging():
        yield


MOUNTED = "/mnt/disk"
WRITE_FILE = f"while dd if=/dev/zero of={MOUNTED}/large bs=64k count=64 conv=fsync status=none; do echo written; done; echo ended"


def unplug():
    """In mid-traffic, with a file system on the disk. Returns what the HCA has when the target has ended its end, too."""
    with lab.running(GUEST, WRITE_FILE) as writer:
        writer.until_says("written")
        lab.lab("detach", GUEST)
        writer.until_says("ended")
    assert not rdma.exists(GUEST, guest.DEVICE)
    assert not lab.ok(GUEST, f"test -b {nvme.DISK}")
    lab.run(GUEST, f"umount {MOUNTED}")
    wait.until("the target has ended its connections", lambda: not nvme.serves(TARGET))
    left = wait.settled(leftovers.objects_but_pages)
    lab.lab("attach", GUEST)
    connect()
    lab.run(GUEST, f"mount -t ext4 {nvme.DISK} {MOUNTED}")
    assert lab.run(GUEST, f"cat {MOUNTED}/file") == "written before"
    assert nvme.serves(TARGET)
    return left


def test_detached(traffic):
    """Whoever writes to a file is told, and the file system can be unmounted. It is there again when the disk is."""
    ktest.set(TARGET, "xen_ibfront", dma_pool=36)  # what it has with IPoIB: it gives nothing back, so it must not grow between the two
    lab.run(GUEST, f"mkdir -p {MOUNTED}; busybox mke2fs {nvme.DISK} && mount -t ext4 {nvme.DISK} {MOUNTED} && echo written before >{MOUNTED}/file && sync")
    try:
        assert unplug() == unplug()
    finally:
        lab.call(GUEST, f"umount {MOUNTED}")
        ktest.set(TARGET, "xen_ibfront", dma_pool=64)


@pytest.mark.parametrize("command", ["modprobe -r nvme-rdma; modprobe -r ib_ipoib", "rmmod xen-ibfront"])
def test_removed(traffic, command):
    """The modules that use the device, or its own."""
    with writing() as writers:
        lab.run(GUEST, command)
        writers.until_says("ended")
    ktest.reload(GUEST, "kverbs=1")
    connect()
    with writing():
        pass
    nvme.compare(GUEST, TARGET)
