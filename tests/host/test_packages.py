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
@pytest.mark.parametrize("what", ["contents", "hardening", "install", "dkms"])
def test_packages(what):
    make_packages()
    lab.root("target" if what == "install" else "tools", TESTS / "host" / "packages" / "check", what)
