# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""guest2 does one thing as fast as it can; guest1 measures its own commands and messages beside it, and the logs stay short."""

import contextlib
import re
import time

import pytest

from harness import daemon, guest, hca, lab, pairs, wait

pytestmark = [pytest.mark.usefixtures("guests"), pytest.mark.timeout(240), pytest.mark.long]

# Processors are shared by all, and so is the machine that emulates them: these tell waiting in a row from waiting behind
# another guest, and no less.
MOST_COMMAND_US = 1000000  # 99 of 100 take no longer
LEAST_COMMANDS = 20  # in 20 s
MESSAGE_FACTOR = 5  # the median, beside a guest that does nothing but use its processor

LOG_SECONDS = 8
LOG_AT_ONCE, LOG_A_SECOND = 64, 4  # as VHCA_FAULTS and VHCA_FAULT_MS in backend/vhca/vhca.h


class Gauge:
    """What guest1 measures."""

    def __init__(self):
        self.said = lab.run("guest1", f"{lab.THERE}/gauge")
        print(self.said)

    def number(self, word, name):
        """The number after this name in the line of this word; nothing for a name: the line's first."""
        line = re.search(rf"^{word} .*", self.said, re.MULTILINE)[0]
        return int(re.search(rf" {name} *(\d+)" if name else r" (\d+)", line)[1])


@pytest.fixture(scope="module")
def calm(guests):
    """Beside a guest that just uses its processor."""
    with guest.flood("guest2", "nothing"):
        return Gauge()


@contextlib.contextmanager
def without_frontend():
    """guest2's frontend is one in user space."""
    lab.run("guest2", "rmmod xen-ibfront")
    try:
        yield
    finally:
        guest.restore_device("guest2")


def log_lines():
    return int(lab.run("dom0", f"wc -l <{daemon.LOG}"))


def guest_lines():
    return int(lab.run("guest2", "dmesg | wc -l"))


def ended(program):
    """Ends a flood, which has to have passed; how often it has done it, and in how many seconds."""
    __tracebackhide__ = True
    program.end_input()
    program.finish()
    assert "@pass" in program.said()
    found = re.search(r"^(\d+).* in (\d+) ms$", program.said(), re.MULTILINE)
    return int(found[1]), int(found[2]) / 1000


# Refusals are ten lines at once and one a second after that, and now and then there is one more that counts the rest.
# A connection has a line at its begin and one at its end.
@pytest.mark.parametrize(
    "what, frontend, lines, a_second",
    [
        ("commands", True, 0, 0),
        ("refused", True, 20, 2),
        ("completions", True, 0, 0),
        ("xenstore", True, 0, 0),
        ("kicks", False, 4, 0),
        ("requests", False, 24, 2),
        ("connections", False, 40, 5),
    ],
)
def test_flood(calm, what, frontend, lines, a_second):
    """guest1 does not suffer. The daemon's log gets no more than so many lines at once, and so many more a second, the guest's own
    kernel's log no more than its rate limits allow."""
    with contextlib.nullcontext() if frontend else without_frontend():
        log, kernel = log_lines(), guest_lines()
        with guest.flood("guest2", what) as program:
            beside = Gauge()
            most = calm.number("messages", "p50") * MESSAGE_FACTOR
            if beside.number("messages", "p50") > most:
                # Somebody else may have used this machine meanwhile.
                beside = Gauge()
            assert beside.number("messages", "p50") <= most
            assert beside.number("commands", "p99") <= MOST_COMMAND_US
            assert beside.number("commands", "") >= LEAST_COMMANDS
            times, seconds = ended(program)
        assert log_lines() - log <= lines + a_second * (seconds + 3)
        assert guest_lines() - kernel <= 10 + 2 * (seconds + 3)
        if what == "connections":
            assert times <= 20 + 2 * seconds, "more than two connections a second"


# ---- what dom0's kernel would log: a vHCA of its own, on the second HCA ----


@contextlib.contextmanager
def vhca_to_break():
    try:
        lab.lab("attach", "guest2", "--dev", 1, "hca=mlx5_1")
        yield
    finally:
        lab.call("guest2", "pkill -x flood")
        hca.fault("clear")
        lab.lab("detach", "guest2", "--dev", 1)


def kernel_lines():
    """How many lines there have been since dom0 was started; its buffer forgets them."""
    numbers = re.findall(r"^\d+,(\d+),", lab.run("dom0", "dd if=/dev/kmsg iflag=nonblock bs=8192 2>/dev/null; true"), re.MULTILINE)
    return int(numbers[-1])


def few_lines(before, faults, seconds):
    """Each fault is a line, and three a second are the driver's own, which has a limit for those."""
    __tracebackhide__ = True
    assert kernel_lines() - before <= faults + 3 * seconds


# The HCA is not asked for groups, as there are enough of this guest in the group.
@pytest.mark.parametrize("what, at_once, a_second", [("groups", 0, 0), ("creates", LOG_AT_ONCE, LOG_A_SECOND)], ids=["groups", "creates"])
def test_kernel_log(what, at_once, a_second):
    with vhca_to_break():
        if what == "creates":
            # The driver makes a QP of its own when memory is first registered, and that one is not to fail.
            lab.run("guest2", f"{lab.THERE}/exhaust -d xenib1 --at-least mr=1", merge=True)
            hca.fault("fail-command", "CREATE_QP", "--count", 1000000, "--function", 1)
        before = kernel_lines()
        with guest.flood("guest2", what, "xenib1") as program:
            time.sleep(LOG_SECONDS)  # of faults
            _, seconds = ended(program)
        few_lines(before, at_once + a_second * (seconds + 5), seconds + 5)


def test_queues():
    """As many at once as the program has, 70, which pays for them by waiting."""
    with vhca_to_break():
        before = kernel_lines()
        said = lab.call("guest2", f"{lab.THERE}/flood", "--results", "-d", "xenib1", "queues", merge=True).out
        assert "@pass" in said, said
        few_lines(before, 70, int(re.search(r" in (\d+) ms$", said, re.MULTILINE)[1]) / 1000 + 5)


def test_many_queues():
    """Too many at once: the guest is closed, and says why. It is not connected again at once."""
    with vhca_to_break():
        said = lab.call("guest2", f"{lab.THERE}/flood", "--results", "-d", "xenib1", "many-queues", merge=True).out
        assert "@pass" in said, said
        assert daemon.node("guest2", 1, "error") == "too many queues of the guest end in errors"
        wait.until("it is closed", lambda: daemon.node("guest2", 1, "state") == "6")
        time.sleep(2)  # in which it could be connected
        assert daemon.node("guest2", 1, "state") == "6", "it is connected again at once"
        pairs.run("guest2")
