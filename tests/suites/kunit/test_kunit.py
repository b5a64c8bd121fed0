# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""KUnit cases of the frontend (frontend/kunit), in a kernel with KASAN: one machine runs all of them."""

import re
from pathlib import Path

import pytest

from harness import TOP, process

MACHINE = Path(__file__).with_name("machine")
CASES = [name for file in sorted((TOP / "frontend" / "kunit").glob("tests*.c")) for name in re.findall(r"\bKUNIT_CASE\(test_(\w+)\)", file.read_text())]
assert CASES

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def console(tmp_path_factory):
    """The file with what the machine has said."""
    file = tmp_path_factory.mktemp("kunit") / "console"
    process.check(MACHINE, "run", file, merge=True)
    return file


@pytest.mark.parametrize("case", CASES)
def test_frontend(console, case):
    """KASAN and UBSAN fail the case in which they report."""
    said = console.read_text(errors="replace").replace("\r", "")
    result = re.search(rf"^(?:\[[^]]*\] )? +(not ok|ok) \d+ test_{case}\b", said, re.MULTILINE)
    assert result and result[1] == "ok", said


def test_reports(console):
    """No checker has reported anything, and nothing has leaked."""
    process.check(MACHINE, "reports", console, merge=True)
