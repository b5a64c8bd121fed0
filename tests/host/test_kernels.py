# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Debian's other kernels (docs/kernels.md): a part of the suites, on machines of which dom0 and guests run one of them, and a smaller one
where they run different ones."""

import sys

import pytest

from harness import KERNEL, LAB_NAME, TESTS, TOP, process

MIXED = "pingpong and (rc or ud or srq) or kernel_verbs or kill_worker"
PART = "pingpong or integrity or violate or kernel_verbs or ipoib or cm or grants or hostile or endings or mpi"
LONG = ["test_matrix", "test_ulps", "test_nvme"]

pytestmark = [pytest.mark.long, pytest.mark.timeout(7200), pytest.mark.skipif(KERNEL != "stock", reason="the kernel is chosen here")]


def make_modules(kernel):
    process.check("make", "-s", "-C", TOP, "modules", f"KERNEL={kernel}", seconds=1200, merge=True)


def run_suite(dom0, guests, *words, markers):
    """Tests on a machine with these kernels."""
    process.check(sys.executable, "-m", "pytest", "-m", markers, "-p", "no:cacheprovider", *words,
                  env={"KERNEL": dom0, "GUEST_KERNEL": guests, "LAB_NAME": f"{LAB_NAME}-{dom0}-{guests}"}, seconds=6000, merge=True)


@pytest.mark.parametrize("dom0, guests", [("debian12", "debian12"), ("backports", "backports"), ("stock", "debian12"),
                                          ("stock", "backports"), ("debian12", "backports"), ("backports", "stock")])
def test_kernels(dom0, guests):
    for kernel in {dom0, guests} - {"stock"}:
        make_modules(kernel)
    run_suite(dom0, guests, "-k", PART if dom0 == guests else MIXED, TESTS / "suites" / "guests", markers="not long")


@pytest.mark.parametrize("kernel", ["debian12", "backports"])
def test_long(kernel):
    """Each release's rdma-core in PV and PVH guests, and what Linux does over a port."""
    make_modules(kernel)
    run_suite(kernel, kernel, *(TESTS / "suites" / "guests" / f"{name}.py" for name in LONG), markers="long")
