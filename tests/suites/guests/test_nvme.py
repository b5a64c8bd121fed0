# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""NVMe over RDMA: dom0 serves a disk of its memory, and guest2 uses it. The initiator registers memory for each command, which the
target reads and writes."""

import pytest

from harness import daemon, guest, hca, ipoib, lab, wait

pytestmark = [pytest.mark.usefixtures("served"), pytest.mark.timeout(300), pytest.mark.long]

TARGET, INITIATOR = "dom0", "guest2"
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
echo {ipoib.ADDRESS[TARGET]} >addr_traddr
echo 4420 >addr_trsvcid
ln -s /sys/kernel/config/nvmet/subsystems/{NAME} subsystems/{NAME}
"""

END = f"""cd /sys/kernel/config/nvmet
rm -f ports/1/subsystems/{NAME}
rmdir ports/1 subsystems/{NAME}/namespaces/1 subsystems/{NAME}
modprobe -r nvmet-rdma nvmet brd
"""

CONNECT = f"transport=rdma,traddr={ipoib.ADDRESS[TARGET]},trsvcid=4420,nqn={NAME},nr_io_queues=1,queue_size=32"


@pytest.fixture(scope="module")
def served(guests):
    with ipoib.everywhere(INITIATOR):
        ipoib.ping(INITIATOR, TARGET)
        try:
            lab.run(TARGET, SERVE)
            connect()
            yield
        finally:
            lab.call(INITIATOR, "for c in /sys/class/nvme/nvme*; do echo 1 >$c/delete_controller; done; modprobe -r nvme-rdma")
            lab.call(TARGET, END)


def connect():
    lab.run(INITIATOR, f"modprobe nvme-rdma && echo {CONNECT} >/dev/nvme-fabrics")
    wait.until("there is a disk", lambda: lab.ok(INITIATOR, f"test -b {DISK}"))


@pytest.mark.parametrize("size", ["1M", "64k", "4k"])
def test_data(size):
    """What is written to the disk is there, and is read again, in pieces of this size."""
    bytes_ = {"1M": MIB << 20, "64k": 4 << 20, "4k": 256 << 10}[size]
    before = hca.total("umr")
    lab.run(INITIATOR, f"head -c {bytes_} /dev/urandom >/tmp/written; dd if=/tmp/written of={DISK} bs={size} oflag=direct status=none")
    read = f"dd bs={size} iflag=count_bytes,direct count={bytes_} status=none if="
    lab.run(INITIATOR, f"{read}{DISK} | cmp - /tmp/written")
    sums = [lab.run(TARGET, f"{read}/dev/ram0 | sha256sum"), lab.run(INITIATOR, "sha256sum </tmp/written")]
    assert sums[0] == sums[1], sums
    assert hca.total("umr") > before, "no memory was registered for it"


BUSY = f"while dd if=/dev/urandom of={DISK} bs=64k count=64 oflag=direct status=none && sync; do echo written; done; echo ended"


def kill_worker():
    worker = daemon.worker(INITIATOR)
    lab.run("dom0", "kill", "-9", worker)
    return worker


def connect_again(worker):
    """The disk goes with the device, and nobody waits for it for ever. Then it can be connected again, and is as it was."""
    guest.until_new_worker(INITIATOR, worker)
    wait.until("the disk is gone", lambda: not lab.ok(INITIATOR, f"test -b {DISK}"))
    ipoib.up(INITIATOR)
    ipoib.ping(INITIATOR, TARGET)
    connect()
    read = "dd bs=64k iflag=direct status=none if="
    sums = [lab.run(TARGET, f"{read}/dev/ram0 | sha256sum"), lab.run(INITIATOR, f"{read}{DISK} | sha256sum")]
    assert sums[0] == sums[1], sums


def test_kill_worker():
    connect_again(kill_worker())


def test_kill_worker_busy():
    """While the disk is written."""
    with lab.running(INITIATOR, BUSY) as program:
        program.until_says("written")
        worker = kill_worker()
        program.until_says("ended")
    connect_again(worker)
