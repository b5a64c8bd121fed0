# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Debian's other kernels (docs/kernels.md): a part of the suites, on machines of which dom0 and guests run one of them, and a smaller one
where they run different ones."""

import sys

import pytest

from harness import KERNEL, LAB_NAME, TESTS, TOP, process

MIXED = "pingpong and (rc or ud or srq) or kernel_verbs or kill_worker"
PART = "pingpong or integrity or violate or kernel_verbs or ipoib or cm or grants or kill_worker or kill_supervisor"


@pytest.mark.long
@pytest.mark.skipif(KERNEL != "stock", reason="the kernel is chosen here")
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("dom0, guests", [("debian12", "debian12"), ("backports", "backports"), ("stock", "debian12"),
                                          ("stock", "backports"), ("debian12", "backports"), ("backports", "stock")])
def test_kernels(dom0, guests):
    for kernel in {dom0, guests} - {"stock"}:
        process.check("make", "-s", "-C", TOP, "modules", f"KERNEL={kernel}", seconds=1200, merge=True)
    process.check(sys.executable, "-m", "pytest", "-m", "not long", "-p", "no:cacheprovider", "-k", PART if dom0 == guests else MIXED,
                  TESTS / "suites" / "guests", env={"KERNEL": dom0, "GUEST_KERNEL": guests, "LAB_NAME": f"{LAB_NAME}-{dom0}-{guests}"},
                  seconds=6000, merge=True)
