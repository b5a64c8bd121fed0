# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What stock tools say of RDMA devices."""

import re

from harness import lab


def devinfo(where, device):
    """The fields of ibv_devinfo -v, those of a port among them."""
    text = lab.run(where, "ibv_devinfo", "-v", "-d", device)
    fields = {}
    for name, value in re.findall(r"^\s*(\w+):\s+(\S+)", text, re.MULTILINE):
        fields.setdefault(name, value)
    fields["gids"] = re.findall(r"GID\[ *\d+\]:\s+(\S+)", text)
    return fields


# Of devinfo()
LIMITS = ["max_qp", "max_cq", "max_mr", "max_pd", "max_sge", "max_qp_wr", "max_cqe", "max_srq", "max_qp_rd_atom", "max_mcast_grp"]


def active(where, device):
    """Is its port ACTIVE?"""
    return lab.ok(where, f"grep -qs ACTIVE /sys/class/infiniband/{device}/ports/1/state")


def exists(where, device):
    return lab.ok(where, f"test -e /sys/class/infiniband/{device}")
