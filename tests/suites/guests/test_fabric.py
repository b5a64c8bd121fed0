# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What goes on in guests while something happens to the fabric, in mid-traffic of what stands on it: the subnet manager ends, and another
one starts; the link is lost, and is back. A managed switch joins the HCAs, so a port whose link is back waits for the manager."""

import contextlib
import re

import pytest

from harness import cm, daemon, guest, hca, ipoib, ktest, lab, leftovers, nvme, rdma, tcp, wait

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("interfaces"), pytest.mark.timeout(300)]

CLIENT, SERVER = "guest2", "guest1"
PORT = 7099
POOL_MIB = 36  # of guests' kernels, which IPoIB needs half of. It gives nothing back, so it must not grow in the midst of a test.


@pytest.fixture(scope="module")
def interfaces(guests):
    with hca.managed(), ipoib.reaching([(CLIENT, SERVER), ("dom0", CLIENT)]):
        for name in ipoib.GUESTS:
            ktest.set(name, "xen_ibfront", dma_pool=POOL_MIB)
        yield


# ---- what happens ----


def active():
    return all(rdma.active(name, ipoib.HCA.get(name, guest.DEVICE)) for name in ("dom0", CLIENT, SERVER))


def manager_starts_again(goes_on):
    """Nothing that is there needs it, so traffic does not wait for the next one."""
    lab.run("dom0", "/lab/subnet-manager stop")
    try:
        goes_on("without a manager")
    finally:
        lab.run("dom0", "/lab/subnet-manager start")
    goes_on("with the next manager")


def link_is_lost(goes_on):
    """Of guests and dom0, whose port it is. Two guests of a port do not reach each other without its link either."""
    with hca.link_down():
        for name in (CLIENT, SERVER):
            wait.until(f"{name}'s port is down", lambda: not rdma.active(name, guest.DEVICE))
    wait.until("the port is up", active)
    goes_on("with the link")


EVENTS = [manager_starts_again, link_is_lost]


# ---- what goes on ----


@contextlib.contextmanager
def nothing_left():
    """The HCA has the objects that it had, and dom0 counts as many connections."""
    before = wait.settled(lambda: (leftovers.objects_but_pages(), connections()))
    yield
    wait.until("the connections have ended", lambda: connections() == before[1])
    leftovers.until_objects_but_pages_are("no object is left in the HCA", before[0])


def connections():
    return [daemon.counted(name, "connections") for name in ipoib.GUESTS]


def more_of(program, pattern):
    """A function that waits until the program has said more lines of this kind."""

    def count():
        return len(re.findall(pattern, program.said(), re.MULTILINE))

    def goes_on(when):
        before = count()
        wait.until(f"it goes on {when}", lambda: count() > before + 5)

    return goes_on


@pytest.mark.parametrize("event", EVENTS)
def test_tcp(event):
    """A stream by IPoIB, of numbered lines: it goes on where it was, and each comes once."""
    send = "i=0; until [ -e /tmp/enough ]; do i=$((i + 1)); echo line $i; sleep 0.05; done"
    listener = f"socat -u TCP-LISTEN:{PORT},reuseaddr STDOUT"
    with nothing_left(), tcp.server(SERVER, PORT, listener) as server:
        command = f"rm -f /tmp/enough; {{ {send}; }} | socat -u - TCP:{ipoib.ADDRESS[SERVER]}:{PORT}"
        with lab.running(CLIENT, command) as client:
            goes_on = more_of(server, "^line ")
            goes_on("at first")
            event(goes_on)
            lab.run(CLIENT, "touch /tmp/enough")
            client.finish()
        server.finish()
        lines = server.said().split("\n")[:-1]
    assert lines == [f"line {n}" for n in range(1, len(lines) + 1)]


@contextlib.contextmanager
def connection():
    """A client that sends messages by a connection of rdma_cm until it is killed, or the connection ends; and its server."""
    port = next(cm.PORTS)
    words = f"-a {ipoib.ADDRESS[SERVER]} -p {port} -V"
    with lab.running(SERVER, f"rping -s {words}") as server:
        wait.until("it listens", cm.listens(SERVER, port))
        with lab.running(CLIENT, f"rping -c {words} -v") as client:
            client.until_says("ping data")
            yield client, server


@pytest.mark.parametrize("event", EVENTS)
def test_rdma_cm(event):
    """A connection goes on, whose messages the HCA repeats; and others can be made."""
    with nothing_left(), connection() as (client, server):
        event(more_of(client, "ping data"))
        cm.connect("rping", CLIENT, SERVER)
        lab.run(CLIENT, "killall -KILL rping")
        server.process.wait()


def test_rdma_cm_ends():
    """The link is lost for longer than the HCA repeats a message. Who has sent it is told; what Linux then tells the other one, once, is
    lost, so that one waits until it is killed. When the link is back, others can be made."""
    with nothing_left(), connection() as ends:
        with hca.link_down():
            wait.until("one has noticed", lambda: any(end.process.poll() is not None for end in ends))
        assert "completion" in "".join(end.said()[-1000:] for end in ends)
        wait.until("the port is up", active)
        for name in ipoib.GUESTS:
            lab.call(name, "killall -q -KILL rping")
        ipoib.ping(CLIENT, SERVER)
        cm.connect("rping", CLIENT, SERVER)


@pytest.mark.parametrize("event", EVENTS)
def test_nvme(event):
    """A disk is written: without a word to who writes, however long it takes until the target has been connected again. It is there then
    what was written."""
    write = f"rm -f /tmp/enough; until [ -e /tmp/enough ]; do dd if=/dev/urandom of={nvme.DISK} bs=64k count=8 oflag=direct status=none || exit 1; echo written; done"
    with nvme.connected(CLIENT, SERVER):
        pass  # the kernel keeps the CQs of such connections for the next
    with nothing_left(), nvme.connected(CLIENT, SERVER):
        with lab.running(CLIENT, write) as program:
            goes_on = more_of(program, "^written")
            goes_on("at first")
            event(goes_on)
            lab.run(CLIENT, "touch /tmp/enough")
            program.finish()
        nvme.compare(CLIENT, SERVER)


# ---- partitions ----

PARTITIONS = "Default=0x7fff, ipoib: ALL=full; other=0x1, ipoib: ALL=full;"
PARTITIONS_OF_OPENSM = "/etc/opensm/partitions.conf"
KEY, INDEX = "0x8001", 1  # of the other one, in the port's table
IN_PARTITION = {where: address.replace("10.9.0.", "10.9.1.") for where, address in ipoib.ADDRESS.items()}


@pytest.fixture(scope="module")
def partition(interfaces):
    """All of the fabric are in another partition, too, but CLIENT, which is in no more than that one; and have interfaces in it."""
    manager = "/lab/subnet-manager stop; {}; /lab/subnet-manager start"
    lab.run("dom0", manager.format(f"mkdir -p /etc/opensm; echo '{PARTITIONS}' >{PARTITIONS_OF_OPENSM}"))
    try:
        lab.lab("detach", CLIENT)
        lab.lab("attach", CLIENT, f"pkeys={INDEX}")
        ipoib.load(CLIENT)
        for where in ("dom0", CLIENT, SERVER):
            key = f"{ipoib.device(where)}/ports/1/pkeys/{INDEX}"
            wait.until(f"{where} has the key", lambda: lab.run(where, f"cat {key}") == KEY)
            interface_in_partition(where)
        yield
    finally:
        for where in ("dom0", SERVER):
            name = ipoib.interface(where)
            lab.call(where, f"echo {KEY} >/sys/class/net/{name}/delete_child")
        lab.run("dom0", manager.format(f"rm {PARTITIONS_OF_OPENSM}"))
        lab.lab("detach", CLIENT)
        lab.lab("attach", CLIENT)
        ipoib.up(CLIENT)


def interface_in_partition(where):
    """Beside that of the default partition, which does not run if the machine is not in that."""
    parent = ipoib.interface(where)
    name = f"{parent}.{KEY[2:]}"
    lab.run(where, f"ip link set {parent} up; echo {KEY} >/sys/class/net/{parent}/create_child")
    lab.run(where, f"ip address add {IN_PARTITION[where]}/24 dev {name} && ip link set {name} up")
    wait.until(f"{where} has joined", lambda: ipoib.joined(where, name))


@pytest.mark.parametrize("where, other", [("dom0", CLIENT), (SERVER, CLIENT), (CLIENT, SERVER)])
def test_partition(partition, where, other):
    """IPoIB, and rdma_cm by its addresses."""
    wait.until(f"{other} answers {where}", ipoib.answers(where, other, IN_PARTITION))
    port = next(cm.PORTS)
    with cm.server("rping", other, port, IN_PARTITION[other]) as server:
        assert cm.client("rping", where, IN_PARTITION[other], port).count("ping data") == 10
        server.finish()
    assert not ipoib.joined(CLIENT, ipoib.interface(CLIENT))
