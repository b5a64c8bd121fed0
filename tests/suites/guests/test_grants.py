# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The module xen-ibgrant in dom0: pages that guest1 has granted are registered with the HCA as dma-bufs (tests/programs/verbs/grants).
Every word of them is compared, on both sides; whoever holds them may be killed at any time."""

import contextlib
import os
import subprocess

import pytest

from harness import BUILD, daemon, lab, programs, wait

pytestmark = [pytest.mark.usefixtures("guests"), pytest.mark.timeout(240)]

PAGES = 1024
FIRST, SECOND = 1, 2  # seeds of the words, as in granter.h
REFERENCES = "/tmp/grants"
RANDOM_COUNT = int(os.environ.get("RANDOM_COUNT") or 4000)  # calls
PARAMETERS = "/sys/module/xen_ibgrant/parameters"


class Granter:
    """A program in guest1 that has granted pages to dom0, for as long as it runs."""

    def __init__(self, program):
        self.program = program
        self.answers = 0
        program.until_says("granted\n")
        references = lab.run("guest1", f"cat {REFERENCES}")
        lab.run("dom0", f"cat >{REFERENCES}", text=f"{daemon.domid('guest1')} {references}\n")
        channels = lab.run("guest1", f"cat {REFERENCES}.channels")
        lab.run("dom0", f"cat >{REFERENCES}.channels", text=channels)

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


@pytest.fixture(scope="module", autouse=True)
def at_rest(guests):
    """How many the daemon has mapped for guests, of which no program does anything meanwhile."""
    built = BUILD / "tests" / "programs" / "verbs"
    lab.run("dom0", f"mkdir -p {lab.THERE}")
    lab.put("dom0", built / "grants", to=lab.THERE)
    lab.put("guest1", built / "granter", to=lab.THERE)
    lab.run("guest1", f"echo {4 * PAGES} >/sys/module/xen_gntalloc/parameters/limit")
    return mapped()


def command(*words):
    return f"GRANTS={REFERENCES} exec {lab.THERE}/grants -d mlx5_0 -D mlx5_0 {' '.join(words)}"


@pytest.fixture
def run(at_rest):
    def run(*cases):
        __tracebackhide__ = True
        lab.run("dom0", command(*cases), merge=True)
        assert mapped() == at_rest

    return run


@pytest.mark.parametrize("case", ["data", pytest.param("local", marks=pytest.mark.long), "ranges"])
def test_data(run, case):
    with granted() as guest:
        run(case)
        assert guest.ask(f"check {SECOND if case == 'data' else FIRST}") == "right"


def test_read_only(run):
    """Grants that the guest gives for reading alone are read, and never mapped for writing."""
    with granted("read-only") as guest:
        run("read-only", "writable")
        assert guest.ask(f"check {FIRST}") == "right"


@pytest.mark.long
@pytest.mark.timeout(240 + RANDOM_COUNT // 10)
@pytest.mark.parametrize("case", ["random", "random-at-once"])
def test_random(run, case):
    """Calls by chance, good and bad: each ends as it has to, no grant is mapped behind them, and the kernel has nothing to say."""
    with granted():
        run(case, f"--count {RANDOM_COUNT}")


DATA = ("data", "local", "ranges")
EVENTS = ("told", "late", "ends", "in-traffic")


def refusals():
    return [name for name in programs.listed("verbs", "grants") if name not in DATA + EVENTS]


def test_refused(run):
    with granted():
        run(*refusals())


@pytest.mark.long
def test_events(run):
    """The guest finds the bit that it was told of, and its channel has rung; one that closes its channel is no trouble."""
    with granted() as guest:
        assert guest.ask("clear") == "cleared" and guest.ask("rung") == "0"
        run("told")
        assert (guest.ask("take 77"), guest.ask("take 78"), guest.ask("take 76")) == ("set", "set", "clear")
        assert int(guest.ask("rung")) == 2
    with granted() as guest:
        guest.ask("clear")
        run("much", "late", "ends", "in-traffic")
        assert guest.ask("take 77") == "set"


@contextlib.contextmanager
def pages_held(at_rest, case, says):
    """By a program, which is killed at the end."""
    before = daemon.mapped_grants("guest1")
    with lab.running("dom0", command(case)) as program:
        program.until_says(says)
        yield program
        lab.run("dom0", "pkill -9 -x grants")
        wait.until("none of them is mapped", lambda: mapped() == at_rest)
        assert daemon.mapped_grants("guest1") == before


def test_kill_writing(at_rest):
    """The HCA writes to the guest's pages when the program is killed."""
    with granted() as guest:
        with pages_held(at_rest, "hold", "holding"):
            assert mapped() == at_rest + PAGES
        guest.ask(f"fill {FIRST}")
        assert guest.ask(f"check {FIRST}") == "right", "the HCA writes on"


@pytest.mark.long
def test_kill_ringing(at_rest):
    """Its CQ has events, of which the guest is told, when the program is killed. Its channel may be gone by then."""
    with granted() as guest:
        with pages_held(at_rest, "hold-events", "ringing"):
            guest.ask("clear")
            wait.until("the guest is told again", lambda: guest.ask("take 77") == "set")
            guest.ask("close")
            wait.until("and once more", lambda: guest.ask("take 77") == "set")


@pytest.mark.long
def test_kill_mapping(at_rest):
    """In the middle of mapping and unmapping."""
    with granted():
        for _ in range(5):
            with pages_held(at_rest, "hold-mapping", "mapping"):
                pass


@pytest.mark.long
def test_taken_back(at_rest, run):
    """The guest's program ends while its pages are mapped: they stay, and are the guest's again behind that."""
    with granter() as program:
        Granter(program)
        with pages_held(at_rest, "hold", "holding") as holding:
            lab.run("guest1", "pkill -9 -x granter")
            assert mapped() == at_rest + PAGES and holding.process.poll() is None
    with granted():
        run("data")
