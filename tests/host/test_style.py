# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Style of all sources (style/check says what is looked at)."""

import re

import pytest

from harness import TESTS, TOP, lab


@pytest.mark.timeout(300)
@pytest.mark.parametrize("what", ["spdx", "shell", "clang"])
def test_style(what):
    lab.root("tools", TESTS / "host" / "style" / "check", what)


def test_includes():
    """A folder of the daemon includes its own headers, and those of folders before it in ROOMS."""
    makefile = (TOP / "backend" / "Makefile").read_text()
    rooms = re.search(r"^ROOMS := (.*)$", makefile, flags=re.MULTILINE)[1].split()
    upwards = []
    for rank, room in enumerate(rooms):
        for file in (TOP / "backend" / room).glob("*.[ch]"):
            for name in re.findall(r'^#include "(.*)"', file.read_text(), flags=re.MULTILINE):
                if name.split("/")[0] in rooms[rank + 1 :]:
                    upwards.append(f"{room}/{file.name}: {name}")
    assert not upwards
