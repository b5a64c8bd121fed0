# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""NVMe over RDMA: dom0, or guest1, serves a disk of its memory, and guest2 uses it. The initiator registers memory for each command,
which the target reads and writes."""

import pytest

from harness import daemon, guest, hca, ipoib, lab, nvme, save, ulps, wait

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

INITIATOR = "guest2"


@pytest.fixture(scope="module", params=["dom0", "guest1"])
def target(guests, request):
    """It serves the disk, and the initiator has it."""
    where = request.param
    with ipoib.everywhere(INITIATOR, *{where} - {"dom0"}), nvme.connected(INITIATOR, where):
        yield where


@pytest.mark.parametrize("size", ["1M", "64k", "4k"])
def test_data(target, size):
    """What is written to the disk is there, and is read again, in pieces of this size."""
    bytes_ = {"1M": nvme.MIB << 20, "64k": 4 << 20, "4k": 256 << 10}[size]
    before = hca.total("umr")
    lab.run(INITIATOR, f"head -c {bytes_} /dev/urandom >/tmp/written; dd if=/tmp/written of={nvme.DISK} bs={size} oflag=direct status=none")
    read = f"dd bs={size} iflag=count_bytes,direct count={bytes_} status=none if="
    lab.run(INITIATOR, f"{read}{nvme.DISK} | cmp - /tmp/written")
    sums = [lab.run(target, f"{read}{nvme.BEHIND} | sha256sum"), lab.run(INITIATOR, "sha256sum </tmp/written")]
    assert sums[0] == sums[1], sums
    assert hca.total("umr") > before, "no memory was registered for it"


@pytest.mark.parametrize("size, mib", [("128k", 2 * nvme.MIB), ("4k", 2)])
def test_fio(target, size, mib):
    ulps.fio(INITIATOR, target, size, mib)


BUSY = f"while dd if=/dev/urandom of={nvme.DISK} bs=64k count=64 conv=nocreat,notrunc oflag=direct status=none && sync; do echo written; done; echo ended"


def connect_again(target):
    """The disk goes with the device, and nobody waits for it for ever. Then it can be connected again, and is as it was."""
    wait.until("the disk is gone", lambda: not lab.ok(INITIATOR, f"test -b {nvme.DISK}"))
    ipoib.up(INITIATOR)
    ipoib.ping(INITIATOR, target)
    nvme.connect(INITIATOR, target)
    nvme.compare(INITIATOR, target)


def test_kill_worker(target):
    guest.until_new_worker(INITIATOR, daemon.kill_worker(INITIATOR))
    connect_again(target)


def test_kill_worker_busy(target):
    """While the disk is written."""
    with lab.running(INITIATOR, BUSY) as program:
        program.until_says("written")
        worker = daemon.kill_worker(INITIATOR)
        program.until_says("ended")
    guest.until_new_worker(INITIATOR, worker)
    connect_again(target)


@pytest.mark.parametrize("target", ["guest1"], indirect=True)
def test_saved(target):
    """While the disk is written. The guest's kernel has its device again, and IPoIB and the disk come as after a reset."""
    lab.run(INITIATOR, f"setsid sh -c '{BUSY}' >/tmp/busy 2>&1 &")
    wait.until("the disk is written", lambda: lab.ok(INITIATOR, "grep -q written /tmp/busy"))
    with save.saved(INITIATOR) as saved:
        saved.restore()
        guest.until_active(INITIATOR)
    wait.until("the writer has ended", lambda: lab.ok(INITIATOR, "grep -q ended /tmp/busy"))
    connect_again(target)


@pytest.mark.parametrize("target", ["guest1"], indirect=True)
def test_kill_worker_of_target(target):
    """Its connections end with its device. When it listens again, the initiator has found it by itself."""
    guest.until_new_worker(target, daemon.kill_worker(target))
    ipoib.up(target)
    ipoib.ping(INITIATOR, target)
    lab.run(target, f"{nvme.UNLISTEN}; {nvme.LISTEN}")
    nvme.compare(INITIATOR, target)
