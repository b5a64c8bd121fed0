# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Connections by rdma_cm, over the interfaces of harness/ipoib.py: a server in one machine, a client in another."""

import contextlib
import itertools
import re

from harness import ipoib, lab, wait
from harness.ipoib import ADDRESS

OTHER = "10.9.0.77"  # that nobody has, unless a test gives it to somebody

PORTS = itertools.count(7100)  # one after the other, as what has just ended may still have its own

# A server and its client; {address} is the server's, {port} that of both.
PROGRAMS = {
    "rping": ("rping -s -a {address} -p {port} -C 10 -V", "rping -c -a {address} -p {port} -C 10 -V -v"),
    "ucmatose": ("ucmatose -b {address} -p {port}", "ucmatose -s {address} -p {port}"),
    "udaddy": ("udaddy -b {address}", "udaddy -s {address}"),  # with a port of its own
    "rstream": ("rstream -b {address} -p {port} -S 4096 -I 20", "rstream -s {address} -p {port} -S 4096 -I 20"),
    "ib_send_lat": ("ib_send_lat -R -p {port} -n 100", "ib_send_lat -R -p {port} -n 100 {address}"),
}
MORE_PROGRAMS = {
    "cmtime": ("cmtime -b {address} -p {port} -c 20", "cmtime -s {address} -p {port} -c 20"),
    "rdma_client": ("rdma_server -s {address} -p {port}", "rdma_client -s {address} -p {port}"),
    "rdma_xclient": ("rdma_xserver -p {port} -c x", "rdma_xclient -s {address} -p {port} -c x"),  # by XRC
    "riostream": ("riostream -b {address} -p {port} -S 65536 -I 20", "riostream -s {address} -p {port} -S 65536 -I 20"),
    "ib_atomic_lat": ("ib_atomic_lat -R -p {port} -n 100", "ib_atomic_lat -R -p {port} -n 100 {address}"),
}
OWN_PORTS = {"udaddy": 7174}


def listens(where, port):
    """Somebody listens at the port."""
    return lambda: re.search(rf":{port}\b", lab.run(where, "rdma resource show cm_id"))


@contextlib.contextmanager
def listening(where, port, command):
    """A server, once it listens."""
    with lab.running(where, command) as process:
        wait.until(f"somebody listens at {port} in {where}", listens(where, port))
        yield process


def server(program, where, port, address=None):
    """That of a program, which is one of one connection."""
    command = (PROGRAMS | MORE_PROGRAMS)[program][0].format(address=address or ADDRESS[where], port=port)
    return listening(where, OWN_PORTS.get(program, port), command)


def client(program, where, address, port):
    """It connects, and succeeds. Returns what it says."""
    __tracebackhide__ = True
    command = (PROGRAMS | MORE_PROGRAMS)[program][1].format(address=address, port=port)
    # rping ends with 255, by which "lab run" means that the machine does not answer.
    return lab.run(where, f"{command} || exit 1", merge=True)


def connect(program, where, other):
    """From where to other."""
    __tracebackhide__ = True
    port = next(PORTS)
    with server(program, other, port) as process:
        said = client(program, where, ADDRESS[other], port)
        process.finish()
    return said


def connect_both_ways(*pairs):
    """Each of a pair to the other, whom it finds by IPoIB."""
    __tracebackhide__ = True
    for where, other in (*pairs, *(pair[::-1] for pair in pairs)):
        ipoib.ping(where, other)
        connect("rping", where, other)


def connect_all(*pairs):
    """From where to other, for each of PAIRS. All others listen at the same port number at once."""
    __tracebackhide__ = True
    port = next(PORTS)
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(server("rping", other, port)) for _, other in pairs]
        for where, other in pairs:
            said = client("rping", where, ADDRESS[other], port)
            assert said.count("ping data") == 10, f"from {where} to {other}: {said}"
        for process in servers:
            process.finish()


# ---- by GIDs, without IP addresses ----


def ids(where):
    """How many it has. rdma does not show by what address an id listens that has a GID."""
    return sum(map(int, re.findall(r"cm_id (\d+)", lab.run(where, "rdma resource"))))


@contextlib.contextmanager
def gid_server(where, port):
    """Of one connection, that listens to the GID of its device."""
    before = ids(where)
    with lab.running(where, f"ucmatose -f gid -b {ipoib.gid(where)} -p {port}") as process:
        wait.until(f"ucmatose listens in {where}", lambda: ids(where) > before)
        yield process


def gid_client(where, gid, port):
    """It connects, and succeeds."""
    __tracebackhide__ = True
    lab.run(where, f"ucmatose -f gid -s {gid} -p {port} -b {ipoib.gid(where)}", merge=True)


def gid_service(port):
    """Which service's id a server at the port has."""
    return 0x1060000 + port


# ---- groups ----

GROUPS = (f"239.9.7.{n}" for n in itertools.count(1))


def multicast(where, other):
    """From where to a group that other has joined."""
    __tracebackhide__ = True
    group = next(GROUPS)
    with lab.running(other, f"stdbuf -oL mckey -b {ADDRESS[other]} -m {group}") as member:
        member.until_says("joined")
        lab.run(where, f"mckey -s -b {ADDRESS[where]} -m {group}", merge=True)
        member.finish()
        assert "test complete" in member.said(), member.said()
