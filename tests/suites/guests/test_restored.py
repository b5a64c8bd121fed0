# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Guests that are saved and restored again and again, when the daemon is late, with a backend that is dead, and what else changes below a
guest while it has memory registered.

SAVE_TABLES in the environment: how often the guest with many page tables is saved, 20 unless given.
"""

import os

import pytest

from harness import daemon, guest, hca, lab, leftovers, pairs, rdma, save, wait
from harness.traffic import between_guests

SAVE_TABLES = int(os.environ.get("SAVE_TABLES") or 20)

pytestmark = [pytest.mark.usefixtures("guests"), pytest.mark.timeout(900), pytest.mark.long]

TRAFFIC = ["ib_write_bw", "-s", 65536, "-q", 4, "-D", 300]
FLOOD = f"{lab.THERE}/flood -d xenib0"
FILES = "/var/lib/xen-ib"  # in dom0


def uuid(name):
    return lab.run("dom0", f"xenstore-read /local/domain/$(xl domid {name})/vm").removeprefix("/vm/")


def stop_daemon():
    supervisor = daemon.supervisor()
    lab.run("dom0", f"kill {supervisor}")
    wait.until("the daemon has ended", lambda: lab.ok("dom0", f"! kill -0 {supervisor} 2>/dev/null"))


def test_late_daemon():
    """It does not run while the guest is restored: the device comes when it does."""
    had = save.vhcas("guest2")
    with save.saved("guest2") as saved:
        stop_daemon()
        try:
            saved.restore()
            assert not rdma.exists("guest2", "xenib0"), "it has a dead device"
        finally:
            daemon.start()
        guest.until_active("guest2")
    assert save.vhcas("guest2") == had
    pairs.run("guest2")


def test_by_hand():
    """Nobody knows what a guest has had: it waits until somebody attaches something."""
    number = uuid("guest2")
    with save.saved("guest2") as saved:
        lab.run("dom0", f"rm {FILES}/{number}")
        saved.restore()
        assert not rdma.exists("guest2", "xenib0"), "it has a dead device"
        assert "no vHCA yet" in lab.run("guest2", "dmesg")
    lab.lab("attach", "guest2")
    pairs.run("guest2")


def test_exported():
    """What is known of a guest goes to another host as a text, and is believed there. Of a text that is none nothing is taken."""
    number, had = uuid("guest2"), save.vhcas("guest2")
    lab.run("dom0", "xen-ib export guest2 >/tmp/exported && sed /^end/d /tmp/exported >/tmp/cut-off")
    with save.saved("guest2") as saved:
        assert lab.run("dom0", "xen-ib", "export", number) == lab.run("dom0", "cat /tmp/exported")
        lab.run("dom0", f"rm {FILES}/{number}")
        assert not lab.ok("dom0", "xen-ib import </tmp/cut-off"), "a part of it was taken"
        daemon.xen_ib("export", number, status=4)
        lab.run("dom0", "xen-ib import </tmp/exported")
        saved.restore()
        guest.until_active("guest2")
    assert save.vhcas("guest2") == had
    pairs.run("guest2")


def test_other_host():
    """The HCA has another name there: the vHCA waits for it, which can be seen, until it is attached to one that there is."""
    number = uuid("guest2")
    with save.saved("guest2") as saved:
        lab.run("dom0", f"sed -i s/hca=mlx5_0/hca=mlx5_9/ {FILES}/{number}")
        saved.restore()
        wait.until("xen-ib list tells", lambda: "there is no HCA mlx5_9" in daemon.xen_ib("list", "guest2"))
        assert not rdma.exists("guest2", "xenib0"), "it has a dead device"
    daemon.xen_ib("detach", "guest2", 0)
    lab.lab("attach", "guest2")
    pairs.run("guest2")


def test_broken_file():
    """It may have been anything: the guest gets nothing of it, and it can be seen why."""
    number = uuid("guest2")
    with save.saved("guest2") as saved:
        lab.run("dom0", f"echo vhca hca=mlx5_0 >>{FILES}/{number}")
        saved.restore()
        wait.until("the node tells", lambda: "behind the end" in (daemon.node("guest2", 0, "error") or ""))
    daemon.xen_ib("detach", "guest2", 0)
    lab.lab("attach", "guest2")
    pairs.run("guest2")


def test_two():
    """Of different HCAs, the second one with a number and limits of its own."""
    daemon.xen_ib("attach", "guest2", "hca=mlx5_1,devid=3,max-qp=9,max-mem-bytes=32M,kernel=verbs,sl=2,qp-rate=2.5G")
    daemon.xen_ib("set", "guest2", 3, "sl=3,ud=0")
    try:
        wait.until("guest2 has both", lambda: rdma.active("guest2", "xenib3"))
        had = save.vhcas("guest2")
        with save.saved("guest2") as saved:
            saved.restore()
            for device in ("xenib0", "xenib3"):
                wait.until(f"{device} is there again", lambda device=device: rdma.active("guest2", device))
        assert save.vhcas("guest2") == had
        assert [daemon.node("guest2", 3, key) for key in ("sl", "qp-rate", "ud")] == ["3", "2.5G", "0"]
        assert rdma.devinfo("guest2", "xenib3")["max_qp"] == "9"
        pairs.run("guest2")
    finally:
        daemon.xen_ib("detach", "guest2", 3)


def test_dead_backend():
    """Its worker neither answers a command in which a process is, nor lets go: the guest is suspended nevertheless, says what that may cost,
    and has a device again."""
    lab.run("guest2", f"setsid {lab.THERE}/victim -d xenib0 --max-size 67108864 --count 1000000 registers >/tmp/victim 2>&1 &")
    daemon.until_counted("guest2", "object MR")
    worker = daemon.worker("guest2")
    lab.run("dom0", f"kill -STOP {worker}")
    try:
        with save.saved("guest2") as saved:
            saved.restore()
            guest.until_active("guest2")
        said = lab.run("guest2", "dmesg")
        assert "the backend does not close" in said and "is lost where the guest is restored" in said, said
        pairs.run("guest2")
    finally:
        lab.ok("dom0", f"kill -CONT {worker}")  # unless the daemon has killed it, which it does in time
    wait.until("the domain that was saved is gone", daemon.no_zombie)
    assert not lab.ok("guest2", "pgrep -x victim"), "the program hangs"


def test_registering():
    """A program registers a gigabyte all the time, and is in the middle of that when the guest is suspended."""
    lab.lab("attach", "guest2", "--dev", 1, "max-mem-bytes=1280M")
    try:
        lab.run("guest2", f"setsid {lab.THERE}/victim -d xenib1 --max-size {1 << 30} --count 1000000 registers >/tmp/victim 2>&1 &")
        daemon.until_counted("guest2", "bytes", 1 << 29, devid=1)
        with save.saved("guest2") as saved:
            saved.restore()
            wait.until("guest2 has both", lambda: guest.active("guest2") and rdma.active("guest2", "xenib1"))
        wait.until("the program has ended", lambda: not lab.ok("guest2", "pgrep -x victim"))
        pairs.run("guest2")
    finally:
        daemon.xen_ib("detach", "guest2", 1)


# What the frontend in guest2's user space does when the guest is suspended, of which it does not know: it never says Closed.
HOSTILE = ["nothing-at-all", "requests", "registrations"]


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile(what):
    """A guest whose frontend lets nothing go is saved in the middle of it: dom0 has nothing of it when the domain is gone. It is not restored:
    a process that has had event channels by Linux' xen-evtchn stops that kernel when it ends after a restoration (evtchn_release())."""
    lab.run("guest2", "rmmod xen-ibfront")
    try:
        before = hca.objects()
        lab.run("guest2", f"rm -f /tmp/flood; [ -p /tmp/told ] || mkfifo /tmp/told; setsid {FLOOD} {what} <>/tmp/told >/tmp/flood 2>&1 &")
        wait.until("it is at work", lambda: lab.ok("guest2", "grep -q working /tmp/flood"))
        domid = daemon.domid("guest2")
        lab.run("dom0", "xl save guest2 /dev/null", merge=True)
        wait.until("the domain is gone", daemon.no_zombie)
        daemon.until_nodes_are_gone(domid)
        wait.until("its worker is gone", lambda: lab.ok("dom0", f"! pgrep -f '[-]-worker .*/vhca/{domid}/'"))
        leftovers.until_no_more_than("no object is left in the HCA", before)
    finally:
        guest.make_anew("guest2")
    pairs.run("guest2")


@pytest.mark.timeout(300 + 60 * SAVE_TABLES)
def test_tables():
    """Again and again, each time while doorbells are mapped: no page table is lost."""
    with save.tables("guest2") as tables:
        for _ in range(SAVE_TABLES):
            with between_guests(*TRAFFIC) as traffic, save.saved("guest2") as saved:
                saved.restore()
                guest.until_active("guest2")
                traffic.kill()
            tables.go_on()


def put_back(what):
    lab.call("dom0", what)


def test_memory_and_processors():
    """What a guest has registered stays its own, whatever else is taken from it and given to it."""
    with save.stamps("guest1", "guest2") as stamps:
        try:
            lab.run("dom0", "xl mem-set guest2 250")
            wait.until("it has less", lambda: int(lab.run("guest2", "awk '/^MemTotal/ { print $2 }' /proc/meminfo")) < 300000)
            lab.run("dom0", "xl mem-set guest2 384; xl pause guest2; xl unpause guest2; xl vcpu-set guest2 1")
            lab.run("guest2", "date -s '2031-01-01'; date -s '2021-01-01'")
            assert lab.ok("guest1", "pgrep -x stamps") and lab.ok("guest2", "pgrep -x stamps"), stamps.said()
            lab.run("guest1", "pkill -INT -x stamps")
            stamps.are_there()
        finally:
            put_back("xl mem-set guest2 384; xl unpause guest2")
    pairs.run("guest2")


def test_sleep():
    """The guest's own suspension, as far as it comes without being woken: devices are suspended and resumed."""
    with between_guests(*TRAFFIC) as traffic:
        lab.run("guest2", "echo devices >/sys/power/pm_test && echo freeze >/sys/power/state; echo none >/sys/power/pm_test", merge=True)
        guest.until_active("guest2")
        traffic.kill()
    pairs.run("guest2")
