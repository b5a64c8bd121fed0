# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What includes what: no file includes itself by way of others, no folder of the daemon one above it."""

import functools
import re

import pytest

from harness import TOP

# Where a folder with an entry looks for what is not beside a file (see the Makefiles).
PATHS = {
    "backend": ["backend", ".", "shared-ring"],
    "benchmarks/programs": ["tests/programs/verbs"],
    "frontend": ["frontend", "shared-ring", "provider"],
    "provider": ["provider", "frontend"],
    "shared-ring": ["shared-ring"],
    "tests/hca": ["tests/hca"],
    "tests/programs/isolation": ["tests/programs/verbs", "shared-ring", "shared-ring/unit", "frontend", "backend", "."],
    "tests/programs/mpi": ["tests/programs/verbs"],
    "tools": ["tools", "backend", "."],
}


@functools.cache
def sources(folder):
    return [path for suffix in "ch" for path in (TOP / folder).rglob(f"*.{suffix}")]


@functools.cache
def included(path):
    """The project's files that a file includes."""
    folder = next((name for name in PATHS if path.is_relative_to(TOP / name)), None)
    found = []
    for name in re.findall(r'^\s*#\s*include "([^"]+)"', path.read_text(), re.M):
        places = [path.parent, *(TOP / place for place in PATHS.get(folder, []))]
        found += [place / name for place in places if (place / name).is_file()][:1]
    return [file.resolve() for file in found]


def circle(start, parts):
    """A way from a part back to it, or None."""
    ways, seen = [[start]], set()
    for way in ways:
        for part in parts.get(way[-1], ()):
            if part == start:
                return [*way, part]
            if part not in seen:
                seen.add(part)
                ways.append([*way, part])
    return None


def circles(parts):
    found = {frozenset(way): way for way in (circle(part, parts) for part in parts) if way}
    return [" -> ".join(str(part.relative_to(TOP)) for part in way) for way in found.values()]


@pytest.mark.parametrize("folder", PATHS)
def test_no_file_includes_itself(folder):
    found = circles({path: included(path) for path in sources(folder)})
    assert not found


@pytest.mark.parametrize("folder", ["backend", "tools", "shared-ring"])
def test_no_circle_of_parts(folder):
    """A part is X.c with X.h: X.c may not use Y.h, where Y.c uses X.h."""
    parts = {}
    for path in sources(folder):
        parts.setdefault(path.with_suffix(""), set()).update(file.with_suffix("") for file in included(path))
    for part, others in parts.items():
        others.discard(part)
    found = circles(parts)
    assert not found


def test_no_folder_above():
    """A folder of the daemon includes its own headers, and those of folders before it in ROOMS."""
    makefile = (TOP / "backend" / "Makefile").read_text()
    rooms = re.search(r"^ROOMS := (.*)$", makefile, flags=re.MULTILINE)[1].split()
    upwards = []
    for rank, room in enumerate(rooms):
        above = [TOP / "backend" / other for other in rooms[rank + 1 :]]
        for path in sources(f"backend/{room}"):
            upwards += [f"{path.relative_to(TOP)}: {file.relative_to(TOP)}" for file in included(path) if file.parent in above]
    assert not upwards
