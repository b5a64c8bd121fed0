# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The module xen-ibgrant in dom0: pages that guest1 has granted are registered with the HCA as dma-bufs (tests/programs/verbs/grants).
Every word of them is compared, on both sides; whoever holds them may be killed at any time."""

import contextlib
import subprocess

import pytest

from harness import BUILD, daemon, lab, programs, wait

pytestmark = [pytest.mark.usefixtures("guests"), pytest.mark.timeout(240)]

PAGES = 1024
FIRST, SECOND = 1, 2  # seeds of the words, as in granter.h
REFERENCES = "/tmp/grants"
PARAMETERS = "/sys/module/xen_ibgrant/parameters"


class Granter:
    """A program in guest1 that has granted pages to dom0, for as long as it runs."""

    def __init__(self, program):
        self.program = program
        self.answers = 0
        program.until_says("granted\n")
        references = lab.run("guest1", f"cat {REFERENCES}")
        lab.run("dom0", f"cat >{REFERENCES}", text=f"{daemon.domid('guest1')} {references}\n")

    def ask(self, line):
        """What it answers."""
        __tracebackhide__ = True
        self.program.process.stdin.write(f"{line}\n")
        self.program.process.stdin.flush()
        self.answers += 1
        return wait.until(f"an answer to {line}", self.answer)

    def answer(self):
        answers = self.program.said().splitlines()[1:]
        return answers[-1] if len(answers) == self.answers else ""


def granter(*options):
    return lab.running("guest1", f"{lab.THERE}/granter", PAGES, REFERENCES, *options, stdin=subprocess.PIPE)


@contextlib.contextmanager
def granted(*options):
    with granter(*options) as program:
        yield Granter(program)
        program.end_input()
        program.finish()


def mapped():
    return int(lab.run("dom0", f"cat {PARAMETERS}/mapped"))


def until_none_is_mapped():
    __tracebackhide__ = True
    wait.until("no grant is mapped", lambda: mapped() == 0)


@pytest.fixture(scope="module", autouse=True)
def module(guests):
    built = BUILD / "tests" / "programs" / "verbs"
    loaded = lab.ok("dom0", f"[ -d {PARAMETERS} ]")
    lab.run("dom0", f"mkdir -p {lab.THERE}")
    lab.put("dom0", built / "grants", to=lab.THERE)
    lab.put("guest1", built / "granter", to=lab.THERE)
    lab.run("guest1", f"echo {4 * PAGES} >/sys/module/xen_gntalloc/parameters/limit")
    if not loaded:
        lab.run("dom0", "insmod /lib/modules/xen-ibgrant.ko")
    yield
    if not loaded:
        lab.run("dom0", "rmmod xen-ibgrant")  # which nobody uses


def command(*words):
    return f"GRANTS={REFERENCES} exec {lab.THERE}/grants -d mlx5_0 -D mlx5_0 {' '.join(words)}"


def run(*cases):
    __tracebackhide__ = True
    lab.run("dom0", command(*cases), merge=True)
    assert mapped() == 0


@pytest.mark.parametrize("case", ["data", pytest.param("local", marks=pytest.mark.long), "ranges"])
def test_data(case):
    with granted() as guest:
        run(case)
        assert guest.ask(f"check {SECOND if case == 'data' else FIRST}") == "right"


def test_read_only():
    """Grants that the guest gives for reading alone are read, and never mapped for writing."""
    with granted("read-only") as guest:
        run("read-only", "writable")
        assert guest.ask(f"check {FIRST}") == "right"


def refusals():
    return [name for name in programs.listed("verbs", "grants") if name not in ("data", "local", "ranges")]


def test_refused():
    with granted():
        run(*refusals())


@contextlib.contextmanager
def pages_held(case, says):
    """By a program, which is killed at the end."""
    before = daemon.mapped_grants("guest1")
    with lab.running("dom0", command(case)) as program:
        program.until_says(says)
        yield program
        lab.run("dom0", "pkill -9 -x grants")
        until_none_is_mapped()
        assert daemon.mapped_grants("guest1") == before


def test_kill_writing():
    """The HCA writes to the guest's pages when the program is killed."""
    with granted() as guest:
        with pages_held("hold", "holding"):
            assert mapped() == PAGES
        guest.ask(f"fill {FIRST}")
        assert guest.ask(f"check {FIRST}") == "right", "the HCA writes on"


@pytest.mark.long
def test_kill_mapping():
    """In the middle of mapping and unmapping."""
    with granted():
        for _ in range(5):
            with pages_held("hold-mapping", "mapping"):
                pass


@pytest.mark.long
def test_taken_back():
    """The guest's program ends while its pages are mapped: they stay, and are the guest's again behind that."""
    with granter() as program:
        Granter(program)
        with pages_held("hold", "holding") as holding:
            lab.run("guest1", "pkill -9 -x granter")
            assert mapped() == PAGES and holding.process.poll() is None
    with granted():
        run("data")
