# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Parts of the lab that can be tested without a machine."""

import pytest

from harness import TESTS, lab, process


def test_reports():
    """"lab check" finds what the kernel's checkers say."""
    process.check(TESTS / "host" / "reports" / "check", merge=True)


@pytest.mark.parametrize("check", ["vmrun-once", "interrupts"])
def test_qemu(check):
    """What is preloaded into the lab's QEMU fits it, and so does what "lab state" reads of it."""
    lab.root("tools", TESTS / "host" / "qemu" / "check", check)


def test_a_manager_needs_an_hca():
    """"lab up --sm" starts nothing where the subnet manager would have no port."""
    result = process.call(lab.LAB, "up", "--sm", "--hcas", "0")
    assert result.status == 2, str(result)
    assert "a subnet manager needs an HCA" in result.err, str(result)
