# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Programs that connect by rdma_cm, between guests and dom0. The gate has one connection of each kind, in test_ipoib.py."""

import contextlib

import pytest

from harness import cm, daemon, guest, ipoib, ktest, lab, process, programs, tcp, wait

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("interfaces"), pytest.mark.timeout(240)]

PAIRS = [("dom0", "guest1"), ("guest1", "dom0"), ("guest1", "guest2")]


@pytest.fixture(scope="module")
def interfaces(guests):
    with ipoib.reaching(PAIRS):
        yield


@pytest.mark.parametrize("where, other", PAIRS)
@pytest.mark.parametrize("program", cm.PROGRAMS)
def test_program(program, where, other):
    cm.connect(program, where, other)


@pytest.mark.parametrize("where, other", [("dom0", "guest1"), ("guest1", "guest2")])
@pytest.mark.parametrize("program", cm.MORE_PROGRAMS)
def test_more_programs(program, where, other):
    cm.connect(program, where, other)


@pytest.mark.parametrize("where, other", PAIRS)
def test_multicast(where, other):
    cm.multicast(where, other)


@pytest.mark.parametrize("where, other", PAIRS)
def test_ipv6(where, other):
    """By an address that was given, and by that which IPv6 has made by itself."""
    link = ipoib.link_address(other)
    for here, there in ((ipoib.ADDRESS_6[other],) * 2, (f"{link}%{ipoib.interface(other)}", f"{link}%{ipoib.interface(where)}")):
        port = next(cm.PORTS)
        with cm.server("rping", other, port, here) as server:
            assert cm.client("rping", where, there, port).count("ping data") == 10
            server.finish()


@contextlib.contextmanager
def moved_to(where):
    command = f"{cm.OTHER}/24 dev {ipoib.interface(where)}"
    lab.run(where, f"ip address add {command}")
    try:
        yield
    finally:
        lab.run(where, f"ip address del {command}")


def test_address_moves():
    """Who is asked for is whoever has the address now."""
    port = next(cm.PORTS)
    for where, other in [("guest2", "guest1"), ("dom0", "guest2")]:
        with moved_to(other), cm.server("rping", other, port, cm.OTHER) as server:
            wait.until("its new place is known", lambda: lab.ok(where, f"ip neigh flush to {cm.OTHER}; ping -c 1 -W 1 {cm.OTHER}"))
            cm.client("rping", where, cm.OTHER, port)
            server.finish()


def test_address_fails_over():
    """guest2 has an address while guest1 has it still: when guest1 gives it up, who is asked for is guest2."""
    refused = "refused ADDR_ADD E_BUSY"
    port = next(cm.PORTS)
    before = daemon.status("guest2", refused) or 0
    ping = f"ip neigh flush to {cm.OTHER}; ping -c 1 -W 1 {cm.OTHER}"
    ask = cm.PROGRAMS["rping"][1].format(address=cm.OTHER, port=port)
    with contextlib.ExitStack() as undo:
        with moved_to("guest1"):
            wait.until("guest1 has it", lambda: lab.ok("dom0", ping))
            undo.enter_context(moved_to("guest2"))
            wait.until("dom0 has refused guest2", lambda: (daemon.status("guest2", refused) or 0) > before)
        wait.until("guest2 has it", lambda: lab.ok("dom0", ping))
        with cm.server("rping", "guest2", port, cm.OTHER) as server:
            wait.until("guest2 is connected to", lambda: lab.ok("dom0", f"{ask} || exit 1"))
            server.finish()


@contextlib.contextmanager
def namespace():
    """dom0's interface is in a network namespace of its own."""
    name = ipoib.interface("dom0")
    lab.run("dom0", f"ip netns add apart && ip link set {name} netns apart")
    inside = "nsenter --net=/run/netns/apart"
    try:
        lab.run("dom0", f"{inside} sh -c 'ip link set lo up; ip address add {cm.OTHER}/24 dev {name} && ip link set {name} up'")
        yield
    finally:
        lab.run("dom0", f"{inside} ip link set {name} netns 1; ip netns delete apart")
        ipoib.up("dom0")


def test_address_in_namespace():
    """An address of dom0's is nobody else's, in whichever of its network namespaces the interface is."""
    refused = "refused ADDR_ADD E_BUSY"
    before = daemon.status("guest1", refused) or 0
    with namespace(), moved_to("guest1"):
        wait.until("dom0 has refused guest1", lambda: (daemon.status("guest1", refused) or 0) > before)
    for where, other in [("dom0", "guest1"), ("guest1", "dom0")]:
        ipoib.ping(where, other)


def test_many():
    """A hundred connections, one after the other: none is left in the way of the next."""
    port = next(cm.PORTS)
    with lab.running("guest1", f"ucmatose -b {ipoib.ADDRESS['guest1']} -p {port} -c 100") as server:
        wait.until("it listens", cm.listens("guest1", port))
        lab.run("guest2", f"ucmatose -s {ipoib.ADDRESS['guest1']} -p {port} -c 100")
        server.finish()


def test_client_killed():
    """When a program is killed, its peer hears that the connection ended."""
    port = next(cm.PORTS)
    address = ipoib.ADDRESS["guest2"]
    with lab.running("guest2", f"rping -s -a {address} -p {port} -V") as server:
        wait.until("it listens", cm.listens("guest2", port))
        with lab.running("guest1", f"rping -c -a {address} -p {port} -V -v") as client:
            client.until_says("ping data")
            lab.run("guest1", "killall -KILL rping")
        server.process.wait()


def connections():
    return [daemon.counted(name, "connections") for name in ipoib.GUESTS]


def test_counted():
    """dom0 tells how many connections each guest has, while they last."""
    port = next(cm.PORTS)
    address = ipoib.ADDRESS["guest2"]
    before = wait.settled(connections)
    with lab.running("guest2", f"rping -s -a {address} -p {port} -P") as server:
        wait.until("it listens", cm.listens("guest2", port))
        with lab.running("guest1", f"rping -c -a {address} -p {port} -V -v") as client:
            client.until_says("ping data")
            wait.until("both have one more", lambda: connections() == [n + 1 for n in before])
            lab.run("guest1", "killall -KILL rping")
        wait.until("both have as many as before", lambda: connections() == before)
        lab.run("guest2", "killall -KILL rping")
        server.process.wait()


def test_connected_mode():
    """IPoIB of both guests in connected mode, by which large packets go whole; dom0, with datagrams, is still there for both."""
    before = wait.settled(connections)
    with ipoib.connected(*ipoib.GUESTS):
        ipoib.ping("guest1", "guest2")
        wait.until("both have a connection", lambda: all(now > then for now, then in zip(connections(), before)))
        ipoib.ping("guest1", "guest2", "-s", "30000", "-M", "do")
        ipoib.ping("guest2", "guest1", "-s", "65000", "-M", "do")
        for name in ipoib.GUESTS:
            ipoib.ping(name, "dom0")
            ipoib.ping("dom0", name)
    wait.until("the connections have ended", lambda: connections() == before)
    ipoib.ping("guest1", "guest2", "-s", "8000")


BYTES = 32 << 20


def test_connected_file():
    """A file goes from one to the other by TCP, in connected mode: each byte is right."""
    address = ipoib.ADDRESS["guest2"]
    name = ipoib.interface("guest1")
    with ipoib.connected(*ipoib.GUESTS):
        ipoib.ping("guest1", "guest2")
        expected = lab.run("guest1", f"head -c {BYTES} /dev/urandom >/tmp/sent && md5sum </tmp/sent")
        packets = f"cat /sys/class/net/{name}/statistics/tx_packets"
        before = int(lab.run("guest1", packets))
        with tcp.server("guest2", 7099, "socat -u TCP-LISTEN:7099,reuseaddr STDOUT | md5sum") as receiver:
            lab.run("guest1", f"socat -u /tmp/sent TCP:{address}:7099; rm /tmp/sent")
            receiver.finish()
            assert expected in receiver.said()
        assert int(lab.run("guest1", packets)) - before < BYTES // 16384, "packets are larger than those of datagrams"


@contextlib.contextmanager
def again_and_again(where, command):
    """It runs one time after the other, and may fail."""
    with lab.running(where, f"rm -f /tmp/enough; until [ -e /tmp/enough ]; do {command} >/dev/null 2>&1; done; true") as loop:
        try:
            yield
        finally:
            lab.run(where, "touch /tmp/enough; killall -q -KILL rping; true")
        loop.finish()


def test_detached_meanwhile():
    """A vHCA goes, and comes back, while connections are made to it, by the hundred. The module stays as long as anybody uses it. Of a
    connection that one end has lost without a word the other hears nothing, and rping waits for its message for ever."""
    port = next(cm.PORTS)
    command = f"timeout -s KILL 20 rping %s -a {ipoib.ADDRESS['guest2']} -p {port} -C 2"
    with again_and_again("guest2", command % "-s"), again_and_again("guest1", command % "-c"):
        for _ in range(3):
            before = daemon.counted("guest2", "mads-received")
            daemon.until_counted("guest2", "mads-received", before + 8)
            assert not lab.ok("dom0", "rmmod xen-ibgsi")
            ipoib.again("guest2")
            ipoib.up("guest2")
            wait.until("guest2 answers", ipoib.answers("guest1", "guest2"))
    cm.connect("rping", "guest1", "guest2")
    wait.until("no connection is left", lambda: connections() == [0, 0])


@contextlib.contextmanager
def silent_sa():
    """The subnet's administration does not answer, though somebody is there."""
    lab.run("dom0", "kill -STOP $(cat /run/opensm/pid)")
    try:
        yield
    finally:
        lab.run("dom0", "kill -CONT $(cat /run/opensm/pid)")


def test_destroyed_without_sa():
    """A guest whose groups cannot be left is destroyed, and another's vHCA is attached meanwhile: neither waits for the SA."""
    with silent_sa():
        lab.run("dom0", "xl destroy guest2")
        ipoib.again("guest1")
    process.check(lab.LAB, "guest", "start", "guest2", merge=True)
    guest.start_again("guest2")
    for name in ipoib.GUESTS:
        ktest.reload(name, "kverbs=1")
        ipoib.up(name)
    ipoib.ping("guest1", "guest2")
    ipoib.ping("guest2", "dom0")


@pytest.mark.parametrize("case", ["cm-flood", "cm-crowd"])
def test_flood(case):
    """guest2 asks for connections, as fast as it can, nobody or guest1: that makes others meanwhile, and the logs stay short."""
    ipoib.down("guest2")
    lab.run("guest2", "rmmod xen-ibfront")
    try:
        lines = int(lab.run("dom0", f"wc -l <{daemon.LOG}"))
        with process.running(*programs.answering("guest2", "hostile"), case) as flood:
            for where, other in [("guest1", "dom0"), ("dom0", "guest1")]:
                cm.connect("rping", where, other)
            flood.finish()
            assert "@pass" in flood.said()
        assert int(lab.run("dom0", f"wc -l <{daemon.LOG}")) - lines <= 200, "a line for each refusal is 20,000"
    finally:
        guest.restore_device("guest2")
        ktest.reload("guest2", "kverbs=1")
        ipoib.up("guest2")
