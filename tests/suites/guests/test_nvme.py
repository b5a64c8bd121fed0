# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""NVMe over RDMA: dom0, or guest1, serves a disk of its memory, and guest2 uses it. The initiator registers memory for each command,
which the target reads and writes."""

import pytest

from harness import daemon, guest, hca, ipoib, lab, wait

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

INITIATOR = "guest2"
NAME = "nqn.2014-08.org.example:disk"
DISK = "/dev/nvme0n1"
MIB = 16

SERVE = f"""set -e
modprobe nvmet-rdma
modprobe brd rd_nr=1 rd_size={2 * MIB * 1024}
mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
cd /sys/kernel/config/nvmet
mkdir subsystems/{NAME} subsystems/{NAME}/namespaces/1 ports/1
echo 1 >subsystems/{NAME}/attr_allow_any_host
echo -n /dev/ram0 >subsystems/{NAME}/namespaces/1/device_path
echo 1 >subsystems/{NAME}/namespaces/1/enable
cd ports/1
echo rdma >addr_trtype
echo ipv4 >addr_adrfam
echo 4420 >addr_trsvcid
"""


LISTEN = f"ln -s /sys/kernel/config/nvmet/subsystems/{NAME} /sys/kernel/config/nvmet/ports/1/subsystems/{NAME}"
UNLISTEN = f"rm -f /sys/kernel/config/nvmet/ports/1/subsystems/{NAME}"

END = f"""{UNLISTEN}
cd /sys/kernel/config/nvmet
rmdir ports/1 subsystems/{NAME}/namespaces/1 subsystems/{NAME}
modprobe -r nvmet-rdma nvmet brd
"""


@pytest.fixture(scope="module", params=["dom0", "guest1"])
def target(guests, request):
    """It serves the disk, and the initiator has it."""
    where = request.param
    with ipoib.everywhere(INITIATOR, *{where} - {"dom0"}):
        ipoib.ping(INITIATOR, where)
        try:
            lab.run(where, f"{SERVE}echo {ipoib.ADDRESS[where]} >addr_traddr; {LISTEN}")
            connect(where)
            yield where
        finally:
            lab.call(INITIATOR, "for c in /sys/class/nvme/nvme*; do echo 1 >$c/delete_controller; done; modprobe -r nvme-rdma")
            lab.call(where, END)


def connect(target):
    to = f"transport=rdma,traddr={ipoib.ADDRESS[target]},trsvcid=4420,nqn={NAME},nr_io_queues=1,queue_size=32"
    lab.run(INITIATOR, f"modprobe nvme-rdma && echo {to} >/dev/nvme-fabrics")
    wait.until("there is a disk", lambda: lab.ok(INITIATOR, f"test -b {DISK}"))


@pytest.mark.parametrize("size", ["1M", "64k", "4k"])
def test_data(target, size):
    """What is written to the disk is there, and is read again, in pieces of this size."""
    bytes_ = {"1M": MIB << 20, "64k": 4 << 20, "4k": 256 << 10}[size]
    before = hca.total("umr")
    lab.run(INITIATOR, f"head -c {bytes_} /dev/urandom >/tmp/written; dd if=/tmp/written of={DISK} bs={size} oflag=direct status=none")
    read = f"dd bs={size} iflag=count_bytes,direct count={bytes_} status=none if="
    lab.run(INITIATOR, f"{read}{DISK} | cmp - /tmp/written")
    sums = [lab.run(target, f"{read}/dev/ram0 | sha256sum"), lab.run(INITIATOR, "sha256sum </tmp/written")]
    assert sums[0] == sums[1], sums
    assert hca.total("umr") > before, "no memory was registered for it"


BUSY = f"while dd if=/dev/urandom of={DISK} bs=64k count=64 oflag=direct status=none && sync; do echo written; done; echo ended"


def kill_worker(name=INITIATOR):
    worker = daemon.worker(name)
    lab.run("dom0", "kill", "-9", worker)
    return worker


def compare(target):
    """The disk as it is there, and as the initiator has it."""
    read = "dd bs=64k iflag=direct status=none if="
    sums = [lab.run(target, f"{read}/dev/ram0 | sha256sum"), lab.run(INITIATOR, f"{read}{DISK} | sha256sum")]
    assert sums[0] == sums[1], sums


def connect_again(target, worker):
    """The disk goes with the device, and nobody waits for it for ever. Then it can be connected again, and is as it was."""
    guest.until_new_worker(INITIATOR, worker)
    wait.until("the disk is gone", lambda: not lab.ok(INITIATOR, f"test -b {DISK}"))
    ipoib.up(INITIATOR)
    ipoib.ping(INITIATOR, target)
    connect(target)
    compare(target)


def test_kill_worker(target):
    connect_again(target, kill_worker())


def test_kill_worker_busy(target):
    """While the disk is written."""
    with lab.running(INITIATOR, BUSY) as program:
        program.until_says("written")
        worker = kill_worker()
        program.until_says("ended")
    connect_again(target, worker)


@pytest.mark.parametrize("target", ["guest1"], indirect=True)
def test_kill_worker_of_target(target):
    """Its connections end with its device. When it listens again, the initiator has found it by itself."""
    guest.until_new_worker(target, kill_worker(target))
    ipoib.up(target)
    ipoib.ping(INITIATOR, target)
    lab.run(target, f"{UNLISTEN}; {LISTEN}")
    compare(target)
