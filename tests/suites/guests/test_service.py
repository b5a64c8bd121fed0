# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The daemon as a service of systemd, by the unit that is installed."""

import re

import pytest

from harness import BUILD, TESTS, TOP, daemon, guest, hca, ipoib, lab, pairs, process, rdma, wait
from harness.traffic import between_guests

pytestmark = pytest.mark.timeout(240)

UNIT = "xen-ibback.service"
INIT = f"{lab.THERE}/service-init"
GUESTS = ("guest1", "guest2")


@pytest.fixture(scope="module", autouse=True)
def service(machine, guests):
    """The daemon runs as a service. The guests lose their vHCAs first, and afterwards, as it ends with all that it has started."""
    stage = BUILD / "stage" / "usr" / "lib"

    def start():
        lab.run("dom0", "mkdir", "-p", lab.THERE)
        files = [TESTS / "programs" / "service" / "service-init", stage / "systemd" / "system" / UNIT, stage / "xen-ib" / "end-workers"]
        lab.put("dom0", *files, to=lab.THERE)
        for name in GUESTS:
            lab.lab("detach", name)
        lab.run("dom0", "kill", daemon.supervisor())
        ipoib.load_gsi()
        lab.run("dom0", INIT, "start", f"{lab.THERE}/{UNIT}", merge=True)

    with machine.prepared(start):
        yield
        for name in GUESTS:
            lab.call("dom0", "xen-ib", "detach", name, 0)
        lab.run("dom0", INIT, "stop")
        lab.run("dom0", "rmmod", "xen-ibgsi")
        daemon.start()
        for name in GUESTS:
            lab.lab("attach", name)


@pytest.fixture
def two_served():
    """Both guests have their vHCAs by the service."""
    for name in GUESTS:
        if not guest.active(name):
            lab.lab("attach", name)
    until_serves(2)


def systemctl(*words):
    __tracebackhide__ = True
    return lab.run("dom0", INIT, "inside", "systemctl", "--no-pager", *words)


def shows(name):
    return systemctl("show", "-P", name, UNIT)


def stored():
    """What systemd keeps for the daemon, by name: two descriptors for each UAR pool."""
    said = lab.run("dom0", INIT, "inside", "systemd-analyze", "--no-pager", "fdstore", UNIT)
    return sorted(re.findall(r"^(?:file|table)-\S+", said, re.MULTILINE))


def until_serves(count):
    __tracebackhide__ = True
    wait.until(f"the daemon says that it serves {count}", lambda: shows("StatusText") == f"Serving {count} vHCAs")


def test_start():
    """Type=notify: it is active when the daemon says that it serves."""
    assert (shows("ActiveState"), shows("SubState")) == ("active", "running")
    daemon.xen_ib("list")
    until_serves(0)
    assert (shows("Restart"), shows("StartLimitIntervalUSec")) == ("on-failure", "0"), "however often it fails, it is started again"


def test_traffic(two_served):
    """Memory is registered as dma-bufs: the service lets the daemon have xen-ibgrant."""
    pairs.run("guest2")
    for name in GUESTS if hca.has_odp() else ():
        daemon.until_counted(name, "dma-bufs")


def test_management(two_served):
    """The unit's list of devices has what the guests' kernels need: each worker has opened the module's."""
    assert lab.run("dom0", "cat /sys/module/xen_ibgsi/refcnt").strip() == "2"


def goes_on(*words):
    """While systemctl WORDS is done to the service, the guests' programs and workers stay what they are."""
    with between_guests("ib_write_bw", "-s", 65536, "-D", 120) as traffic:
        workers, pools = [daemon.worker(name) for name in GUESTS], stored()
        assert len(pools) == 4
        systemctl(*words)
        wait.until("the service is active", lambda: shows("ActiveState") == "active")
        hca.until_messages(200)
        assert [daemon.worker(name) for name in GUESTS] == workers
        assert all(traffic.alive(name) for name in GUESTS)
        until_serves(2)
        pairs.run("guest2")
        assert stored() == pools


@pytest.mark.long
def test_restart(two_served):
    goes_on("restart", UNIT)


@pytest.mark.long
def test_crash(two_served):
    """It is started again, and no guest notices."""
    before = int(shows("NRestarts"))
    goes_on("kill", "--kill-whom=main", "-s", "KILL", UNIT)
    wait.until("it was started again", lambda: int(shows("NRestarts")) == before + 1)


def test_journal(two_served):
    said = lab.run("dom0", "journalctl -q -o cat XENIB_DOMID=$(xl domid guest1) XENIB_HCA=mlx5_0")
    assert "connected: mlx5_0" in said, said


@pytest.mark.long
def test_private():
    """A configuration in the home of a user who lets nobody in: the service is not the root that may read everything."""
    lab.run("dom0", "mkdir -p /home/somebody && chown 1000 /home/somebody && chmod 700 /home/somebody")
    with guest.elsewhere("/home/somebody", INIT, "inside") as name:
        daemon.until_worker_waits(name)


@pytest.mark.long
def test_removed(two_served):
    """What a removed package does: nobody is served by what is not there any more. The next daemon serves again."""

    def workers():
        return int(lab.run("dom0", "pgrep -f '[x]en-ibback --worker' | wc -l"))

    pools = stored()
    systemctl("stop", UNIT)
    assert workers() > 0
    lab.run("dom0", INIT, "inside", f"{lab.THERE}/end-workers")
    assert workers() == 0
    wait.until("guest1 has lost its device", lambda: not rdma.exists("guest1", "xenib0"))
    assert shows("SubState") == "dead-resources-pinned"
    assert stored() == pools != []
    systemctl("start", UNIT)
    wait.until("guest1 has its device again", lambda: rdma.exists("guest1", "xenib0"))
    until_serves(2)
    pairs.run("guest2")
    assert stored() == pools


def dpkg(*words):
    __tracebackhide__ = True
    lab.run("dom0", INIT, "inside", "dpkg", *words, merge=True)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_package(two_served):
    """systemd closes what it keeps for a service when its unit is gone at a daemon-reload, and guests may have these pages mapped. So a
    package that is removed leaves a unit until the next boot, or until it is installed again."""
    process.check("make", "-s", "-C", TOP, "deb", merge=True)
    (package,) = (BUILD / "deb").glob("xen-ib-backend_*.deb")
    lab.put("dom0", package, to=lab.THERE)
    dpkg("-i", f"{lab.THERE}/{package.name}")
    until_serves(2)
    pools = stored()
    assert len(pools) == 4
    dpkg("-r", "xen-ib-backend")
    try:
        assert not lab.ok("dom0", "test -e /usr/sbin/xen-ibback"), "it is not removed"
        wait.until("guest1 has lost its device", lambda: not rdma.exists("guest1", "xenib0"))
        systemctl("daemon-reload")
        assert stored() == pools, "systemd let go of what guests may have mapped"
    finally:
        dpkg("-i", f"{lab.THERE}/{package.name}")
    assert not lab.ok("dom0", f"test -e /run/systemd/system/{UNIT}"), "the unit of the removed package is left"
    until_serves(2)
    assert stored() == pools
    pairs.run("guest2")
