# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A SCSI disk over RDMA, by iSER: the kernel of one machine serves memory of its own (LIO, set up by hand), and another one uses it."""

import contextlib

from harness import ipoib, lab, wait

BEHIND = "/dev/ram0"  # where the server has the data
MIB = 16
NAME = "iqn.2014-08.org.example:disk"
ISCSI_PORT = 3260
TOP = "/sys/kernel/config/target"
DISK = f"{TOP}/core/iblock_0/disk"

MAKE = f"""set -e
modprobe target_core_iblock
modprobe brd rd_nr=1 rd_size={MIB * 1024}
mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
mkdir -p {DISK}
echo udev_path={BEHIND} >{DISK}/control
echo 1 >{DISK}/enable
"""

END = f"""rmdir {DISK} {TOP}/core/iblock_0
modprobe -r target_core_user target_core_iblock target_core_pscsi target_core_file target_core_mod brd
"""


class Iser:
    """Any initiator may log in, and write."""

    @staticmethod
    def serve(where):
        group = f"{TOP}/iscsi/{NAME}/tpgt_1"
        portal = f"{group}/np/{ipoib.ADDRESS[where]}:{ISCSI_PORT}"
        return f"""set -e
        modprobe -a iscsi_target_mod ib_isert
        mkdir -p {group}/lun/lun_0 && ln -s {DISK} {group}/lun/lun_0/disk
        mkdir {portal} && echo 1 >{portal}/iser
        echo 0 >{group}/attrib/authentication
        echo 1 >{group}/attrib/generate_node_acls
        echo 0 >{group}/attrib/demo_mode_write_protect
        echo 1 >{group}/enable"""

    END = f"""cd {TOP}/iscsi/{NAME} && echo 0 >tpgt_1/enable
    rm tpgt_1/lun/lun_0/disk; rmdir tpgt_1/np/* tpgt_1/lun/lun_0 tpgt_1; cd ..; rmdir {NAME}; cd ..; rmdir iscsi
    modprobe -r ib_isert iscsi_target_mod"""

    @staticmethod
    def connect(other):
        node = f"iscsiadm -m node -T {NAME} -I iser -p {ipoib.ADDRESS[other]}:{ISCSI_PORT}"
        return f"modprobe -a ib_iser sd_mod && iscsid && {node},1 -o new && {node} --login"

    DISCONNECT = "iscsiadm -m node -u; iscsiadm -m node -o delete; iscsiadm -k 0; modprobe -r ib_iser"


PROTOCOLS = {"iser": Iser}


@contextlib.contextmanager
def served(protocol, where):
    try:
        lab.run(where, MAKE)
        lab.run(where, PROTOCOLS[protocol].serve(where))
        yield
    finally:
        lab.call(where, PROTOCOLS[protocol].END)
        lab.call(where, END)


@contextlib.contextmanager
def disk(protocol, where, other):
    """The name of the disk that a guest has, other of which serves it."""
    try:
        lab.run(where, PROTOCOLS[protocol].connect(other))
        yield wait.until("there is a disk", lambda: lab.call(where, "ls /dev/sd?").out.strip())
    finally:
        lab.call(where, f"{PROTOCOLS[protocol].DISCONNECT}; modprobe -r sd_mod")
