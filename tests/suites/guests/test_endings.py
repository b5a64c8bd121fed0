# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Programs, modules, workers and guests that end in mid-traffic, and what is left of them: no object in the HCA, no grant in use, no
zombie; and all works again."""

import contextlib

import pytest

from harness import daemon, guest, hca, lab, leftovers, pairs, process, rdma, wait
from harness.traffic import between_guests

pytestmark = [pytest.mark.usefixtures("guests"), pytest.mark.timeout(480)]

FRONTEND = "/sys/bus/xen/drivers/xen-ibfront"


@pytest.fixture(scope="module")
def ledger():
    return leftovers.Ledger()


@contextlib.contextmanager
def big_traffic(ledger):
    """A pair with four QPs between the guests; the ledger is open."""
    ledger.open()
    with between_guests("ib_write_bw", "-s", 1048576, "-q", 4, "-D", 300) as traffic:
        assert hca.objects() != ledger.objects, "the programs have no objects"
        yield traffic


def nothing_left(ledger):
    __tracebackhide__ = True
    ledger.close()
    pairs.run("guest2")


def test_exit(ledger):
    ledger.open()
    nothing_left(ledger)


@pytest.mark.long
@pytest.mark.parametrize("killed", ["guest1", "guest2"])
def test_kill_one(ledger, killed):
    """Server or client: the other one gives up."""
    with big_traffic(ledger) as traffic:
        traffic.kill(killed)
        traffic.until_ended()
        nothing_left(ledger)


@pytest.mark.long
def test_kill_both(ledger):
    with big_traffic(ledger) as traffic:
        traffic.kill()
        nothing_left(ledger)


def test_kill_worker(ledger):
    with big_traffic(ledger) as traffic:
        guest.until_new_worker("guest2", daemon.kill_worker("guest2"))
        traffic.kill()
        nothing_left(ledger)


def same_programs(traffic, workers):
    __tracebackhide__ = True
    assert [daemon.worker(guest) for guest in ("guest1", "guest2")] == workers
    assert traffic.alive("guest1") and traffic.alive("guest2"), "the programs have ended"


@pytest.mark.long
def test_kill_supervisor(ledger):
    """Guests notice nothing of it, neither in their traffic nor in their commands, with no supervisor and with the next one; which
    can take away what it has not given."""
    with big_traffic(ledger) as traffic:
        workers = [daemon.worker(guest) for guest in ("guest1", "guest2")]
        lab.run("dom0", "kill", "-9", daemon.supervisor())
        pairs.run("guest2")
        same_programs(traffic, workers)
        daemon.start()
        hca.until_messages(200)
        same_programs(traffic, workers)
        pairs.run("guest2")
        traffic.kill()
        # Two programs at a time had more doorbell pages than one before. The guests keep them, across the supervisor's death too.
        ledger.take_pages()
        lab.lab("detach", "guest2")
        lab.lab("attach", "guest2")
        nothing_left(ledger)


@pytest.mark.long
def test_unbind_in_use(ledger):
    """The device goes while a program uses it: the program ends with an error, nothing hangs."""
    with big_traffic(ledger) as traffic:
        lab.run("guest2", f"echo vhca-0 >{FRONTEND}/unbind")
        assert not rdma.exists("guest2", "xenib0")
        traffic.kill()
        lab.run("guest2", f"echo vhca-0 >{FRONTEND}/bind")
        wait.until("guest2 has its device", lambda: guest.active("guest2"))
        nothing_left(ledger)


@pytest.mark.long
def test_rmmod(ledger):
    """In mid-traffic, as with the drivers of other HCAs."""
    with big_traffic(ledger) as traffic:
        lab.run("guest2", "rmmod xen-ibfront")
        assert not rdma.exists("guest2", "xenib0")
        traffic.kill()
        guest.restore_device("guest2")
        nothing_left(ledger)


@pytest.mark.long
def test_left_connected(ledger):
    """A frontend that ends without a word leaves a connection that the backend takes for alive: the next one ends that first."""
    ledger.open()
    lab.run("guest2", "rmmod xen-ibfront")
    try:
        with guest.flood("guest2", "kicks"):
            lab.run("guest2", "pkill -9 -x flood")
        assert daemon.node("guest2", 0, "state") == "4", "the backend noticed"
        guest.restore_device("guest2")
        nothing_left(ledger)
    finally:
        guest.load_frontend("guest2")


def test_detach(ledger):
    ledger.open()
    lab.lab("detach", "guest2")
    assert not rdma.exists("guest2", "xenib0")
    lab.lab("attach", "guest2")
    nothing_left(ledger)


def detach_meanwhile(pause_us):
    """A vHCA that has been offered for so long is taken away: it goes, whatever the frontend is at. Once the backend goes the guest has its
    CPU again, so that a round takes seconds."""
    lab.run(
        "dom0",
        f"""xl sched-credit -d guest2 -c 5
        xen-ib attach -w 0 guest2 hca=mlx5_0 || exit
        state=/local/domain/0/backend/vhca/$(xl domid guest2)/0/state
        until [ "$(xenstore-read $state 2>/dev/null || echo 0)" -ge 2 ]; do :; done
        usleep {pause_us}
        xen-ib detach -w 30 guest2 0 & usleep 1000000
        xl sched-credit -d guest2 -c 0
        wait $!""",
        merge=True,
    )


@pytest.mark.long
def test_goes_meanwhile(ledger):
    """The guest has little of a CPU, so that it is at making the connection for a while: in each round the vHCA goes a bit later."""
    ledger.open()
    lab.lab("detach", "guest2")
    try:
        for round in range(24):
            detach_meanwhile(round * 20000)
    finally:
        lab.run("dom0", "xl sched-credit -d guest2 -c 0")
        lab.lab("attach", "guest2")
    nothing_left(ledger)


@pytest.mark.long
def test_destroy_guest(ledger):
    with big_traffic(ledger) as traffic:
        domid = daemon.domid("guest2")
        lab.run("dom0", "xl destroy guest2")
        traffic.forget("guest2")
        wait.until("the domain is gone", daemon.no_zombie)
        daemon.until_nodes_are_gone(domid)
        traffic.kill()
        leftovers.until_no_more_than("no object of it is left in the HCA", ledger.objects)
        ledger.forget()
        process.check(lab.LAB, "guest", "start", "guest2", merge=True)
        guest.start_again("guest2")
        pairs.run("guest2")
