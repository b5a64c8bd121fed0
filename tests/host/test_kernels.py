# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Debian's other kernels (docs/kernels.md): a part of the suites, on machines of which dom0 and guests run one of them."""

import sys

import pytest

from harness import KERNEL, LAB_NAME, TESTS, TOP, process

PART = "pingpong or integrity or violate or kernel_verbs or ipoib or cm or grants or kill_worker or kill_supervisor"


@pytest.mark.long
@pytest.mark.skipif(KERNEL != "stock", reason="the kernel is chosen here")
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("kernel", ["debian12", "backports"])
def test_kernel(kernel):
    process.check("make", "-s", "-C", TOP, "modules", f"KERNEL={kernel}", seconds=1200, merge=True)
    process.check(sys.executable, "-m", "pytest", "-m", "not long", "-p", "no:cacheprovider", "-k", PART, TESTS / "suites" / "guests",
                  env={"KERNEL": kernel, "LAB_NAME": f"{LAB_NAME}-{kernel}"}, seconds=6000, merge=True)
