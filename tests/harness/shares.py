# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Folders that one machine serves, over RDMA, and another one's kernel mounts: by what is in nfs.py, ninep.py."""

import contextlib

from harness import ipoib, lab, nfs, ninep

SHARES = {"nfs": nfs, "9p": ninep}


@contextlib.contextmanager
def mounted(share, where, other):
    lab.run(where, f"modprobe -a {share.MODULES}")
    try:
        mount(share, where, other)
        yield
    finally:
        lab.call(where, f"umount {share.MOUNTED}; modprobe -r {share.MODULES}")


def mount(share, where, other):
    """It has nothing of the files in its memory."""
    to = share.MOUNTED
    lab.run(where, f"mkdir -p {to} && {{ ! mountpoint -q {to} || umount {to}; }} && mount {share.mount_words(ipoib.ADDRESS[other])} {to}")
    options = lab.run(where, f"grep ' {to} ' /proc/mounts")
    assert all(words in options for words in share.SEEN), options


def hashes(where, folder):
    """Of each file."""
    return lab.run(where, f"cd {folder} && find . -type f | sort | xargs sha256sum")
