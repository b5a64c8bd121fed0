# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What pages name exists: files and headings that links lead to, and paths of the repository in backticks."""

import re
from itertools import product

import pytest

from harness import TOP, process

FILES = process.check("git", "-C", TOP, "ls-files", "--cached", "--others", "--exclude-standard").splitlines()
PAGES = [name for name in FILES if name.endswith(".md") and (TOP / name).exists()]
FOLDERS = {name.split("/")[0] for name in FILES if "/" in name}


def prose(name):
    """A page without its code blocks, which are fenced or indented."""
    text = re.sub(r"^```.*?^```", "", (TOP / name).read_text(), flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"^( {4}|\t).*$", "", text, flags=re.MULTILINE)


def anchors(page):
    """As GitHub makes them: a heading in small letters, without punctuation, with hyphens for blanks."""
    headings = re.findall(r"^#+ +(.+)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(name):
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(name)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        page = (TOP / name).parent / path if path else TOP / name
        if not page.exists() or (anchor and anchor not in anchors(page)):
            yield target


def expanded(path):
    """The alternatives of a path with braces."""
    parts = [part.split(",") for part in re.split(r"[{}]", path)]
    return ["".join(parts) for parts in product(*parts)]


def missing_paths(name):
    """Of those that are not there: a word in capitals stands for a name (tests/NAME), and a program's source has a suffix."""
    for path in re.findall(r"`([\w.*?+\[\]{},-]+/[\w.*?+/\[\]{},-]*)`", prose(name)):
        if path.split("/")[0] not in FOLDERS:
            continue
        for one in expanded(path.rstrip("/")):
            found = any(TOP.glob(one)) or any(TOP.glob(one + ".c"))
            if not found and not re.search(r"(?<![A-Za-z])[A-Z]+(?![a-z])", one):
                yield one


@pytest.mark.parametrize("name", PAGES)
def test_page(name):
    missing = [*broken_links(name), *missing_paths(name)]
    assert not missing, f"{name} names what does not exist"
