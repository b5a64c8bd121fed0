# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A disk over RDMA, by NVMe: the kernel of one machine serves memory of its own, and another one uses it."""

import contextlib

from harness import ipoib, lab, wait

DISK = "/dev/nvme0n1"
BEHIND = "/dev/ram0"  # where the target has the data
MIB = 16
NAME = "nqn.2014-08.org.example:disk"
PORT = 4420
RETRY_SECONDS = 1  # between tries to connect again, when the target does not answer any more

SERVE = f"""set -e
modprobe nvmet-rdma
modprobe brd rd_nr=1 rd_size={2 * MIB * 1024}
mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
cd /sys/kernel/config/nvmet
mkdir subsystems/{NAME} subsystems/{NAME}/namespaces/1 ports/1
echo 1 >subsystems/{NAME}/attr_allow_any_host
echo -n {BEHIND} >subsystems/{NAME}/namespaces/1/device_path
echo 1 >subsystems/{NAME}/namespaces/1/enable
cd ports/1
echo rdma >addr_trtype
echo ipv4 >addr_adrfam
echo {PORT} >addr_trsvcid
"""

LISTEN = f"ln -s /sys/kernel/config/nvmet/subsystems/{NAME} /sys/kernel/config/nvmet/ports/1/subsystems/{NAME}"
UNLISTEN = f"rm -f /sys/kernel/config/nvmet/ports/1/subsystems/{NAME}"

END = f"""{UNLISTEN}
cd /sys/kernel/config/nvmet
rmdir ports/1 subsystems/{NAME}/namespaces/1 subsystems/{NAME}
modprobe -r nvmet-rdma nvmet brd
"""

DISCONNECT = "for c in /sys/class/nvme/nvme*; do echo 1 >$c/delete_controller; done; modprobe -r nvme-rdma"


def connect_command(target, queues=1):
    to = f"transport=rdma,traddr={ipoib.ADDRESS[target]},trsvcid={PORT},nqn={NAME}"
    options = f"nr_io_queues={queues},queue_size=32,reconnect_delay={RETRY_SECONDS}"
    return f"modprobe nvme-rdma && echo {to},{options} >/dev/nvme-fabrics"


def connect(where, target, queues=1):
    lab.run(where, connect_command(target, queues))
    wait.until("there is a disk", lambda: lab.ok(where, f"test -b {DISK}"))


def serves(target):
    """Has its kernel connections of those who use the disk? It has a PD for them, of its own."""
    return "[nvmet_rdma]" in lab.run(target, "rdma resource show pd")


@contextlib.contextmanager
def served(where, target):
    """The target serves the disk, which the other one may connect."""
    ipoib.ping(where, target)
    try:
        lab.run(target, f"{SERVE}echo {ipoib.ADDRESS[target]} >addr_traddr; {LISTEN}")
        yield
    finally:
        lab.call(where, DISCONNECT)
        lab.call(target, END)


@contextlib.contextmanager
def connected(where, target, queues=1):
    """The other one has it, too."""
    with served(where, target):
        connect(where, target, queues)
        yield


def compare(where, target):
    """The disk as it is at the target, and as the other one has it."""
    read = "dd bs=64k iflag=direct status=none if="
    sums = [lab.run(target, f"{read}{BEHIND} | sha256sum"), lab.run(where, f"{read}{DISK} | sha256sum")]
    assert sums[0] == sums[1], sums
