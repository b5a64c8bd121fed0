# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The Debian packages: what they hold, how they are compiled, whether they install (packages/check)."""

import pytest

from harness import TESTS, TOP, lab, process


@pytest.fixture(scope="module")
def packages():
    """The packages, made once."""
    process.check("make", "-s", "-C", TOP, "deb", merge=True)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("what", ["contents", "hardening", "install", "dkms"])
def test_packages(packages, what):
    lab.root("target" if what == "install" else "tools", TESTS / "host" / "packages" / "check", what)
