# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Two machines, whose HCAs a managed switch joins: a guest of one, and a guest or dom0 of the other, by what is found through the subnet's
administration. It is in the first machine's dom0."""

import pytest

from harness import cm, ipoib, ktest, lab, leftovers, nvme, scsi, shares, ulps, wait

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("interfaces"), pytest.mark.timeout(300)]

DOM0S = {"guest1": "dom0", "m2.guest1": "m2.dom0"}
GUESTS = list(DOM0S)
PAIRS = [("guest1", "m2.guest1"), ("guest1", "m2.dom0"), ("dom0", "m2.guest1")]
BOTH_WAYS = [GUESTS, GUESTS[::-1]]


def interfaces_up():
    """With Xen-IB, a vHCA in each guest, whose kernel may use it, and IPoIB everywhere."""
    lab.lab("install")
    for name, dom0 in DOM0S.items():
        ipoib.load_gsi(dom0)
        lab.lab("attach", name)
        ktest.reload(name, "kverbs=1")
        ipoib.up(dom0)
        ipoib.up(name)


@pytest.fixture(scope="module")
def interfaces(machine, machines):
    """At its end nobody has the modules of both dom0s open."""
    with machine.prepared(interfaces_up):
        yield
    for name, dom0 in DOM0S.items():
        ipoib.down(name)
        lab.lab("detach", name)
        lab.run(dom0, "rmmod xen-ibgsi")


@pytest.mark.parametrize("where, other", PAIRS)
def test_ping(where, other):
    """Small packets, and such as are sent in fragments, each way."""
    for here, there in ((where, other), (other, where)):
        ipoib.ping(here, there)
        ipoib.ping(here, there, "-s", "8000")


def test_ipv6():
    wait.until("it answers", ipoib.answers(*GUESTS, ipoib.ADDRESS_6))
    link = f"{ipoib.link_address(GUESTS[1])}%{ipoib.interface(GUESTS[0])}"
    wait.until("it answers in the link", ipoib.answers(*GUESTS, {GUESTS[1]: link}))


@pytest.mark.parametrize("program", cm.PROGRAMS)
@pytest.mark.parametrize("where, other", BOTH_WAYS)
def test_program(program, where, other):
    cm.connect(program, where, other)


@pytest.mark.parametrize("where, other", PAIRS[1:])
def test_dom0(where, other):
    """A guest and the dom0 of the other machine, each way."""
    cm.connect_both_ways((where, other))


def test_same_port():
    """All four listen at one port number, the guest of a machine beside its dom0: each is asked for by its own address."""
    cm.connect_all(("guest1", "m2.dom0"), ("dom0", "m2.guest1"), ("m2.guest1", "guest1"), ("m2.dom0", "dom0"))


@pytest.mark.parametrize("where, other", BOTH_WAYS)
def test_multicast(where, other):
    cm.multicast(where, other)


@pytest.mark.parametrize("where, other", BOTH_WAYS)
def test_tcp(where, other):
    ulps.iperf3(where, other)
    ulps.netperf(where, other)


def test_connected_mode():
    ipoib.connected_ping(*GUESTS)


def test_nvme():
    """A guest uses the disk that a guest of the other machine serves."""
    with nvme.connected(*GUESTS):
        ulps.fio(*GUESTS, "128k", 2 * nvme.MIB)
        lab.run(GUESTS[0], f"dd if=/dev/urandom of={nvme.DISK} bs=64k count=64 oflag=direct status=none")
        nvme.compare(*GUESTS)


@pytest.mark.parametrize("protocol", shares.SHARES)
def test_files(protocol):
    ulps.files(protocol, *GUESTS)


@pytest.mark.parametrize("protocol", scsi.PROTOCOLS)
def test_disk(protocol):
    ulps.scsi_disk(protocol, *GUESTS)


def test_rds():
    with ulps.rds(*GUESTS):
        ulps.rds_echo(*GUESTS)


def test_manager_starts_again():
    """The next one has not heard of anybody: all of both machines are members of their groups again."""
    lab.run("dom0", "/lab/subnet-manager stop && /lab/subnet-manager start")
    for where, other in PAIRS:
        lab.run(where, "ip neigh flush all")
        ipoib.ping(where, other)
    cm.connect("rping", *GUESTS)


def test_nothing_left():
    """A guest's IPoIB comes and goes."""
    ipoib.down(GUESTS[1])
    before = wait.settled(leftovers.objects_but_pages)
    ipoib.up(GUESTS[1])
    cm.connect("rping", *GUESTS)
    ipoib.down(GUESTS[1])
    leftovers.until_objects_but_pages_are("no object is left in the HCA", before)
    ipoib.up(GUESTS[1])
    ipoib.ping(*GUESTS)
