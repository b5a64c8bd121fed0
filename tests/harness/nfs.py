# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""NFS 4.2 over RDMA: the kernel of one machine serves a folder of its memory (shares.py)."""

import contextlib

from harness import ipoib, lab

SERVED, MOUNTED = "/srv/nfs", "/mnt/nfs"
PORT = 20049
MODULES = "nfsv4 rpcrdma"
LARGEST = 1 << 20  # that one request reads or writes: also of machines with little memory, for which the server would choose less
SEEN = ["proto=rdma", f"rsize={LARGEST},wsize={LARGEST}"]  # of a mount

# Nobody has had files open, so nobody need wait until he has said so. Linux 7.3 refuses to end that time early for a server that keeps no
# list of those who had: there they wait for the shortest time there is.
SERVE = f"""set -e
modprobe -a nfsd rpcrdma
mount -t nfsd nfsd /proc/fs/nfsd
mkdir -p {SERVED} && mount -t tmpfs -o size=64m nfs {SERVED}
exportfs -o rw,fsid=0,no_root_squash,no_subtree_check,insecure '{ipoib.NETWORK}:{SERVED}'
rpc.mountd -N 3
echo {LARGEST} >/proc/fs/nfsd/max_block_size
echo 10 >/proc/fs/nfsd/nfsv4gracetime
rpc.nfsd -N 3 -V 4.2 2
echo 'rdma {PORT}' >/proc/fs/nfsd/portlist
case $(uname -r) in
7.*) ;;
*) echo Y >/proc/fs/nfsd/v4_end_grace ;;
esac
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


def mount_words(address):
    """Of mount: all but where to."""
    return f"-t nfs4 -o proto=rdma,port={PORT},sec=sys,rsize={LARGEST},wsize={LARGEST} {address}:/"
