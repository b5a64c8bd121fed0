# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What stock tools, and those of the kernel for debugging, say of the device in a guest."""

import re

import pytest

from harness import KERNEL, lab, rdma, trace, wait

WHERE, DEVICE = "guest2", "xenib0"

pytestmark = pytest.mark.usefixtures("guests")


def test_devinfo():
    info = rdma.devinfo(WHERE, DEVICE)
    assert info["state"] == "PORT_ACTIVE"
    assert info["link_layer"] == "InfiniBand"
    assert info["phys_port_cnt"] == "1"
    assert info["port_lid"] != "0"
    assert info["board_id"] == "XEN_VHCA"
    for limit in rdma.LIMITS:
        assert int(info[limit]) > 0, limit
    assert info["gids"]


def test_ibstat():
    said = lab.run(WHERE, "ibstat", DEVICE)
    assert "State: Active" in said, said
    assert re.search(r"CA type: XENIB_MT[0-9]+$", said, re.MULTILINE), said
    assert re.search(r"Hardware version: [0-9a-f]+$", said, re.MULTILINE), said


def test_rdma_resource():
    """The rdma tool sees what processes have."""

    def shown():
        said = lab.run(WHERE, f"rdma resource show qp link {DEVICE}; rdma resource show mr; rdma resource show cq")
        of_program = [
            r"type RC.*state RTS.*comm ibv_rc_pingpong",
            r"mrlen 4096.*comm ibv_rc_pingpong",
            r"cqe .*comm ibv_rc_pingpong",
        ]
        return all(re.search(line, said) for line in of_program)

    command = f"ibv_rc_pingpong -d {DEVICE} -p 18600 -n 10000000"
    with lab.running("guest1", command):
        lab.run("guest1", f"{lab.THERE}/agent await 18600")
        with lab.running(WHERE, f"{command} guest1"):
            wait.until("rdma resource shows the program", shown)


def test_tracepoints():
    """They show each request on the ring with its response."""
    said = trace.of(WHERE, f"ibv_devinfo -d {DEVICE}")
    sent = re.findall(r"xenib_cmd_send: \S+ id=(\d+) op=(\d+) posted=0 data=\d+$", said, re.MULTILINE)
    done = re.findall(r"xenib_cmd_done: \S+ id=(\d+) op=(\d+) status=0 hca_errno=0 error=0$", said, re.MULTILINE)
    assert sent and sorted(sent) == sorted(done), said


@pytest.mark.skipif(KERNEL == "debug", reason="the debug kernel has no dynamic debug")
def test_refusals():
    """Dynamic debug shows what the frontend refuses, with value and bound."""
    mark, switch = "test_refusals begins", "/proc/dynamic_debug/control"
    lab.run(WHERE, f"echo {mark} >/dev/kmsg; echo 'module xen_ibfront +p' >{switch}")
    try:
        lab.run(WHERE, f"{lab.THERE}/forge -d {DEVICE} size-qp")
    finally:
        lab.run(WHERE, f"echo 'module xen_ibfront -p' >{switch}")
    said = lab.run(WHERE, "dmesg").rpartition(mark)[2]
    assert re.search(rf"{DEVICE}: refused: max_send_wr is {2**32 - 1}, at most [0-9]+$", said, re.MULTILINE), said
