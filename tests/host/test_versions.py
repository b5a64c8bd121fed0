# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Guests whose module and provider are of an older build on today's backend, and today's guests on a backend of that build: they agree on
what both have (docs/protocol.md, features)."""

import sys

import pytest

from harness import BUILD, KERNEL, LAB_NAME, TESTS, TOP, lab, process

# By name, the commit: what it is without.
OLDER = {
    "no-posted-requests": "215e8bc",  # nor regions as dma-bufs, flags of CQs, or limits of QPs
}
ROOMS = ["shared-ring", "backend", "tools", "frontend", "provider"]
# What both builds have. A guest finds its own way back if its worker is killed.
INTEGRITY = "integrity and (rc- or ud- or mr- or mw- or order or atomics)"
PART = f"not personality and (pingpong or {INTEGRITY} or kernel_verbs and (rc or ud) or kill_worker)"

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600), pytest.mark.skipif(KERNEL != "stock", reason="the older build is made for it")]


def build_of(commit):
    """The folder with what that commit makes, as "make" leaves it."""
    there = BUILD / "older" / commit
    if not (there / "build" / "stage" / ".complete").exists():
        there.mkdir(parents=True, exist_ok=True)
        process.check("sh", "-c", f"git -C {TOP} archive {commit} | tar -x -C {there}")
        for room in ROOMS:
            lab.root("tools", "make", "-s", "-j2", "-C", there / room, f"VERSION=1.0+{commit}", seconds=1200)
        lab.root("tools", "make", "-s", "-C", there, "install-here", f"DESTDIR={there / 'build' / 'stage'}", "PREFIX=/usr",
                 f"VERSION=1.0+{commit}")
        (there / "build" / "stage" / ".complete").touch()
    return there / "build"


@pytest.mark.parametrize("of", ["guests", "backend"])
@pytest.mark.parametrize("older", list(OLDER))
def test_versions(older, of):
    build = build_of(OLDER[older])
    builds = {"XENIB_BUILD": BUILD, "XENIB_GUEST_BUILD": build} if of == "guests" else {"XENIB_BUILD": build, "XENIB_GUEST_BUILD": BUILD}
    process.check(sys.executable, "-m", "pytest", "-m", "not long", "-p", "no:cacheprovider", "-k", PART, TESTS / "suites" / "guests",
                  env={**{name: str(path) for name, path in builds.items()}, "LAB_NAME": f"{LAB_NAME}-older-{of}"}, seconds=3000, merge=True)
