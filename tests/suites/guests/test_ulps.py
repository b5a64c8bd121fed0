# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What Linux does over a port of InfiniBand, over vHCAs, between guests, and between a guest and dom0; and when a vHCA goes and comes back
meanwhile. NVMe is in test_nvme.py and test_ulp_endings.py, programs of rdma_cm in test_cm.py."""

import contextlib

import pytest

from harness import cm, daemon, guest, ipoib, ktest, lab, mpi, nfs, ninep, save, scsi, shares, ulps, wait

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("interfaces"), pytest.mark.timeout(240)]

# Who asks, and who serves
PAIRS = [("guest1", "dom0"), ("guest2", "guest1")]


@pytest.fixture(scope="module")
def interfaces(guests):
    with ipoib.reaching(PAIRS):
        yield


@pytest.mark.parametrize("where, other", PAIRS)
def test_iperf3(where, other):
    ulps.iperf3(where, other)


@pytest.mark.parametrize("where, other", PAIRS)
def test_netperf(where, other):
    ulps.netperf(where, other)


@pytest.mark.parametrize("where, other", PAIRS)
@pytest.mark.parametrize("protocol", shares.SHARES)
def test_files(protocol, where, other):
    ulps.files(protocol, where, other)


@pytest.mark.parametrize("where, other", PAIRS)
@pytest.mark.parametrize("protocol", ulps.on_debug(scsi.PROTOCOLS, ulps.REPORTED))
def test_disk(protocol, where, other):
    ulps.scsi_disk(protocol, where, other)


@pytest.fixture(scope="module")
def rds(interfaces):
    with ulps.rds("dom0", *ipoib.GUESTS):
        yield


@ulps.NOT_ON_DEBUG
@pytest.mark.parametrize("where, other", PAIRS)
def test_rds(rds, where, other):
    ulps.rds_echo(where, other)


def test_io_demo(interfaces):
    """UCX connects by rdma_cm. Small messages: with 20,000 octets io_demo stops over TCP alone, too."""
    port = next(cm.PORTS)
    ucx = "UCX_NET_DEVICES=xenib0:1 UCX_TLS=rc_v,self UCX_SOCKADDR_TLS_PRIORITY=rdmacm"
    with lab.running("guest2", f"{ucx} io_demo -p {port}"):
        wait.until("it listens", cm.listens("guest2", port))
        with ulps.sending(20 * 64):
            lab.run("guest1", f"{ucx} io_demo -p {port} -i 20 -d 64:1000 {ipoib.ADDRESS['guest2']}", merge=True)


def test_mpi(interfaces, machine):
    """Open MPI by libfabric, which connects by rdma_cm. Its completion queues would be too large with its defaults."""
    options = "--mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include 'verbs;ofi_rxm' -x FI_UNIVERSE_SIZE=4"
    with machine.prepared(mpi.make_hosts), ulps.sending(2 * 65536):
        said = lab.run("guest1", f"{mpi.RUN} {options} {lab.THERE}/all-to-all --most 65536", merge=True)
    assert "all-to-all: passed" in said, said


def test_mpich(interfaces, machine):
    """By UCX's TCP over IPoIB: as MPICH uses UCX, that connects by rdma_cm in none of its transports."""
    ucx = f"UCX_TLS=tcp,self UCX_NET_DEVICES={ipoib.interface('guest1')}"
    with machine.prepared(mpi.make_hosts), ulps.sending(2 * 65536):
        words = f"{lab.THERE}/mpi-run --mpich xenib0 guest1,guest2 {mpi.MPICH}/all-to-all --most 65536"
        said = lab.run("guest1", f"{ucx} {words}", merge=True)
    assert "all-to-all: passed" in said, said


# ---- a vHCA is reset, as a card, while one of these is used ----

USER, SERVER = PAIRS[1]


class Files:
    """A write waits until it can be sent, whatever becomes of the connection."""

    PIECE = f"dd if=/dev/urandom of={nfs.MOUNTED}/large bs=64k count=16 conv=fsync status=none"

    @contextlib.contextmanager
    def used(self):
        with nfs.served(SERVER), shares.mounted(nfs, USER, SERVER):
            yield

    def again(self, where):
        """Nothing to do."""

    def compare(self):
        shares.mount(nfs, USER, SERVER)
        assert shares.hashes(USER, nfs.MOUNTED) == shares.hashes(SERVER, nfs.SERVED)


class Disk:
    """By iSER a write waits for another session, as long as the initiator has been told to; a target whose device went listens again when it is
    told to. By SRP it fails when the user's device goes, and the disk with it; it is there again when somebody asks for it."""

    PIECE = "disk=$(ls /dev/sd?) && dd if=/dev/urandom of=$disk bs=64k count=16 oflag=direct conv=nocreat status=none"

    def __init__(self, protocol):
        self.protocol = protocol

    @contextlib.contextmanager
    def used(self):
        with scsi.served(self.protocol, SERVER), scsi.disk(self.protocol, USER, SERVER):
            yield

    def again(self, where):
        if where == SERVER:
            lab.run(SERVER, scsi.PROTOCOLS[self.protocol].listen(SERVER))
        elif self.protocol == "srp" and not lab.ok(USER, "ls /dev/sd?"):
            lab.run(USER, scsi.PROTOCOLS["srp"].connect(USER, SERVER))

    def compare(self):
        read = "dd bs=64k count=16 iflag=direct status=none if="
        sums = [lab.run(where, f"{read}{disk} | sha256sum") for where, disk in ((USER, "$(ls /dev/sd?)"), (SERVER, scsi.BEHIND))]
        assert sums[0] == sums[1], sums


class Messages:
    """Linux's RDS connects again, and goes on; but a message that was under way, or its answer, may not come. Who waits for it asks again."""

    PIECE = f"timeout 20 {lab.THERE}/rds-echo {ipoib.ADDRESS[USER]} 4001 {ipoib.ADDRESS[SERVER]} 4000 >/dev/null"

    @contextlib.contextmanager
    def used(self):
        with ulps.rds(USER, SERVER), lab.running(SERVER, f"{lab.THERE}/rds-echo {ipoib.ADDRESS[SERVER]} 4000") as echo:
            echo.until_says("ready")
            yield

    def again(self, where):
        """Nothing to do."""

    def compare(self):
        """The program does."""


ULPS = {"nfs": Files(), "iser": Disk("iser"), "srp": Disk("srp"), "rds": Messages()}
ENDS = {"nfs": [USER, SERVER], "iser": [USER, SERVER], "srp": [USER], "rds": [USER, SERVER]}  # who loses its vHCA


@pytest.fixture(scope="module", params=ulps.on_debug(ULPS, ulps.REPORTED_AT_RESET))
def used(request, interfaces):
    with ULPS[request.param].used():
        yield request.param
    if request.param == "iser":
        start_user_again()


def start_user_again():
    """Nobody can log out of a session of iSER whose vHCA was detached: Linux has it below the device that is gone, and does not find it."""
    guest.make_anew(USER)
    ktest.reload(USER, "kverbs=1")
    ipoib.up(USER)
    ipoib.ping(USER, SERVER)


def killed(where):
    guest.until_new_worker(where, daemon.kill_worker(where))


def detached(where):
    lab.lab("detach", where)
    lab.lab("attach", where)
    guest.until_active(where)


def unloaded(where):
    ktest.reload(where, "kverbs=1")


@contextlib.contextmanager
def using(ulp):
    """Piece after piece, until this ends; a piece that fails is tried again. What says so is in a file, as a guest that is restored has other
    connections to the lab."""
    pieces = f"until [ -e /tmp/enough ]; do if {ulp.PIECE}; then echo done; else sleep 0.5; fi; done; echo ended"
    lab.run(USER, f"rm -f /tmp/enough; setsid sh -c '{pieces}' >/tmp/pieces 2>/dev/null &")
    until_more()
    yield
    until_more()
    lab.run(USER, "touch /tmp/enough")
    wait.until("the last piece is done", lambda: lab.ok(USER, "grep -q ended /tmp/pieces"))


def until_more():
    __tracebackhide__ = True
    count = lambda: int(lab.call(USER, "grep -c done /tmp/pieces").out or 0)
    before = count()
    wait.until("it goes on", lambda: count() >= before + 3)


@pytest.mark.parametrize("goes", [killed, detached, unloaded], ids=lambda goes: goes.__name__)
def test_reset(used, goes):
    ulp = ULPS[used]
    for where in ENDS[used]:
        with using(ulp):
            goes(where)
            ipoib.up(where)
            ulp.again(where)
        ulp.compare()


def test_saved(used):
    """The user is saved and restored."""
    with using(ULPS[used]), save.saved(USER) as saved:
        saved.restore()
        guest.until_active(USER)
        ipoib.up(USER)
        ULPS[used].again(USER)
    ULPS[used].compare()


@contextlib.contextmanager
def mount_by_9p():
    """With a file, which is there again when the device was gone, and the mount was given up."""
    with ninep.served(SERVER), shares.mounted(ninep, USER, SERVER):
        lab.run(USER, f"echo before >{ninep.MOUNTED}/file")
        yield
        ipoib.up(USER)
        shares.mount(ninep, USER, SERVER)
        assert lab.run(USER, f"cat {ninep.MOUNTED}/file") == "before"


def test_mounted_9p():
    """A mount by 9P is over when the device goes, and holds it until it is given up."""
    with mount_by_9p():
        worker = daemon.kill_worker(USER)
        wait.until("the device waits for those who use it", lambda: lab.ok(USER, "cat /proc/[0-9]*/stack 2>/dev/null | grep -q cma_remove_one"))
        lab.run(USER, f"umount {ninep.MOUNTED}")
        guest.until_new_worker(USER, worker)


@pytest.mark.parametrize("options", [[], ["-c"]], ids=["restored", "runs_on"])
def test_saved_with_9p(options):
    """A guest with a mount by 9P can be suspended. It has a device again when the mount is given up."""
    with mount_by_9p():
        with save.saved(USER, *options) as saved:
            if not options:
                saved.restore()
        assert "still in use" in lab.run(USER, "dmesg")
        lab.run(USER, f"umount {ninep.MOUNTED}")
        guest.until_active(USER)
