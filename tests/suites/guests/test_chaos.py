# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Rounds of traffic in which something is killed, chosen at random, and what has gathered after them.

CHAOS_ROUNDS and CHAOS_SEED in the environment: how many rounds, 4 unless given, and which.
"""

import os
import random
import subprocess

import pytest

from harness import daemon, gathered, guest, lab, wait

CHAOS_ROUNDS = int(os.environ.get("CHAOS_ROUNDS") or 4)
CHAOS_SEED = int(os.environ.get("CHAOS_SEED") or 34)

pytestmark = [pytest.mark.usefixtures("guests"), pytest.mark.timeout(600 + 60 * CHAOS_ROUNDS), pytest.mark.long]


class Mover:
    """A program of guest2 that works until it is killed. It is told nothing through a FIFO that it holds open itself."""

    def start(self):
        words = f"{lab.THERE}/neighbour -d xenib0 until-told <>/tmp/told >/tmp/mover 2>&1"
        self.group = int(lab.run("guest2", f"[ -p /tmp/told ] || mkfifo /tmp/told; setsid {words} & echo $!"))
        wait.until("the program in guest2 works", lambda: lab.ok("guest2", "grep -q working /tmp/mover"))

    def lives(self):
        return lab.ok("guest2", f"kill -0 -{self.group} 2>/dev/null")

    def kill(self):
        if not self.group:
            return
        lab.run("guest2", f"kill -9 -{self.group} 2>/dev/null; true")
        wait.until("the program is gone", lambda: not self.lives())


def kill_program(mover):
    mover.kill()


def kill_worker(mover):
    guest.until_new_worker("guest2", daemon.kill_worker("guest2"))


def kill_guest(mover):
    """What other tests need comes back when all rounds are over."""
    lab.run("dom0", "xl destroy guest2")
    mover.group = None
    wait.until("the domain is gone", daemon.no_zombie)
    lab.lab("guest", "start", "guest2", merge=True)
    lab.lab("install", "guest2")
    lab.lab("attach", "guest2")
    lab.run("guest2", "mkdir", "-p", lab.THERE)
    lab.put("guest2", *(file for file in guest.PROGRAMS if file.name == "neighbour"), to=lab.THERE)


def kill_supervisor(mover):
    """Workers and their guests do not notice."""
    worker = daemon.worker("guest2")
    lab.run("dom0", "kill", "-9", daemon.supervisor())
    daemon.start()
    assert mover.lives(), lab.run("guest2", "cat /tmp/mover")
    assert daemon.worker("guest2") == worker


VICTIMS = [kill_program, kill_worker, kill_guest, kill_supervisor]


def one_round(kill):
    """Traffic, something is killed, and new traffic."""
    print(f"round: {kill.__name__}")
    mover = Mover()
    mover.start()
    kill(mover)
    mover.kill()
    lab.run("guest2", f"{lab.THERE}/neighbour -d xenib0 --count 2 rounds", merge=True)


def test_rounds():
    """First each victim once, which makes what is made on first use. In guest1 a program works all the time, and must not notice."""
    chance = random.Random(CHAOS_SEED)
    words = [f"{lab.THERE}/neighbour", "--results", "-d", "xenib0", "until-told"]
    try:
        with lab.running("guest1", *words, stdin=subprocess.PIPE) as neighbour:
            neighbour.until_says("working")
            for kill in VICTIMS:
                one_round(kill)
            before = gathered.counts()
            # Each is taken once in as many rounds as there are victims. Before things are counted it is the supervisor: the next one
            # has a descriptor more for each worker that it did not start itself.
            left = []
            for _ in range(CHAOS_ROUNDS):
                left = left or chance.sample(VICTIMS, len(VICTIMS))
                one_round(left.pop())
            one_round(kill_supervisor)
            now = gathered.counts()
            wait.until(f"all is as it was before ({before}, {now})", lambda: not gathered.differences(before, gathered.counts()))
            neighbour.end_input()
            neighbour.finish()
            assert "@pass until-told" in neighbour.said(), "the program in guest1 was disturbed"
    finally:
        guest.put_programs("guest2")
        lab.run("guest1", "pkill -9 -x neighbour; true")
