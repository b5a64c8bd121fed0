# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""NFS 4.2 over RDMA: the kernel of one machine serves a folder of its memory, which another one mounts."""

import contextlib

from harness import ipoib, lab

SERVED, MOUNTED = "/srv/nfs", "/mnt/nfs"
PORT = 20049
LARGEST = 1 << 20  # that one request reads or writes: also of machines with little memory, for which the server would choose less

# Nobody has had files open, so nobody need wait until he has said so.
SERVE = f"""set -e
modprobe -a nfsd rpcrdma
mount -t nfsd nfsd /proc/fs/nfsd
mkdir -p {SERVED} && mount -t tmpfs -o size=64m nfs {SERVED}
exportfs -o rw,fsid=0,no_root_squash,no_subtree_check,insecure '{ipoib.NETWORK}:{SERVED}'
rpc.mountd -N 3
echo {LARGEST} >/proc/fs/nfsd/max_block_size
rpc.nfsd -N 3 -V 4.2 2
echo 'rdma {PORT}' >/proc/fs/nfsd/portlist
echo Y >/proc/fs/nfsd/v4_end_grace
"""

END = f"""rpc.nfsd 0
exportfs -ua
killall -w rpc.mountd
umount {SERVED} /proc/fs/nfsd
modprobe -r nfsd
"""


@contextlib.contextmanager
def served(where):
    try:
        lab.run(where, SERVE)
        yield
    finally:
        lab.call(where, END)


@contextlib.contextmanager
def mounted(where, other):
    lab.run(where, "modprobe -a nfsv4 rpcrdma")
    try:
        mount(where, other)
        yield
    finally:
        lab.call(where, f"umount {MOUNTED}; modprobe -r nfsv4 rpcrdma")


def mount(where, other):
    """It has nothing of the files in its memory."""
    lab.run(
        where,
        f"mkdir -p {MOUNTED} && {{ ! mountpoint -q {MOUNTED} || umount {MOUNTED}; }} &&"
        f" mount -t nfs4 -o proto=rdma,port={PORT},sec=sys,rsize={LARGEST},wsize={LARGEST} {ipoib.ADDRESS[other]}:/ {MOUNTED}",
    )
    options = lab.run(where, f"grep ' {MOUNTED} ' /proc/mounts")
    assert "proto=rdma" in options and f"rsize={LARGEST},wsize={LARGEST}" in options, options


def hashes(where, folder):
    """Of each file."""
    return lab.run(where, f"cd {folder} && find . -type f | sort | xargs sha256sum")
