# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The Debian packages: what they hold, how they are compiled, whether they install (packages/check)."""

import pytest

from harness import TESTS, TOP, lab, process
from harness.ahead import once


@once
def make_packages():
    process.check("make", "-s", "-C", TOP, "deb", merge=True)


@pytest.mark.ahead
@pytest.mark.timeout(300)
@pytest.mark.parametrize("what, root", [("contents", "tools"), ("hardening", "tools"), ("install", "target"),
                                        pytest.param("dkms", "tools", marks=pytest.mark.long),  # "make" has compiled them for this kernel
                                        ("dkms", "linux-debian12"), ("dkms", "linux-backports")])
def test_packages(what, root):
    make_packages()
    lab.root(root, TESTS / "host" / "packages" / "check", what)
