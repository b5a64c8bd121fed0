# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A PVH guest beside the two PV ones."""

import contextlib

import pytest

from harness import cm, daemon, guest, hca, ipoib, ktest, lab, leftovers, liar, nvme, pairs, process, save, scsi, shares, ulps, wait
from harness.pvh import GUEST, stop, with_guest

pytestmark = [pytest.mark.usefixtures("guests"), pytest.mark.timeout(480)]

BOTH_WAYS = [(GUEST, "guest1"), ("guest1", GUEST)]


@pytest.fixture(scope="module", autouse=True)
def none_left(guests):
    """Others want its memory."""
    yield
    stop()


def run_pairs(*names, group="pingpong"):
    __tracebackhide__ = True
    for name in names:
        pairs.run(GUEST, f"{group}/{name}")


@contextlib.contextmanager
def program():
    """A pair that goes on, client in guest3 and server in guest1: the client's pid."""
    words = ["ibv_rc_pingpong", "-d", "xenib0", "-p", 18701, "-n", 100000000]
    try:
        lab.run("guest1", f"{lab.THERE}/in-guest", "traffic", "server", *words)
        lab.run("guest1", f"{lab.THERE}/agent", "await", 18701)
        pid = lab.run(GUEST, f"{lab.THERE}/in-guest", "traffic", "client", *words, "guest1")
        hca.until_messages(200)
        yield pid
    finally:
        end_programs()


def end_programs():
    """Servers whose client went with guest3 would wait for it, on a port that the next ones want."""
    if daemon.domain_exists(GUEST):
        process.call(*lab.run_words(GUEST, "pkill -9 ibv_rc_pingpong"))
    lab.run("guest1", "pkill -9 '^ibv?_'; true")


@with_guest
def test_start():
    assert lab.run(GUEST, "cat /sys/hypervisor/guest_type") == "PVH"


@with_guest
def test_pingpong():
    run_pairs("rc", "rc-mtu-4096", "uc", "ud", "srq")


@pytest.mark.long
@with_guest
def test_latency():
    run_pairs("send-rc", "write-rc", "read-rc", "atomic-fetch-add", "send-ud", group="latency")


@pytest.mark.long
@with_guest
def test_integrity():
    """Of each kind something: all of it takes a PVH guest minutes."""
    cases = "rc-send rc-write rc-read uc-write ud-send elements-write atomics srq-shared mr-recycled-pages mr-unmapped mr-moved-to"
    words = [f"{lab.THERE}/integrity", "-d", "xenib0", "-D", "xenib0", "--max-size", 262144]
    lab.run(GUEST, *words, *cases.split(), "mr-forked", "mr-file-cut", merge=True)
    if hca.has_odp():
        daemon.until_counted(GUEST, "dma-bufs")


@pytest.mark.long
@with_guest
def test_kill_program():
    run_pairs("rc")
    before = hca.objects()
    with program() as pid:
        lab.run(GUEST, "kill", "-9", pid)
    hca.until_objects_are("no object is left in the HCA", before)
    run_pairs("rc")


@pytest.mark.long
@with_guest
def test_kill_worker():
    with program():
        guest.until_new_worker(GUEST, daemon.kill_worker(GUEST))
    run_pairs("rc")


@pytest.mark.long
@with_guest
def test_kernel_verbs():
    with ktest.loaded(GUEST, "kverbs=1"):
        ktest.run_all(GUEST, ktest.CASES)


@pytest.mark.long
@with_guest
def test_ipoib():
    with ipoib.everywhere("guest1", GUEST):
        ipoib.ping(GUEST, "dom0")
        ipoib.ping("guest1", GUEST, "-s", "8000")
        said = lab.run(GUEST, "saquery", "-C", guest.DEVICE, "-N")
        assert "NodeRecord" in said, said


@pytest.mark.long
@with_guest
def test_connections():
    """By rdma_cm, and those of IPoIB's connected mode."""
    with ipoib.everywhere("guest1", GUEST):
        cm.connect_both_ways(("guest1", GUEST), ("dom0", GUEST))
        for where, other in BOTH_WAYS:
            for program in cm.PROGRAMS:
                cm.connect(program, where, other)
            cm.multicast(where, other)
        ipoib.connected_ping("guest1", GUEST)


@pytest.mark.long
@with_guest
def test_network():
    """Over IPoIB, files by NFS and 9P, and RDS."""
    with ipoib.reaching([BOTH_WAYS[0]], "guest1", GUEST), ulps.rds("guest1", GUEST):
        for where, other in BOTH_WAYS:
            ulps.iperf3(where, other)
            ulps.netperf(where, other)
            for protocol in shares.SHARES:
                ulps.files(protocol, where, other)
            ulps.rds_echo(where, other)


@pytest.mark.long
@with_guest
def test_disks():
    """That it uses, and that it serves."""
    with ipoib.reaching([BOTH_WAYS[0]], "guest1", GUEST):
        for where, other in BOTH_WAYS:
            for protocol in scsi.PROTOCOLS:
                ulps.scsi_disk(protocol, where, other)
            with nvme.connected(where, other):
                ulps.fio(where, other, "128k", 2 * nvme.MIB)


@pytest.mark.long
@with_guest
def test_rmmod():
    lab.run(GUEST, "rmmod xen-ibfront")
    guest.restore_device(GUEST)
    run_pairs("rc")


@pytest.mark.long
@with_guest
def test_lying():
    """A frame that is not where the guest has asked for it; and objects that are kept, as in a PV guest."""
    lied = liar.Lied(GUEST)
    with contextlib.ExitStack() as undo:
        undo.callback(liar.end, GUEST)
        liar.start(GUEST)
        undo.callback(lied.honest_again)
        lied.page_refused("broke the protocol", "frame 1")
        lied.until_device()
        lied.refuses("b")


@pytest.mark.long
@with_guest
def test_save():
    """In mid-traffic, as the PV guest of test_save.py."""
    run_pairs("rc")
    before = hca.objects()
    witness = save.witness(GUEST)
    with program(), save.saved(GUEST) as saved:
        saved.restore()
        guest.until_active(GUEST)
        witness.testifies()
    leftovers.until_no_more_than("no object is left in the HCA", before)
    run_pairs("rc")


@pytest.mark.long
@with_guest
def test_destroy():
    domid = daemon.domid(GUEST)
    with program():
        lab.run("dom0", "xl", "destroy", GUEST)
        wait.until("the domain is gone", daemon.no_zombie)
        daemon.until_nodes_are_gone(domid)
    pairs.run("guest2")


MIGRATE = f"xl migrate -s '' {GUEST} 'xl migrate-receive'"  # to the machine it is on


def migrate():
    __tracebackhide__ = True
    lab.run("dom0", MIGRATE, merge=True)
    wait.until(f"{GUEST} answers", lambda: lab.answers(GUEST))
    guest.until_active(GUEST)


@contextlib.contextmanager
def moves():
    """The console of a guest that was migrated has another name: the guest ends with the test."""
    try:
        yield
    finally:
        stop()


@pytest.mark.long
@with_guest
def test_migrate():
    run_pairs("rc")
    witness = save.witness(GUEST)
    with moves():
        with program():
            migrate()
            witness.testifies()
        run_pairs("rc")


@pytest.mark.long
@with_guest
def test_written_while_migrating():
    """What the HCA writes into the guest while its memory is copied is in the copy, as far as the writer was told that it is done."""
    with moves(), save.stamps("guest1", GUEST) as stamps:
        migrate()
        stamps.are_there()


def refused():
    """Says whether the guest was suspended."""
    __tracebackhide__ = True
    domid = daemon.domid(GUEST)
    said = lab.call("dom0", MIGRATE, merge=True)
    assert said.status != 0, "it was taken"
    assert daemon.domid(GUEST) == domid, "it is another domain"
    wait.until("the other one is gone", lambda: "--incoming" not in lab.run("dom0", "xl list") and daemon.no_zombie())
    return "Migration failed, resuming at sender" in said.out


def vhca_nodes():
    return lab.run("dom0", "xenstore-list /local/domain/0/backend/vhca")


@contextlib.contextmanager
def no_memory():
    """Another domain has what the machine has, but for less than a guest."""
    lines = f"/^(name|memory|maxmem|cpus|vhca|vif|disk) /d' /etc/xen/{GUEST}.cfg"
    try:
        lab.run(
            "dom0",
            f"""{{ sed -E '{lines}; printf 'name = "full"\nmemory = %u\n' $(($(xl info free_memory) - 200)); }} >/tmp/full.cfg
            xl create -q -p /tmp/full.cfg""",
        )
        yield
    finally:
        lab.call("dom0", "xl destroy full; rm -f /tmp/full.cfg")
        wait.until("the other domain is gone", daemon.no_zombie)


@contextlib.contextmanager
def no_disk():
    """No domain gets a disk, which xl sees when it has all of a domain's memory."""
    lab.run("dom0", "mount --bind /bin/false /lab/block")
    try:
        yield
    finally:
        lab.run("dom0", "umount /lab/block")


@pytest.mark.long
@with_guest
def test_no_room():
    """A migration that is refused for want of memory, before the guest was suspended: it does not notice."""
    run_pairs("rc")
    before, grants, nodes = hca.objects(), daemon.grants_at_rest(GUEST), vhca_nodes()
    with no_memory(), program() as pid:
        refused()
        hca.until_messages(200)
        assert lab.ok(GUEST, f"kill -0 {pid}"), "the program has ended"
    nothing_left(before, grants, nodes)


def nothing_left(objects, grants, nodes):
    __tracebackhide__ = True
    leftovers.until_no_more_than("no object is left in the HCA", objects)
    wait.until("no grant is left", lambda: daemon.mapped_grants(GUEST) <= grants)
    wait.until("no node is left", lambda: vhca_nodes() == nodes)
    run_pairs("rc")


@pytest.mark.long
@with_guest
def test_refused():
    """One that fails when the guest was suspended and the other host's daemon has given its vHCA to the other domain: programs are told, and
    the device is back where it was."""
    run_pairs("rc")
    before, grants, nodes = hca.objects(), daemon.grants_at_rest(GUEST), vhca_nodes()
    had = save.vhcas(GUEST)
    witness = save.witness(GUEST)
    with no_disk(), program():
        assert refused(), "the guest was not suspended"
        guest.until_active(GUEST)
        witness.testifies()
    assert save.vhcas(GUEST) == had
    nothing_left(before, grants, nodes)
