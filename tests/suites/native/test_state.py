# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
""""lab state": where a machine is that does not answer."""

import os
import re
import signal

import pytest

from harness import lab, wait

pytestmark = [pytest.mark.usefixtures("dom0"), pytest.mark.timeout(180)]

LINES = 150  # CI shows no more than a few hundred


def state(*words):
    text = lab.lab("state", *words, merge=True)
    assert len(text.splitlines()) <= LINES
    return text


def test_stopped():
    """Of a QEMU that is stopped nothing is waited for."""
    qemu = int((lab.STATE / "qemu.pid").read_text())
    os.kill(qemu, signal.SIGSTOP)
    try:
        text = state()
    finally:
        os.kill(qemu, signal.SIGCONT)
    assert re.search(r"CPU 0/TCG: T \(stopped\)", text) and "QEMU is stopped" in text, text
    # Any of the threads may be where nothing has a name, as in translated code; the most of them wait in functions of QEMU's.
    for stack in (r'"CPU 0/TCG"\):\n +#', r"#\d+ +(qemu_\w+|aio_poll|tcg_cpu_exec) \(\)"):
        assert re.search(stack, text), f"no stacks of QEMU's threads:\n{text}"
    assert re.search(r"interrupts of CPU 1: requested: .*; in no PVH guest; flags: GIF", text), text
    wait.until("dom0 answers", lab.answers)


@pytest.mark.long
def test_running():
    """What each part says of a machine that is well; and Xen's answers are no faults."""
    lab.lab("check", merge=True)
    text = state("--wait", 60)
    for said in (
        "VM status: running",
        r"CPU 0: \S+ of (Xen|a PV guest), CPL=\d HLT=\d",
        r"local APIC of CPU 1: .*IRR",
        r"stack of CPU [01]: \w+\+\d+",
        r"CPU\[01\] current=d",
        r"domain 0: dying=0 VCPU1: CPU",
        r"Xen, timers\n.*\n.*CPU00",
        "dom0: connection kept: answers, a new one: answers",
        r"#\d +loop_run",
        "dom0: the end of its console",
    ):
        assert re.search(said, text), f"it does not say '{said}':\n{text}"
    lab.lab("check", merge=True)
