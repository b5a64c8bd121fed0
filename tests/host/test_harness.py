# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The harness itself, by a sample of tests in which everything happens (harness/sample.py), on a machine that is none."""

import sys
import xml.etree.ElementTree as xml

import pytest

from harness import TESTS, process

SAMPLE = TESTS / "host" / "harness"


class Run:
    """A run of some tests of the sample: its exit status, the result of each test, what became of the lab."""

    def __init__(self, folder, expression="", *options, **environment):
        results = folder / "results.xml"
        self.ended = process.call(
            *(sys.executable, "-m", "pytest", "-o", f"cache_dir={folder}/cache", "--junitxml", results),
            *("-k", expression, *options, SAMPLE / "sample.py", SAMPLE / "sample_beside.py"),
            env={"SAMPLE": str(folder), "XENIB_RUN": str(folder), "LAB": str(SAMPLE / "lab"), "LAB_NAME": "sample", "PATIENCE": "1"}
            | environment,
            cwd=TESTS.parent,
            merge=True,
        )
        self.cases = {case.get("name"): case for case in xml.parse(results).iter("testcase")}
        log = folder / "log"
        self.log = log.read_text().splitlines() if log.exists() else []

    def result(self, name):
        kinds = [child.tag for child in self.cases[name] if child.tag in ("failure", "error", "skipped")]
        return kinds[0] if kinds else "passed"

    def results(self):
        return {name: self.result(name) for name in self.cases}

    def why(self, name):
        return "".join(self.cases[name].itertext())


@pytest.fixture
def sample(tmp_path):
    return lambda *arguments, **environment: Run(tmp_path, *arguments, **environment)


def test_batch(sample):
    run = sample("test_batch or test_beside")
    assert run.results() == {
        "test_batch[first-cases]": "passed",
        "test_batch[fail-cases]": "failure",
        "test_batch[skip-cases]": "skipped",
        "test_batch[hang-cases]": "failure",
        "test_batch[next-cases]": "passed",
        "test_batch[die-cases]": "failure",
        "test_batch[last-cases]": "passed",
        "test_beside[elsewhere-cases]": "passed",
    }, run.ended
    assert run.ended.status == 1
    assert "the reason" in run.why("test_batch[fail-cases]")
    assert "in hang" in run.why("test_batch[hang-cases]") and "Timeout" in run.why("test_batch[hang-cases]")
    assert "ended with status 3" in run.why("test_batch[die-cases]")
    # It is called once, and once more after each case that it did not survive. Each module has a batch of its own.
    assert [line for line in run.log if line.startswith("begins")] == [
        "begins first fail skip hang next die last",
        "begins next die last",
        "begins last",
        "begins elsewhere",
    ]


def test_said():
    """What a command says while it is looked at is neither lost nor written over."""
    for _ in range(40):
        with process.running("sh", "-c", "for i in 0 1 2 3 4 5 6 7 8 9; do echo line $i; done") as program:
            while program.process.poll() is None:
                program.said()
            assert program.said() == "".join(f"line {i}\n" for i in range(10))


def test_selection(sample):
    run = sample("first or last")
    assert run.ended.status == 0
    assert "begins first last" in run.log


def test_limit(sample):
    run = sample("hangs")
    assert run.results() == {"test_hangs": "failure"}, run.ended
    assert run.log == [], "a machine was started, and no test needs it"


def test_ahead(sample):
    """Two at once, which leave the processors to a machine; one that takes too long is ended, and the others are not."""
    run = sample("test_ahead")
    assert run.results() == {
        "test_ahead[one]": "passed",
        "test_ahead[other]": "passed",
        "test_ahead[fails]": "failure",
        "test_ahead[slow]": "failure",
        "test_ahead[gives-way]": "passed",
        "test_ahead[next]": "passed",
    }, run.ended
    assert "the reason" in run.why("test_ahead[fails]")
    assert "last words" in run.why("test_ahead[slow]") and "Timeout" in run.why("test_ahead[slow]")


def test_fault(sample):
    """What a console says fails the test beside which it came, and no other."""
    run = sample("fault")
    assert run.results() == {"test_fault": "failure", "test_after_fault": "passed"}, run.ended
    assert "BUG" in run.why("test_fault")


def test_search(sample):
    """Consoles are searched behind the first test and the last, and behind one beside which something came that looks like a fault."""
    run = sample("says or after_fault")
    assert run.results() == {
        "test_says": "passed",
        "test_says_expected": "passed",
        "test_says_half": "passed",
        "test_says_whole": "failure",
        "test_after_fault": "passed",
    }, run.ended
    assert [line for line in run.log if line.startswith("check")] == ["check", "check", "check --leaks"]


def test_silence(sample):
    """A machine that falls silent fails a test, is started again, and made what it was."""
    run = sample("falls or notices or stands")
    assert run.results() == {
        "test_falls": "failure",
        "test_falls_behind": "passed",
        "test_notices": "failure",
        "test_stands_again": "passed",
    }, run.ended
    assert sum(line.startswith("up") for line in run.log) == 3
    assert run.log.count("prepared") == 3
    assert "the machine does not answer" in run.ended.out
    assert run.log.count("state") == 2
    assert run.ended.out.count("CPU 0 is where it is") == 2


def test_silent_guest(sample):
    """So does a machine with a guest that falls silent: it is none of the others' fault."""
    run = sample("test_guest")
    assert run.results() == {"test_guest_silent": "failure", "test_guest_again": "passed"}, run.ended
    assert run.log.count("prepared") == 2


def test_silence_in_fixture(sample):
    """A machine that falls silent in a fixture that tests share fails the first of them alone."""
    run = sample("unsteady")
    assert run.results() == {
        "test_unsteady": "error",
        "test_unsteady_next": "failure",
        "test_unsteady_third": "passed",
    }, run.ended
    assert sum(line.startswith("up") for line in run.log) == 4


def test_triple_faults(sample):
    """A test in which a PVH guest falls is made again, twice at most, and not silently."""
    run = sample("test_pvh")
    assert run.results() == {
        "test_pvh[0]": "passed",
        "test_pvh[2]": "passed",
        "test_pvh[3]": "failure",
        "test_pvh_errs": "failure",
    }, run.ended
    assert "made 1 times" in run.why("test_pvh_errs")
    assert "made again, as the PVH guest ended by a triple fault: it does not answer" in run.ended.out


@pytest.mark.parametrize("fails, status", [(0, 0), (3, 0), (4, 1)])
def test_start(sample, fails, status):
    """A machine that does not start is started so often, and no oftener."""
    run = sample("stands", STARTS_FAIL=str(fails))
    assert run.ended.status == status, run.ended
    assert sum(line.startswith("up") for line in run.log) == min(fails, 3) + 1


def test_nothing_matches(sample):
    assert sample("nothing_like_this").ended.status == 5


def test_resume(sample):
    """What has passed is left out, unless all that is asked for has; a run of something else forgets nothing."""
    both = "test_batch and (first or die)"
    assert sample(both, "--resume").results() == {"test_batch[first-cases]": "passed", "test_batch[die-cases]": "failure"}
    assert sample(both, "--resume").results() == {"test_batch[die-cases]": "failure"}
    assert sample("test_batch and first", "--resume").results() == {"test_batch[first-cases]": "passed"}
    assert sample("stands", "--resume").ended.status == 0
    assert sample(both, "--resume").results() == {"test_batch[die-cases]": "failure"}
