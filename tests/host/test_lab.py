# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Parts of the lab that can be tested without a machine."""

from harness import TESTS, lab, process


def test_reports():
    """"lab check" finds what the kernel's checkers say."""
    process.check(TESTS / "host" / "reports" / "check", merge=True)


def test_vmrun_once():
    """What is preloaded into the lab's QEMU fits it."""
    lab.root("tools", TESTS / "host" / "qemu" / "check", "vmrun-once")


def test_a_manager_needs_an_hca():
    """"lab up --sm" starts nothing where the subnet manager would have no port."""
    result = process.call(lab.LAB, "up", "--sm", "--hcas", "0")
    assert result.status == 2, str(result)
    assert "a subnet manager needs an HCA" in result.err, str(result)
