# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A daemon that lies to a guest (backend/unit/fakes/liar.c lists the lies), and what an honest program of that guest does meanwhile."""

import contextlib
import re
import subprocess

from harness import BUILD, daemon, guest, lab, pairs, rdma, wait

LIE = "/run/xen-ib-lie"
FRONTEND = "/sys/bus/xen/drivers/xen-ibfront"


def start(name):
    """In place of the daemon. It is honest until it is told."""
    lab.run("dom0", "mkdir", "-p", lab.THERE)
    lab.put("dom0", BUILD / "backend" / "xen-ibliar", to=lab.THERE)
    lab.lab("detach", name)
    pid = daemon.supervisor()
    lab.run("dom0", "kill", pid)
    wait.until("the daemon has ended", lambda: not lab.ok("dom0", f"kill -0 {pid}"))
    lab.run(
        "dom0",
        f"""truncate -s 0 {LIE}; truncate -s 4096 {LIE}
        setsid {lab.THERE}/xen-ibliar </dev/null >>{daemon.LOG} 2>&1 & echo $! >/run/xen-ibback.pid""",
    )
    wait.until("the liar serves", lambda: lab.ok("dom0", "xen-ib list"))
    lab.lab("attach", name)


def end(name):
    """The daemon again."""
    lab.lab("detach", name)
    lab.run("dom0", f"/lab/xen-ib-lab restart-daemon changed; rm -f {LIE}")
    lab.lab("attach", name)


def lie(words=""):
    """From now on; without words it is honest."""
    lab.run("dom0", f"printf '%-63s\\n' '{words}' | dd of={LIE} conv=notrunc status=none")


def told():
    """How many lies it has told."""
    said = lab.run("dom0", f"tail -c +2049 {LIE} | head -n 1").replace("\0", "")
    return int(said) if said.isdigit() else 0


def forget_told():
    lab.run("dom0", f"truncate -s 2048 {LIE}; truncate -s 4096 {LIE}")


class Lied:
    """The guest that is lied to."""

    def __init__(self, name):
        self.name = name

    def bind(self):
        lab.run(self.name, f"echo vhca-0 >{FRONTEND}/bind")

    def honest_again(self):
        """As before a test."""
        lie()
        lab.call(self.name, "pkill -x victim")
        if not lab.ok(self.name, f"test -e {FRONTEND}/vhca-0"):
            self.bind()

    def until_device(self):
        __tracebackhide__ = True
        wait.until(f"{self.name} has its device", lambda: guest.active(self.name))

    def kernel_says(self, text):
        """How often its kernel has said it."""
        return int(lab.run(self.name, f"dmesg | grep -cF '{text}'; true"))

    def until_kernel_says(self, text, before):
        __tracebackhide__ = True
        wait.until(f"{self.name}'s kernel says '{text}'", lambda: self.kernel_says(text) > before)

    @contextlib.contextmanager
    def victim(self, case, word):
        """What an honest program does meanwhile; it has said WORD when this begins."""
        words = [f"{lab.THERE}/victim", "--results", "-d", "xenib0", case]
        with lab.running(self.name, *words, stdin=subprocess.PIPE) as program:
            program.until_says(word)
            yield program

    def page_refused(self, why, words):
        """No program has a doorbell page, and the guest's kernel says why."""
        __tracebackhide__ = True
        before = self.kernel_says(why)
        lie(words)
        lab.run(self.name, f"{lab.THERE}/victim", "--results", "-d", "xenib0", "refused", merge=True)
        self.until_kernel_says(why, before)
        lie()

    def no_objects(self):
        said = lab.run(self.name, "rdma resource show xenib0")
        return said and not re.search("(pd|cq|qp|mr|ctx|srq) [1-9]", said)

    def refuses(self, status):
        """The kernel has nothing left of a process whose descriptor has closed, and the device goes although the backend denies that
        anything of it did. What the process does to its memory after that is no affair of ours."""
        lie(f"refuse {status}")
        with self.victim("leaves", "left") as program:
            wait.until("nothing is left of it", self.no_objects)
            lab.run(self.name, f"echo vhca-0 >{FRONTEND}/unbind")
            assert not rdma.exists(self.name, "xenib0")
            passes(program)
        lie()
        self.bind()
        self.until_device()
        pairs.run(self.name)


def passes(victim):
    """It comes to its end, and has passed."""
    __tracebackhide__ = True
    victim.end_input()
    victim.finish()
    assert "@pass" in victim.said()
