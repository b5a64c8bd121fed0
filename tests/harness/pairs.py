# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Pairs of stock programs, a server and a client, by the table tests/pairs/table. In dom0 both run there, each on an HCA; between guests
the server runs in guest1 and the client in the guest that is named."""

import re

import pytest

from harness import TESTS, lab, programs

PAIRS = TESTS / "pairs"


def runner(where):
    """The program that runs pairs there."""
    return "in-dom0" if where == "dom0" else "in-guest"


def files(where):
    """What that takes."""
    return [PAIRS / name for name in (runner(where), "table", "run-pair", "serve", "agent")]


def params(wanted=lambda name: True, long=lambda name: False):
    """Parameters "program, case" for programs.Batch, called GROUP/NAME: the program is the pair's group."""
    names = re.findall(r"^[a-z]\S*", (PAIRS / "table").read_text(), re.MULTILINE)
    return [pytest.param(*name.split("/"), id=name, marks=programs.marks(long(name))) for name in names if wanted(name)]


def in_guests(name):
    """Do guests run it? Both programs of a pair in a guest of one vCPU take turns by its scheduler."""
    return not name.endswith("-one-hca")


def command(where, group):
    """For programs.Batch."""
    return lab.run_words(where, f"{lab.THERE}/{runner(where)}", group)


def run(where, pair="pingpong/rc-1-mib"):
    """Runs a pair, which has to succeed."""
    __tracebackhide__ = True
    group, name = pair.split("/")
    said = lab.run(where, f"{lab.THERE}/{runner(where)}", group, name, merge=True)
    assert f"@pass {name}" in said.splitlines(), said
