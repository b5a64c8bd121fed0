# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A SCSI disk over RDMA, by iSER or by SRP: the kernel of one machine serves memory of its own (LIO, set up by hand), and another one uses it."""

import contextlib

from harness import GUEST_KERNEL, ipoib, lab, wait

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

    GROUP = f"{TOP}/iscsi/{NAME}/tpgt_1"

    @classmethod
    def listen(cls, where):
        portal = f"{cls.GROUP}/np/{ipoib.ADDRESS[where]}:{ISCSI_PORT}"
        return f"{{ [ ! -d {portal} ] || rmdir {portal}; }} && mkdir {portal} && echo 1 >{portal}/iser"

    @classmethod
    def serve(cls, where):
        group = cls.GROUP
        return f"""set -e
        modprobe -a iscsi_target_mod ib_isert
        mkdir -p {group}/lun/lun_0 && ln -s {DISK} {group}/lun/lun_0/disk
        {cls.listen(where)}
        echo 0 >{group}/attrib/authentication
        echo 1 >{group}/attrib/generate_node_acls
        echo 0 >{group}/attrib/demo_mode_write_protect
        echo 1 >{group}/enable"""

    END = f"""cd {TOP}/iscsi/{NAME} && echo 0 >tpgt_1/enable
    rm tpgt_1/lun/lun_0/disk; rmdir tpgt_1/np/* tpgt_1/lun/lun_0 tpgt_1; cd ..; rmdir {NAME}; cd ..; rmdir iscsi
    modprobe -r ib_isert iscsi_target_mod"""

    @staticmethod
    def connect(where, other):
        node = f"iscsiadm -m node -T {NAME} -I iser -p {ipoib.ADDRESS[other]}:{ISCSI_PORT}"
        return f"modprobe -a ib_iser sd_mod && iscsid && {node},1 -o new && {node} --login"

    DISCONNECT = "iscsiadm -m node -u; iscsiadm -m node -o delete; iscsiadm -k 0; modprobe -r ib_iser"


class Srp:
    """By rdma_cm: what SRP has of its own asks by GID, of which all guests of a port have the same. The target is called by the port's
    GUID, and knows initiators by their addresses."""

    PORT = 5678
    SERVICE = "00163e5352500001"
    OPTIONS = "reconnect_delay=20" if GUEST_KERNEL == "backports" else ""  # docs/kernels.md

    @classmethod
    def serve(cls, where):
        return f"""set -e
        modprobe ib_srpt srpt_service_guid=0x{cls.SERVICE}
        mkdir -p {TOP}/srpt
        echo {cls.PORT} >{TOP}/srpt/discovery_auth/rdma_cm_port
        guid=$(cut -d: -f5-8 {ipoib.device(where)}/ports/1/gids/0)
        group={TOP}/srpt/$guid/$guid
        mkdir -p $group/lun/lun_0 && ln -s {DISK} $group/lun/lun_0/disk
        for initiator in {" ".join(ipoib.ADDRESS.values())}; do
            mkdir -p $group/acls/$initiator/lun_0 && ln -s $group/lun/lun_0 $group/acls/$initiator/lun_0/disk
        done
        echo 1 >$group/enable"""

    END = f"""cd {TOP}/srpt/*:*/*:* && echo 0 >enable
    rm acls/*/lun_0/disk lun/lun_0/disk; rmdir acls/*/lun_0 acls/* lun/lun_0; cd ..; rmdir *:*; cd ..; rmdir *:*; cd ..; rmdir srpt
    modprobe -r ib_srpt"""

    @classmethod
    def connect(cls, where, other):
        login = f"id_ext={cls.SERVICE},ioc_guid={cls.SERVICE},dest={ipoib.ADDRESS[other]}:{cls.PORT}"
        return f"modprobe ib_srp {cls.OPTIONS} && modprobe sd_mod && echo {login} | tee /sys/class/infiniband_srp/srp-*-1/add_target"

    DISCONNECT = "for port in /sys/class/srp_remote_ports/*; do echo 1 >$port/delete; done; modprobe -r ib_srp"


PROTOCOLS = {"iser": Iser, "srp": Srp}


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
        lab.run(where, PROTOCOLS[protocol].connect(where, other))
        yield wait.until("there is a disk", lambda: lab.call(where, "ls /dev/sd?").out.strip())
    finally:
        # Of a disk below a device that is gone Linux 6.1 cannot remove the driver without a warning: then ib_iser is still in use.
        lab.call(where, f"{PROTOCOLS[protocol].DISCONNECT} && modprobe -r sd_mod")
