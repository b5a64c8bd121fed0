# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Style of all sources (style/check says what is looked at), and how large files and folders are."""

import re
from collections import Counter
from pathlib import PurePath

import pytest

from harness import TESTS, TOP, lab, process

MOST_LINES = 700
MOST_FILES = 40


def sources():
    """Files of the project, without what programs have made: inputs of fuzzers, and results of benchmarks."""
    names = process.check("git", "-C", TOP, "ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    paths = [PurePath(name) for name in names if (TOP / name).is_file()]
    return [path for path in paths if "corpus" not in path.parts and not path.is_relative_to("docs/results")]


@pytest.mark.ahead
@pytest.mark.timeout(300)
@pytest.mark.parametrize("what", ["spdx", "shell", "format", "clang", "checkpatch", "sparse"])
def test_style(what):
    lab.root("tools", TESTS / "host" / "style" / "check", what)


def test_no_long_file():
    lines = {str(path): (TOP / path).read_bytes().count(b"\n") for path in sources()}
    assert not {name: count for name, count in lines.items() if count > MOST_LINES}


def test_no_full_folder():
    folders = Counter(str(path.parent) for path in sources())
    assert not {name: count for name, count in folders.items() if count > MOST_FILES}


@pytest.mark.parametrize("path", [path for path in sources() if path.name == "Makefile" and path.parent.name], ids=str)
def test_no_variable_of_the_top(path):
    """What "make KERNEL=debug" says goes on to the Makefiles of all rooms: one that means something else by that name does not build."""
    given = set(re.findall(r"^(\w+) \?=", (TOP / "Makefile").read_text(), re.MULTILINE))
    assert "KERNEL" in given
    assert not given & set(re.findall(r"^(\w+) :?=", (TOP / path).read_text(), re.MULTILINE))
