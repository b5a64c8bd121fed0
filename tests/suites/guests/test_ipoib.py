# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""IPoIB in guests: their kernels join the broadcast group and find paths by dom0's xen-ibgsi, and send by their own QPs."""

import ipaddress
import re

import pytest

from harness import cm, daemon, guest, ipoib, ktest, lab, leftovers, wait

pytestmark = [pytest.mark.usefixtures("interfaces"), pytest.mark.timeout(240)]

PAIRS = [("guest2", "dom0"), ("guest1", "guest2")]
RESET = r"'\001\000\000\000'"  # XEN_IBGSI_RESET


@pytest.fixture(scope="module")
def interfaces(guests):
    """At its end both guests are detached, and nobody has the module open: it can be removed."""
    with ipoib.everywhere(*ipoib.GUESTS):
        yield


@pytest.mark.parametrize("where, other", PAIRS)
def test_ping(where, other):
    """Small packets, and such as are sent in fragments."""
    ipoib.ping(where, other)
    ipoib.ping(where, other, "-s", "8000")


@pytest.mark.parametrize("where, other", PAIRS)
def test_ipv6(where, other):
    """By a configured address, and by the automatic one, which differs on each machine though all have one GID."""
    wait.until(f"{other} answers {where}", ipoib.answers(where, other, ipoib.ADDRESS_6))
    own, others = (ipoib.link_address(name) for name in (where, other))
    assert own != others
    by_itself = {other: f"{others}%{ipoib.interface(where)}"}
    wait.until(f"{other} answers {where} in the link", ipoib.answers(where, other, by_itself))


def test_saquery():
    """A program of the guest asks the SA, which answers with a table."""
    said = lab.run("guest1", "saquery", "-C", "xenib0", "-N")
    assert "NodeRecord" in said, said


def of_port(where, name):
    return lab.run(where, f"cat /sys/class/infiniband/xenib0/{name}")


def test_own_port():
    """What programs ask of their own port by subnet management is answered in the guest, as verbs say it."""
    gid = ipaddress.ip_address(of_port("guest1", "ports/1/gids/0"))
    lid = int(of_port("guest1", "ports/1/lid"), 0)
    assert re.fullmatch(r"GID (\S+) LID start (\S+) end (\S+)", lab.run("guest1", "ibaddr -C xenib0")).groups() == (str(gid), hex(lid), hex(lid))

    def asked(*words):
        said = lab.run("guest1", "smpquery", "-C", "xenib0", "-D", *words)
        return dict(re.findall(r"^(\w+):\.+(.*)$", said, re.MULTILINE))

    node, port = asked("nodeinfo", "0"), asked("portinfo", "0", "1")
    assert int(node["Guid"], 0) == int(of_port("guest1", "node_guid").replace(":", ""), 16)
    assert int(node["PortGuid"], 0) == int(gid) & (1 << 64) - 1
    assert (port["LinkState"], int(port["Lid"]), int(port["SMLid"])) == ("Active", lid, int(of_port("guest1", "ports/1/sm_lid"), 0))
    assert of_port("guest1", "ports/1/pkeys/0") in lab.run("guest1", "smpquery -C xenib0 -D pkeys 0")
    lab.run("guest1", "! smpquery -C xenib0 -D sl2vl 0")


def packets(where, command, pattern):
    """How many the port has sent."""
    return int(re.search(pattern, lab.run(where, command))[1])


def test_perfquery():
    """The counters are those that dom0 has of the port."""

    def in_dom0():
        return packets("dom0", "cat /sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_packets", r"(\d+)")

    least = in_dom0()
    wait.until("guest2 answers guest1", ipoib.answers("guest1", "guest2"))
    assert least < packets("guest1", "perfquery -C xenib0 -x", r"PortXmitPkts:\.*(\d+)") <= in_dom0()
    lab.run("guest1", "perfquery -C xenib0")


@pytest.mark.long
def test_perfquery_refused():
    """A guest does not clear what others count by, and does not ask for another node or port."""
    lid = int(lab.run("guest1", "cat /sys/class/infiniband/xenib0/ports/1/lid"), 0)

    def refused(why):
        return daemon.status("guest1", f"refused MAD_SEND {why}") or 0

    for words, why in (("-R", "E_UNSUPPORTED"), (lid + 40, "E_UNSUPPORTED"), (f"{lid} 2", "E_ARG")):
        before = refused(why)

        def is_refused():
            """Before what is to be refused it asks for something else, whose answer may be too late for it."""
            lab.run("guest1", f"! perfquery -C xenib0 -t 200 {words}")
            return refused(why) > before

        wait.until("dom0 has refused it", is_refused)


@pytest.mark.long
def test_ibping():
    """A guest asks dom0's program whether it is there. The other way nothing would tell which guest is asked: the program there waits."""
    lid = lab.run("guest1", "cat /sys/class/infiniband/xenib0/ports/1/lid")
    ask = f"ibping -C xenib0 -c 1 -t 1000 -L {lid}"
    assert "Pong" not in lab.call("guest1", ask).out
    with lab.running("dom0", f"ibping -S -C {ipoib.HCA['dom0']}"):
        wait.until("dom0 answers guest1", lambda: "Pong from" in lab.call("guest1", ask).out)
        lab.run("dom0", "killall ibping")


@pytest.mark.long
def test_qp_0():
    """There is one, for programs that need one. What is sent by it does not get to dom0, and no subnet manager can be here."""
    refused = "refused MAD_SEND E_UNSUPPORTED"
    before = daemon.status("guest1", refused)
    sent = daemon.counted("guest1", "command MAD_SEND")
    for command in ("sminfo -C xenib0 -t 200", "smpquery -C xenib0 -t 200 -D nodeinfo 0,1", "sh -c ': </dev/infiniband/issm0'"):
        lab.run("guest1", f"! {command}")
    lab.run("guest1", "perfquery -C xenib0")
    daemon.until_counted("guest1", "command MAD_SEND", sent + 2)
    assert daemon.status("guest1", refused) == before


def groups(name):
    """How many multicast groups the guest's kernel has joined, as dom0 sees it."""
    return daemon.counted(name, "mad-groups")


def test_counted():
    """dom0 tells of the kernel's context, its datagrams and its groups."""
    daemon.until_counted("guest1", "mad-groups", 2)  # of broadcasts, and of all that have multicasts
    daemon.until_counted("guest1", "mads-sent")
    daemon.until_counted("guest1", "mads-received")
    assert daemon.counted("guest1", "kernel-contexts") == 1
    metrics = lab.run("dom0", "xen-ib metrics")
    for name in ("kernel_contexts", "mads_sent_total", "mads_received_total", "mads_dropped_total", "mads_stray_total", "mad_groups"):
        assert f"xenib_{name}{{" in metrics, metrics
    for name in ("mads_refused_kind_total", "connections", "connections_unanswered", "connections_aged_out_total"):
        assert f"xenib_{name}{{" in metrics, metrics


@pytest.mark.long
def test_counted_by_module():
    """What the module alone counts is told as well: a second MAD for a guest that stands still, and has been told of the first."""
    ipoib.ping("guest2", "guest1")
    before = wait.settled(lambda: daemon.counted("guest1", "mads-received"))
    ask = f"rping -c -a {ipoib.ADDRESS['guest1']} -p"
    lab.run("dom0", "xl pause guest1")
    try:
        for n in (1, 2):
            with lab.running("guest2", f"{ask} {next(cm.PORTS)}"):
                daemon.until_counted("guest1", "mads-received", before + n)
                lab.run("guest2", "killall -KILL rping")
    finally:
        lab.run("dom0", "xl unpause guest1")
    ipoib.ping("guest2", "guest1")


MANY = 16  # groups, of which a part of an answer has room for three


@pytest.mark.long
def test_saquery_parts():
    """An answer in parts, whose coming the guest's kernel acknowledges: all groups, of which dom0 has joined many."""
    name = ipoib.interface("dom0")
    change = f"for i in $(seq {MANY}); do ip address %s 239.9.8.$i/32 dev {name} autojoin; done"

    def found(where, device):
        return lab.run(where, f"saquery -C {device} -g | grep -ci 'MGID.*ff12:401b:ffff::f09:8' || true")

    lab.run("dom0", change % "add")
    try:
        wait.until("dom0 has joined", lambda: int(found("dom0", "mlx5_0")) == MANY)
        before = daemon.counted("guest1", "mads-received")
        assert int(found("guest1", "xenib0")) == MANY, lab.run("guest1", "saquery -C xenib0 -g")
        daemon.until_counted("guest1", "mads-received", before + MANY // 3)
    finally:
        lab.run("dom0", change % "del")


def test_rdma_cm():
    """Both guests and dom0 listen at the same port number: each is asked for by its own address. More is in test_cm.py."""
    cm.connect_all(("guest1", "guest2"), ("dom0", "guest1"), ("guest2", "dom0"))


@pytest.mark.long
def test_interface_down():
    """dom0's interface goes, and with it dom0's membership of the groups: guests keep theirs."""
    name = ipoib.interface("dom0")
    lab.run("dom0", f"ip link set {name} down")
    try:
        ipoib.ping("guest1", "guest2")
        groups = lab.run("dom0", "saquery", "-g")
        assert "ff12:401b:ffff::ffff:ffff" in groups, groups
    finally:
        lab.run("dom0", f"ip link set {name} up")
    ipoib.ping("guest1", "dom0")


def test_verbs_alone():
    """Another vHCA of the same guest, whose kernel has no part in the fabric's management there by its configuration."""
    lab.lab("attach", "guest1", "--dev", "1", "kernel=verbs", "max-mem-bytes=64M")
    try:
        devices = lab.run("guest1", "cat /sys/class/infiniband_mad/umad*/ibdev").split()
        assert devices == ["xenib0"], devices
        daemon.until_has_kernel("guest1", 1)
    finally:
        lab.lab("detach", "guest1", "--dev", "1")


@pytest.mark.long
def test_sm_restart():
    """The subnet manager forgets all groups; everybody joins again. If a guest needs it, the administrator is told that it is gone."""
    lab.lab("attach", "guest1", "--dev", "1", "kernel=on", "max-mem-bytes=64M")
    try:
        assert re.search("^ok +mlx5_0: port 1: the SA, at LID [0-9]+, answers$", daemon.xen_ib("check"), re.MULTILINE)
        lab.run("dom0", "/lab/subnet-manager stop")
        assert re.search("^warning +mlx5_0: port 1: the SA, .* does not answer", daemon.xen_ib("check"), re.MULTILINE)
        lab.run("dom0", "/lab/subnet-manager start")
    finally:
        lab.lab("detach", "guest1", "--dev", "1")
    ipoib.ping("guest1", "guest2")
    ipoib.ping("guest2", "dom0")


@pytest.mark.long
def test_nothing_left():
    """IPoIB in guest2 comes and goes while dom0 and guest1 have theirs: the HCA has no object more afterwards."""
    ipoib.down("guest2")
    ktest.reload("guest2")
    before = leftovers.objects_but_pages()
    try:
        ktest.reload("guest2", "kverbs=1")
        ipoib.up("guest2")
        ipoib.ping("guest2", "guest1")
        ipoib.down("guest2")
        wait.until("guest2 has left its groups", lambda: groups("guest2") == 0)
        ktest.reload("guest2")
        leftovers.until_objects_but_pages_are("no object is left in the HCA", before)
    finally:
        ktest.reload("guest2", "kverbs=1")
        ipoib.up("guest2")


@pytest.mark.long
def test_kill_worker():
    """The interface goes with the device and comes back with it; the other guest's is not touched."""
    guest.until_new_worker("guest2", daemon.kill_worker("guest2"))
    ipoib.up("guest2")
    ipoib.ping("guest2", "guest1")
    ipoib.ping("guest1", "dom0")


def test_closed_at_once():
    """Whoever has opened the device of xen-ibgsi closes it while a reset is on its way, as a worker whose HCA is gone: nothing runs on in
    memory that was given back."""
    lab.run("dom0", f"for i in $(seq 500); do printf {RESET} >/dev/xen-ib-gsi || exit; done")
