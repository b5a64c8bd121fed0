# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Options, limits, fixtures and hooks of all tests. How to write one: docs/testing.md."""

import signal

import pytest

from harness import BUILD, KERNEL, PATIENCE, guest, lab, pairs, programs
from harness.console import SILENCE, only_silence
from harness.machine import Machine
from harness.resume import Passed

LIMIT_SECONDS = 60  # of a test that names none by pytest.mark.timeout

# What a machine has: more, if a test is among the selected that needs it. So it is started once.
NATIVE_MACHINE = ["--hcas", "2"]
GUESTS_MACHINE = ["--hcas", "2", "--guests", "2", "--spare", "2520", "--iommu"]
USER_LANDS = ["--user-land", "debian12", "--user-land", "sid", "--user-land", "pyverbs"]
TWO_MACHINES = ["--machines", "2", "--guests", "1", "--sm"]

MACHINE = pytest.StashKey()  # of the session
PASSED = pytest.StashKey()  # of the configuration: what is left out by --resume
LAST_OF_MODULE = pytest.StashKey()  # of an item
FIXTURES = pytest.StashKey()  # of the configuration: those that have failed


def pytest_addoption(parser):
    parser.addoption("--keep", action="store_true", help="leave the machine up at the end, and take one that was left by this")
    parser.addoption("--resume", action="store_true", help="leave out what has passed in a run of this that was broken off or failed")


def pytest_configure(config):
    """A run that is terminated ends as one that is interrupted: with what fixtures have to clean up."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    config.stash[FIXTURES] = FailedFixtures()
    config.pluginmanager.register(config.stash[FIXTURES])
    if config.getoption("--resume"):
        config.stash[PASSED] = Passed(config.cache)


@pytest.hookimpl(trylast=True)  # after what -k and -m leave out
def pytest_collection_modifyitems(config, items):
    """Limits are what a quiet machine needs, and are multiplied here. What guests have in their dom0 is no good for native tests: these
    come first. Those with two machines come last, as the other one ends for them."""
    for item in items:
        marker = item.get_closest_marker("timeout")
        seconds = marker.args[0] if marker else LIMIT_SECONDS
        item.add_marker(pytest.mark.timeout(seconds * PATIENCE), append=False)
    items.sort(key=lambda item: ("machines" in item.fixturenames, "guests" in item.fixturenames))
    if PASSED in config.stash:
        left = set(config.stash[PASSED].left_of([item.nodeid for item in items]))
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in left])
        items[:] = [item for item in items if item.nodeid in left]


def pytest_collection_finish(session):
    for item, following in zip(session.items, [*session.items[1:], None]):
        item.stash[LAST_OF_MODULE] = following is None or following.parent is not item.parent


# ---- machines ----


def first_machine(items):
    """The options of the one that the first of these tests needs, and all others but those with two."""
    fixtures = [item.fixturenames for item in items if "machine" in item.fixturenames]
    if all("machines" in names for names in fixtures):
        return TWO_MACHINES
    if not any("guests" in names for names in fixtures):
        return NATIVE_MACHINE
    return [*GUESTS_MACHINE, *USER_LANDS] if any("user_lands" in names for names in fixtures) else GUESTS_MACHINE


@pytest.fixture(scope="session")
def machine(request):
    """The machine of all tests that need one. In a session it is started once, and again if it falls silent."""
    machine = Machine(first_machine(request.session.items), request.config.getoption("--keep"))
    try:
        machine.start()
        request.session.stash[MACHINE] = machine
        yield machine
    finally:
        machine.stop(request.session.testsfailed)


@pytest.fixture(scope="session")
def dom0(machine):
    """dom0 with stock software, as it is for the native tests, and with our programs. A PV dom0's memory that looks contiguous
    need not be, and the stock driver loses data where it is not: the DMA module goes with every HCA there."""
    dma_module = (BUILD if KERNEL == "stock" else BUILD / KERNEL) / "backend" / "modules" / "xen-ibdma" / "xen-ibdma.ko"

    def put():
        verbs = [BUILD / "tests" / "programs" / "verbs" / program for program in (*programs.VERBS, "guids")]
        lab.run("dom0", "mkdir", "-p", lab.THERE)
        lab.put("dom0", *pairs.files("dom0"), *verbs, dma_module, to=lab.THERE)
        lab.run("dom0", f"[ -d /sys/module/xen_ibdma ] || insmod {lab.THERE}/{dma_module.name}")

    machine.prepare(put)


@pytest.fixture(scope="session")
def guests(machine):
    """guest1 and guest2, with a vHCA each and our programs."""
    machine.prepare(guest.set_up)


@pytest.fixture(scope="session")
def user_lands(guests):
    """Beside that, guests can run programs of other releases (lab up --user-land)."""


@pytest.fixture(scope="session")
def machines(request, machine):
    """Instead of it two, with a guest each, without Xen-IB. A managed switch joins their HCAs; the subnet manager is in dom0."""
    machine.become(TWO_MACHINES, request.session.testsfailed)


class FailedFixtures:
    """A fixture that has failed fails for all tests that share it. If the machine with which it failed is gone, it is forgotten."""

    def __init__(self):
        self.failed = []

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef):
        if (yield).excinfo:
            self.failed.append(fixturedef)

    def forget(self):
        for fixture in self.failed:
            fixture.cached_result = None
        self.failed.clear()


# ---- results ----


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Behind a test the consoles are searched, behind the last one of a module for leaks, too: what is found fails the test. A machine
    that does not answer any more fails the test beside which that was noticed, tells where it is, and is started again for the others."""
    report = (yield).get_result()
    machine = item.session.stash.get(MACHINE, None)
    if machine and "machine" in item.fixturenames and (report.when == "call" or report.failed):
        search_consoles(item, machine, report)
    if report.when == "call" and report.passed and PASSED in item.config.stash:
        item.config.stash[PASSED].add(item.nodeid)


def search_consoles(item, machine, report):
    silence = report.failed and SILENCE in report.longreprtext
    faults = machine.consoles.faults(leaks=item.stash[LAST_OF_MODULE] or silence)
    if faults and not (report.passed and only_silence(faults)):
        report.sections.append(("consoles", faults))
        if not report.failed:
            report.outcome, report.longrepr = "failed", faults
    if report.failed:
        if silence or SILENCE in faults:
            report.sections.append(("state", machine.consoles.state()))
        try:
            if machine.revive(faults):
                item.config.stash[FIXTURES].forget()
        except AssertionError as error:
            item.session.shouldfail = f"the machine is not started once more: {error}"
