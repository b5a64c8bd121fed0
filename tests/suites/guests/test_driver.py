# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A driver domain: guest4 is given dom0's second HCA, and serves the other guests with it."""

import contextlib
import re

import pytest

from harness import BUILD, cm, daemon, guest, hca, ipoib, ktest, lab, pairs, process, rdma, save, wait
from harness.pvh import again_if_it_falls

pytestmark = [pytest.mark.usefixtures("guests"), pytest.mark.timeout(480), pytest.mark.long]

DRIVER = "guest4"
LENT = "/local/domain/0/vhca-frames"
HCA = "0000:02:00.0"  # dom0's second
NEIGHBOUR = BUILD / "tests" / "programs" / "isolation" / "neighbour"


@pytest.fixture(scope="module", autouse=True)
def none_left(guests):
    """Others want its memory, and the HCA in dom0."""
    yield
    if daemon.domain_exists(DRIVER):
        end()
        give_back()


def end():
    """A domain that is destroyed keeps Xen from giving the HCA to another one (docs/configuration.md), so it is shut down."""
    lab.lab("guest", "stop", DRIVER)
    wait.until("the domain is gone", lambda: not daemon.domain_exists(DRIVER))


def give_back():
    """dom0 has the HCA again."""
    lab.run("dom0", f"xl pci-assignable-remove -r {HCA}")
    wait.until("dom0 has its second HCA again", lambda: rdma.active("dom0", "mlx5_1"))


def is_there():
    return lab.answers(DRIVER) and rdma.active(DRIVER, "mlx5_0")


@pytest.fixture
def driver():
    """The driver domain: its number. What is not there is made."""
    if not (daemon.domain_exists(DRIVER) and is_there()):
        lab.lab("guest", "start", DRIVER, "--guest-mem", 640, "--hca", 1, merge=True)
    wait.until("its HCA is active", is_there)
    lab.lab("install", "--backend", DRIVER)
    return daemon.domid(DRIVER)


@pytest.fixture
def lent(driver):
    """guest2 has a vHCA of it, with number 1, beside its own of dom0. The number of the driver domain."""
    lend()
    return driver


def lend():
    if not rdma.active("guest2", "xenib1"):
        daemon.xen_ib("attach", "guest2", f"hca=mlx5_0,backend={DRIVER},devid=1")


def lent_works():
    __tracebackhide__ = True
    lab.run("guest2", f"{lab.THERE}/neighbour -d xenib1 --count 5 rounds", merge=True)


def until_lent_is_gone():
    __tracebackhide__ = True
    wait.until("the device is gone", lambda: not rdma.exists("guest2", "xenib1"))


def records(name):
    """The frames that the driver domain has a guest map."""
    path = f"{LENT}/{daemon.domid(DRIVER)}/{daemon.domid(name)}"
    said = lab.run("dom0", f"xenstore-exists {LENT} && {{ xenstore-ls -f {path} 2>/dev/null; true; }}")
    return len(re.findall(r"vhca-frames(?:/\d+){4} = ", said))


def until_no_frame_is_left():
    __tracebackhide__ = True
    wait.until("no frame is left", lambda: records("guest2") == 0)


def registers_dmabufs():
    return lab.ok(DRIVER, f"grep -q '^dma-bufs *[1-9]' /run/xen-ib/{daemon.domid('guest2')}-1.status")


def worker():
    return int(lab.run(DRIVER, f"cat /run/xen-ib/{daemon.domid('guest2')}-1.pid"))


@contextlib.contextmanager
def mover():
    """A program of guest2 on that vHCA, until it is told; it holds its standard input open itself."""
    words = f"{lab.THERE}/neighbour -d xenib1 until-told <>/tmp/told >/tmp/lent 2>&1"
    try:
        lab.run("guest2", f"rm -f /tmp/lent; [ -p /tmp/told ] || mkfifo /tmp/told; setsid {words} & true")
        wait.until("the program in guest2 works", lambda: lab.ok("guest2", "grep -q working /tmp/lent"))
        yield
    finally:
        lab.run("guest2", "pkill -9 -x neighbour; true")


def test_check(driver):
    """What it says of itself, and what it may not do."""
    lab.run(DRIVER, "xen-ib check", merge=True)
    daemon.xen_ib("check")
    result = lab.call(DRIVER, f"xen-ib attach {daemon.domid('guest2')} hca=mlx5_0")
    assert result.status != 0 and "only dom0 can give" in result.err, str(result)


def lent_pair(program, *options):
    """Server on guest1's vHCA of dom0's HCA"""
    words = [*options, "--no_ddp", "-F", "-s", 64, "-n", 300, "-p", 18702]
    with lab.running("guest1", program, "-d", "xenib0", *words):
        lab.run("guest1", f"{lab.THERE}/agent", "await", 18702)
        said = lab.run("guest2", program, "-d", "xenib1", *words, "guest1")
    assert re.search("^ *64 +300 ", said, re.MULTILINE), said


def test_traffic(lent):
    """Between HCAs, too: guest1 has dom0's."""
    lent_works()
    cases = "rc-send rc-write rc-read ud-send atomics mr-recycled-pages".split()
    lab.run("guest2", f"{lab.THERE}/integrity", "-d", "xenib1", "-D", "xenib1", "--max-size", 262144, *cases, merge=True)
    lab.run("guest2", f"{lab.THERE}/violate", "-d", "xenib1", "-D", "xenib1", "rkey-*", merge=True)
    lent_pair("ib_send_lat")
    if hca.has_odp(1):
        wait.until("the driver domain counts dma-bufs", registers_dmabufs)


def test_events(lent):
    lent_pair("ib_send_lat", "-e")
    lab.run("guest2", f"{lab.THERE}/events", "-d", "xenib1", "-D", "xenib1", "storm*", merge=True)


@contextlib.contextmanager
def configured_guest(*options):
    """guest3, which has its vHCA of the driver domain by a line of its configuration."""
    stop = ("guest", "stop", "guest3", "--kill")
    process.call(lab.LAB, *stop)
    try:
        line = f'vhca = [ "hca=mlx5_0,backend={DRIVER},max-qp=16" ]'
        lab.lab("guest", "start", "guest3", "--config", line, *options, merge=True)
        lab.lab("install", "guest3")
        wait.until("guest3 has its device", lambda: rdma.active("guest3", "xenib0"))
        lab.put("guest3", NEIGHBOUR, to="/tmp")
        lab.run("guest3", "/tmp/neighbour -d xenib0 --count 3 rounds", merge=True)
        yield daemon.domid("guest3")
    finally:
        process.call(lab.LAB, *stop)


def test_guest(lent):
    """By a line of its configuration; and destroyed in mid-traffic."""
    with configured_guest() as domid:
        said = daemon.xen_ib("list", "guest3")
        assert re.search(f" {lent} *mlx5_0 .*connected", said), said
        assert rdma.devinfo("guest3", "xenib0")["max_qp"] == "16"
        lab.run("guest3", "setsid /tmp/neighbour -d xenib0 --count 1000 rounds >/tmp/lent 2>&1 & true")
        wait.until("it works", lambda: lab.ok("guest3", "grep -q working /tmp/lent"))
        lab.lab("guest", "stop", "guest3", "--kill")
        wait.until("the domain is gone", daemon.no_zombie)
        for what, path in (("nodes", f"/local/domain/{lent}/backend/vhca/{domid}"), ("record", f"{LENT}/{lent}/{domid}")):
            wait.until(f"its {what} is gone", lambda: lab.ok("dom0", f"! xenstore-exists {path}"))
        wait.until("its worker is gone", lambda: lab.ok(DRIVER, f"! pgrep -f '[-]-worker .*/vhca/{domid}/'"))
    lend()
    lent_works()


@again_if_it_falls
def test_pvh(driver):
    """Where frames go in its memory, such a guest says itself."""
    with configured_guest("--type", "pvh"):
        first = int(lab.run("dom0", "xenstore-read /local/domain/$(xl domid guest3)/device/vhca/0/doorbell-gfn"))
        assert first >= 1 << 20, "the guest offers no frames above 4 GiB"


@contextlib.contextmanager
def fabric():
    """One subnet of both HCAs, each of which has its module; IPoIB in dom0 and in guest1, which has dom0's HCA."""
    with hca.managed(), ipoib.everywhere("guest1"):
        wait.until("the driver domain's HCA is active", is_there)
        lab.run(DRIVER, "modprobe -a ib_cm ib_uverbs && insmod /lib/modules/xen-ibgsi.ko")
        try:
            yield
        finally:
            wait.until("nobody has the module open", lambda: lab.ok(DRIVER, "rmmod xen-ibgsi"))


@again_if_it_falls
def connections(*options):
    """Between guest1 and dom0, and a guest of the driver domain: each HCA has a LID and a GID of its own."""
    with fabric(), configured_guest(*options):
        ktest.reload("guest3", "kverbs=1")
        ipoib.up("guest3")
        cm.connect_both_ways(("guest1", "guest3"), ("dom0", "guest3"))
        ipoib.connected_ping("guest1", "guest3")
        ipoib.down("guest3")


@pytest.mark.parametrize("kind", ["pv", "pvh"])
def test_connections(driver, kind):
    connections("--type", kind)


def first_frame(function):
    """Of its BAR 0"""
    return int(lab.run("dom0", f"head -n 1 {function}/resource").split()[0], 16) >> 12


def test_refused(lent):
    """What a driver domain writes that wants more than it may have: frames of dom0's HCA, and of memory; of its own HCA the
    initialization segment, which is what rules an HCA."""
    guest2, guest1 = daemon.domid("guest2"), daemon.domid("guest1")
    own = first_frame(f"/sys/bus/pci/devices/{HCA}")
    for mfn in (first_frame("/sys/class/infiniband/mlx5_0/device") + 16, 4096, own, own + 4):
        request = f"/local/domain/{lent}/backend/vhca/{guest2}/1/frames/{mfn}"
        lab.run(DRIVER, f"xenstore-write {request} 0")
        wait.until("it is refused", lambda: lab.call("dom0", f"xenstore-read {request}/error").out.strip() == "1")
        lab.run(DRIVER, f"xenstore-rm {request}")
    # A guest that has no vHCA of this domain
    assert not lab.ok(DRIVER, f"xenstore-write /local/domain/{lent}/backend/vhca/{guest1}/1/frames/4096 0")
    assert lab.ok("dom0", f"! xenstore-exists {LENT}/{lent}/{guest1}"), "guest1 is taken for a guest of the driver domain"
    lent_works()


def test_kill_worker(lent):
    with mover():
        old = worker()
        lab.run(DRIVER, "kill", "-9", old)
        wait.until("guest2 has its device again", lambda: worker() != old and rdma.active("guest2", "xenib1"))
    lent_works()
    until_no_frame_is_left()


def test_kill_daemons(lent):
    """Both daemons: that in dom0 finds again what it has granted."""
    with mover():
        old = worker()
        lab.run("dom0", "kill", "-9", daemon.supervisor())
        lab.run(DRIVER, "kill -9 $(cat /run/xen-ibback.pid)")
        daemon.start()
        lab.lab("install", "--backend", DRIVER)
        assert lab.ok("guest2", "pgrep -x neighbour >/dev/null"), lab.run("guest2", "cat /tmp/lent")
        assert worker() == old, "guest2 has another worker"
        assert records("guest2") == 1
    lent_works()
    until_no_frame_is_left()


@pytest.mark.parametrize("how", [[], ["--force"]], ids=["asked", "forced"])
def test_detach(lent, how):
    with mover():
        daemon.xen_ib("detach", "guest2", 1, *how)
        until_lent_is_gone()
        until_no_frame_is_left()


def test_detach_by_driver(lent):
    lab.run(DRIVER, "xen-ib", "detach", daemon.domid("guest2"), 1)
    until_lent_is_gone()
    lend()
    lent_works()
    pairs.run("guest2")


def test_saved(lent):
    """A guest that has a vHCA of it, in use, and one of dom0's HCA: it comes back with both. Neither domain has anything of the old one."""
    had = save.vhcas("guest2"), save.vhcas("guest2", lent)
    domid = daemon.domid("guest2")
    with mover(), save.saved("guest2") as saved:
        saved.restore()
        guest.until_active("guest2")
        wait.until("guest2 has its device again", lambda: rdma.active("guest2", "xenib1"))
        wait.until("the program has ended", lambda: not lab.ok("guest2", "pgrep -x neighbour"))
    assert (save.vhcas("guest2"), save.vhcas("guest2", lent)) == had
    lent_works()
    until_no_frame_is_left()
    for path in (f"/local/domain/{lent}/backend/vhca/{domid}", f"{LENT}/{lent}/{domid}"):
        wait.until(f"{path} is gone", lambda path=path: lab.ok("dom0", f"! xenstore-exists {path}"))
    wait.until("the old worker is gone", lambda: lab.ok(DRIVER, f"! pgrep -f '[-]-worker .*/vhca/{domid}/'"))
    pairs.run("guest2")


def test_end(lent):
    """guest2 loses that device, and no other; and dom0 has the HCA again."""
    with mover():
        end()
        until_lent_is_gone()
        wait.until("the records are gone", lambda: lab.ok("dom0", f"! xenstore-exists {LENT}/{lent}"))
    pairs.run("guest2")
    give_back()
    lab.lab("attach", "guest1", "--dev", 1, "hca=mlx5_1")
    lab.run("guest1", f"{lab.THERE}/neighbour -d xenib1 --count 5 rounds", merge=True)
    daemon.xen_ib("detach", "guest1", 1)
    assert not rdma.exists("guest1", "xenib1")
