# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""vHCAs by a line of the domain's xl configuration, and what comes of a line that is wrong."""

import contextlib
import re

import pytest

from harness import BUILD, TOP, daemon, guest, lab, leftovers, process, rdma, wait
from harness.pvh import again_if_it_falls

pytestmark = [pytest.mark.usefixtures("guests"), pytest.mark.timeout(480)]

GUEST = "guest4"


@contextlib.contextmanager
def started(specs, *options):
    """The guest as the toolstack starts it; nobody attaches anything. One that is there is another one."""
    process.call(lab.LAB, "guest", "stop", GUEST, "--kill")
    try:
        lab.lab("guest", "start", GUEST, "--config", f"vhca = [ {specs} ]", *options, merge=True)
        yield
    finally:
        process.call(lab.LAB, "guest", "stop", GUEST, "--kill")


def until_active(*devices):
    __tracebackhide__ = True
    for device in devices:
        wait.until(f"{device} is active", lambda: rdma.active(GUEST, device))


def node(devid, name):
    return daemon.node(GUEST, devid, name)


LINES = ("hca=mlx5_0,max-qp=16,max-mr-bytes=64M", "hca=mlx5_0,max-qps=3", "hca=nonesuch", "hca=mlx5_0,port=9", "hca=mlx5_1")
ERRORS = ["unknown key 'max-qps'", "there is no HCA nonesuch", "HCA mlx5_0 has no port 9"]


@pytest.fixture(scope="module")
def with_lines(guests):
    """The guest with vHCAs by lines of which some are wrong."""
    with started(", ".join(f'"{line}"' for line in LINES)):
        lab.lab("install", GUEST)
        yield


def test_wrong(with_lines):
    """The guest has booted without the devices, and it can be seen why."""
    assert [node(devid, "error") for devid in (1, 2, 3)] == ERRORS
    assert [node(devid, "state") for devid in (1, 2, 3)] == ["6"] * 3, "they are not closed"
    until_active("xenib0", "xenib4")
    assert lab.run(GUEST, "ls /sys/class/infiniband").split() == ["xenib0", "xenib4"]


def frontend_state(devid):
    return lab.run("dom0", f"xenstore-read /local/domain/$(xl domid {GUEST})/device/vhca/{devid}/state")


def test_not_waited_for(with_lines):
    """Who loads the driver waits for devices that are about to connect, and one whose HCA is not there is none: see is_refused() in
    frontend/main.c. It comes when its line is mended."""
    assert frontend_state(2) == "6", "the guest's kernel waits for it"
    lab.run("dom0", f"xenstore-write /local/domain/0/backend/vhca/$(xl domid {GUEST})/2/hca mlx5_1")
    until_active("xenib2")


def test_line(with_lines):
    until_active("xenib0", "xenib4")
    assert (node(0, "max-qp"), node(0, "max-mr-bytes")) == ("16", "67108864")
    assert rdma.devinfo(GUEST, "xenib0")["max_qp"] == "16"
    domid = daemon.domid(GUEST)
    lab.lab("guest", "stop", GUEST, "--kill")
    daemon.until_nodes_are_gone(domid)


def first_example():
    """What is between the brackets of the first example in the documentation."""
    return re.search(r"^    vhca = \[ (.*) \]$", (TOP / "docs" / "configuration.md").read_text(), re.MULTILINE)[1]


@pytest.mark.long
def test_reboot():
    """In mid-traffic: what xl starts again has another id, and its vHCA again, and nothing is left of the old one. The documentation's example
    works as it stands."""
    with started(first_example()):
        daemon.until_worker_waits(GUEST)
        assert node(0, "hca") in ("mlx5_0", "mlx5_1")
        lab.lab("install", GUEST)
        until_active("xenib0")
        domid = daemon.domid(GUEST)
        lab.put(GUEST, BUILD / "tests" / "programs" / "isolation" / "neighbour", to="/tmp")
        lab.run(GUEST, "/tmp/neighbour -d xenib0 --count 3 rounds", merge=True)  # dom0's driver makes what it makes on first use
        before = leftovers.objects_but_pages()
        lab.run(GUEST, "setsid /tmp/neighbour -d xenib0 --count 1000000 rounds >/tmp/said 2>&1 & true")
        wait.until("the program works", lambda: lab.ok(GUEST, "grep -q working /tmp/said"))
        assert leftovers.objects_but_pages() != before, "the program has no objects"
        lab.run("dom0", "xl", "reboot", "-F", GUEST)
        wait.until("the guest is there again", lambda: daemon.domain_exists(GUEST) and daemon.domid(GUEST) != domid)
        daemon.until_worker_waits(GUEST)
        daemon.until_nodes_are_gone(domid)
        wait.until("no object is left in the HCA",
                   lambda: all(count <= before.get(kind, 0) for kind, count in leftovers.objects_but_pages().items()))
        assert daemon.no_zombie()


@pytest.mark.long
@again_if_it_falls
def test_pvh():
    """A guest of the other type."""
    with started('"hca=mlx5_0,max-qp=16"', "--type", "pvh"):
        lab.lab("install", GUEST)
        until_active("xenib0")
        assert lab.run(GUEST, "cat /sys/hypervisor/guest_type") == "PVH"
        assert lab.run("dom0", f"stat -c %U /proc/{daemon.worker(GUEST)}") == "xen-ib", "its worker is not in the sandbox"
        lab.put(GUEST, BUILD / "tests" / "programs" / "isolation" / "neighbour", to="/tmp")
        lab.run(GUEST, "/tmp/neighbour -d xenib0 --count 3 rounds", merge=True)


@pytest.mark.long
def test_elsewhere():
    """The file is in a folder that the daemon does not know, named as from there; the domain need not run for that."""
    with guest.elsewhere("/root/elsewhere") as name:
        daemon.until_worker_waits(name)
        assert (daemon.node(name, 0, "max-qp"), daemon.node(name, 0, "hca")) == ("7", "mlx5_1")
        # As after a reboot: the xl that stays behind is in another folder now.
        daemon.xen_ib("detach", name, 0)
        lab.run("dom0", f"xenstore-rm /local/domain/0/backend/vhca/$(xl domid {name})")
        lab.run("dom0", "kill", "-9", daemon.supervisor())
        daemon.start()
        daemon.until_worker_waits(name)
