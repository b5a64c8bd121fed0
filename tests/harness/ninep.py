# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""9P over RDMA: Debian's diod serves a folder of its machine's memory (shares.py). Its own transport by RDMA is not compiled in, so a program of
ours is between it and the device."""

import contextlib

from harness import BUILD, ipoib, lab

SERVED, MOUNTED = "/srv/9p", "/mnt/9p"
PORT = 5640
MODULES = "9p 9pnet_rdma"
SEEN = ["trans=rdma"]  # of a mount
LARGEST = 65536  # that one message has

# No credentials, as in a network of one's own; the users are those of the numbers.
DIOD = f"diod -f -r 0 -w 0 -n -N -c /dev/null -L stderr -e {SERVED}"


@contextlib.contextmanager
def served(where):
    lab.run(where, f"mkdir -p {lab.THERE} {SERVED}")
    lab.put(where, BUILD / "tests" / "programs" / "ulps" / "9p-rdma", to=lab.THERE)
    try:
        lab.run(where, f"mount -t tmpfs -o size=64m 9p {SERVED}")
        with lab.running(where, f"{lab.THERE}/9p-rdma {ipoib.ADDRESS[where]} {PORT} {DIOD}") as process:
            process.until_says("ready")
            try:
                yield
            finally:
                # It may fall over when a connection ends whose client has gone without a word.
                lab.call(where, "killall -q -w -KILL diod")
    finally:
        lab.call(where, f"umount {SERVED}")


def mount_words(address):
    """Of mount: all but where to."""
    return f"-t 9p -o trans=rdma,port={PORT},version=9p2000.L,msize={LARGEST},aname={SERVED},uname=root {address}"
