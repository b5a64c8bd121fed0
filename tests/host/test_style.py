# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Style of all sources (style/check says what is looked at)."""

import pytest

from harness import TESTS, lab


@pytest.mark.timeout(300)
@pytest.mark.parametrize("what", ["spdx", "shell", "clang"])
def test_style(what):
    lab.root("tools", TESTS / "host" / "style" / "check", what)
