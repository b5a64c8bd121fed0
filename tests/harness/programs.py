# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Programs that are made of cases, each of which is a test: they name them by --list, run those that are named, and with --results
print a line "@pass NAME", "@fail NAME" or "@skip NAME" after each; what they print before it belongs to it."""

import functools
import subprocess

import pytest

from harness import BUILD, PATIENCE, TESTS, lab, process
from harness.wait import Silent

CLEAN_SECONDS = 20 * PATIENCE  # for a program that has told all results

VERBS = ["violate", "events", "multicast", "integrity"]
NEVER_SKIPPED = ["mr-null"]  # a card may be without, the HCA model is not
# libmlx5 looks for the doorbell record of a QP that ibv_open_qp() gave, which has none, and dies (mlx5_destroy_qp(), mlx5_free_db()).
NOT_LIBMLX5 = ["xrc-shared"]
ISOLATION = ["forge", "steal", "hostile", "ring-on"]


@functools.cache
def loader():
    """The words that run a program of the tools root on this host, however old its own libraries are, and without being root."""
    root = lab.lab("root", "tools", "--path").strip()
    return [f"{root}/usr/lib64/ld-linux-x86-64.so.2", "--library-path", f"{root}/usr/lib/x86_64-linux-gnu"]


def listed(folder, program):
    """The names of a program's cases."""
    path = BUILD / "tests" / "programs" / folder / program
    if not path.exists():
        raise pytest.UsageError(f"there is no {path}: run make")
    return [line.split()[0] for line in process.check(*loader(), path, "--list", "*").splitlines()]


def cases(folder, *programs, wanted=lambda name: True, long=()):
    """Parameters "program, case", called PROGRAM/CASE; those of the cases LONG are marked as such."""
    return [
        pytest.param(program, name, id=f"{program}/{name}", marks=marks(name in long))
        for program in programs
        for name in listed(folder, program)
        if wanted(name)
    ]


def marks(long):
    return [pytest.mark.long] if long else []


def answering(where, program, *options):
    """The words that run a program of tests/programs/isolation which asks for what it cannot see by itself."""
    return [TESTS / "programs" / "isolation" / "answering", "--other", "guest1", where, f"{lab.THERE}/{program}", "--results", *options]


class Batch:
    """Calls of such programs, each of which runs all cases that were selected of a program, as a call into a machine costs. A fixture
    of a module makes it, for the tests of that module: others may have a fixture of that name, too. COMMAND_OF(program) are the words of
    the command, without the cases. Tests have the parameters "program" and "case". What a program has begun ends with the batch."""

    def __init__(self, request, command_of):
        self.command_of = command_of
        self.selected = [
            (item.callspec.params["program"], item.callspec.params["case"])
            for item in request.session.items
            if request.fixturename in item.fixturenames and request.node in item.listchain()
        ]
        self.process, self.program, self.queue = None, None, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def begin(self, program):
        """Starts a program before the first of its cases is waited for, so that it runs beside others."""
        if names := self.cases_of(program):
            self.start(program, names[0])

    def cases_of(self, program):
        return [name for of, name in self.selected if of == program]

    def start(self, program, case):
        """From this case on."""
        self.end()
        names = self.cases_of(program)
        self.program, self.queue = program, names[names.index(case):]
        self.process = process.start([*self.command_of(program), *self.queue], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def end(self):
        """A program that has told all results cleans up first."""
        if self.process:
            try:
                self.process.wait(0 if self.queue else CLEAN_SECONDS)
            except subprocess.TimeoutExpired:
                process.end(self.process)
            self.process.stdout.close()
        self.process, self.queue = None, []

    def run(self, program, case):
        """Waits for the result of a case. Its output is the test's."""
        __tracebackhide__ = True
        if not self.process or self.program != program or self.queue[:1] != [case]:
            self.start(program, case)
        self.queue.pop(0)
        try:
            word, said = self.read_result(case)
        except BaseException:
            self.end()
            raise
        if word == "@skip" and case not in NEVER_SKIPPED:
            pytest.skip(said.removeprefix("skipped: ") or "it says no reason")
        assert word == "@pass", said

    def read_result(self, case):
        __tracebackhide__ = True
        lines = []
        try:
            for line in self.process.stdout:
                word, name, *_ = line.split() + ["", ""]
                if word in ("@pass", "@fail", "@skip") and name == case:
                    return word, "".join(lines).strip()
                lines.append(line)
        except BaseException:
            print("".join(lines), end="")
            raise
        said = "".join(lines)
        status = self.process.wait()
        if status == lab.NO_ANSWER:
            raise Silent(said)
        raise AssertionError(f"no result of {case}: {self.program} ended with status {status}\n{said}")
