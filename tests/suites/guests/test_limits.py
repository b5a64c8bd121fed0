# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Limits of a vHCA's configuration, and how much it bears."""

import contextlib
import json
import re
import subprocess

import pytest

from harness import BUILD, daemon, guest, hca, lab, rdma, wait

pytestmark = [pytest.mark.usefixtures("guests"), pytest.mark.timeout(240)]


@contextlib.contextmanager
def second_vhca(*limits):
    """guest2's xenib1, with limits."""
    try:
        lab.lab("attach", "guest2", "--dev", 1, "hca=mlx5_1", *limits)
        yield
    finally:
        lab.lab("detach", "guest2", "--dev", 1)


def exhaust(where, *words):
    __tracebackhide__ = True
    return lab.run(where, f"{lab.THERE}/exhaust", *words, merge=True)


def test_refused():
    """Each kind of object: as many as allowed, and then ENOMEM, counted in dom0."""
    limits = "ctx=3 pd=5 mr=70 cq=6 qp=4 srq=2 ah=9 mcast=3".split()
    with second_vhca(*(f"max-{limit}" for limit in limits), "max-mem-bytes=4194304"):
        exhaust("guest2", "-d", "xenib1", *limits, "bytes=4194304")
        # Seven eighths of max-mem-bytes
        assert re.search(r"max_mr_size:.*0x380000$", lab.run("guest2", "ibv_devinfo -v -d xenib1"), re.MULTILINE)
        for op in "CTX_OPEN PD_ALLOC MR_REG CQ_CREATE QP_CREATE SRQ_CREATE AH_CREATE MCAST_ATTACH".split():
            wait.until(f"{op} is counted", lambda: daemon.status("guest2", f"refused {op} E_LIMIT", 1))


def test_multicast():
    """guest2 puts as many QPs into a group as it can, of which the HCA takes 128: others can still join it."""
    with lab.running("guest2", f"{lab.THERE}/exhaust", "-d", "xenib0", "--hold", "mcast=1000", stdin=subprocess.PIPE) as program:
        program.until_says("holding")
        exhaust("guest1", "-d", "xenib0", "--at-least", "mcast=1")
        lab.run("dom0", "mkdir", "-p", lab.THERE)
        lab.put("dom0", BUILD / "tests" / "programs" / "verbs" / "exhaust", to=lab.THERE)
        exhaust("dom0", "-d", "mlx5_0", "--at-least", "mcast=1")
        assert len(re.findall("^mcast: 8 made, then: ", program.said(), re.MULTILINE)) == 1
        wait.until("8 are counted", lambda: daemon.status("guest2", "object multicast") == 8)
        program.end_input()
        program.process.wait()


# ---- what is imposed on QPs ----

PORT = 18795
HCA_RATE_2_5 = 7  # as mlx5 has it


@contextlib.contextmanager
def connected(device, *words):
    """A program's RC QPs in the second HCA, two of which are connected: to each other."""
    command = ["ibv_rc_pingpong", "-d", device, "-p", PORT, "-n", 2000000000, *words]
    try:
        with lab.running("guest2", *command), contextlib.ExitStack() as stack:
            lab.run("guest2", f"{lab.THERE}/agent", "await", PORT)
            stack.enter_context(lab.running("guest2", *command, "localhost"))
            wait.until("it is connected", lambda: len(rts()) == 2)
            yield rts()
    finally:
        lab.call("guest2", "pkill -9 -x ibv_rc_pingpong")


def rts():
    rows = hca.ask("list", "qp", "--function", 1)["qp"]
    return [row for row in rows if row["transport"] == "RC" and row["state"] == "RTS"]


def values(rows, *names):
    """Of these columns, if all rows have the same."""
    found = {tuple(row[name] for name in names) for row in rows}
    assert len(found) == 1, rows
    return found.pop()


PATH = ["sl", "timeout", "rnr_timer", "rd_atomic", "dest_rd_atomic"]
IMPOSED = "sl=3,max-rd-atomic=4,max-qp-wr=600,min-timeout=18,min-rnr-timer=20,ud=0"


@pytest.mark.long
@pytest.mark.parametrize("personality, device", [("xenib", "xenib1"), ("mlx5", guest.MLX5)])
def test_imposed(personality, device):
    """Stock programs ask for SL 9, timeout 14, RNR timer 12; the HCA has what is imposed. It changes for QPs that are made later."""
    with second_vhca(f"personality={personality}", IMPOSED):
        info = rdma.devinfo("guest2", device)
        assert (info["max_qp_wr"], info["max_qp_rd_atom"], info["max_qp_init_rd_atom"]) == ("600", "4", "4"), info
        with connected(device, "-l", 9) as rows:
            assert values(rows, *PATH) == (3, 18, 20, 1, 1)
            said = lab.run("dom0", "xen-ib", "set", "guest2", 1, "sl=5,min-timeout=any,min-rnr-timer=any,max-rd-atomic=1", merge=True)
            assert "vHCA 1: sl=5,max-rd-atomic=1,max-qp-wr=600,ud=0; for QPs that are connected from now on" in said
            assert values(rts(), *PATH) == (3, 18, 20, 1, 1)
        with connected(device, "-l", 9) as rows:
            assert values(rows, *PATH) == (5, 14, 12, 1, 1)
        result = lab.call("guest2", "ibv_ud_pingpong", "-d", device, merge=True)
        assert result.status and "Couldn't create QP" in result.out, str(result)
        wait.until("it is counted", lambda: daemon.status("guest2", "refused QP_CREATE E_UNSUPPORTED", devid=1))
        shown = json.loads(lab.run("dom0", "xen-ib show --json guest2 1"))["vhcas"][0]
        assert shown["imposed"] == shown["in_force"] == {"sl": "5", "max-rd-atomic": "1", "max-qp-wr": "600", "ud": "0"}
        lab.run("dom0", "xen-ib set guest2 1 sl=any,ud=1")
        with connected(device, "-l", 9) as rows:
            assert values(rows, "sl") == (9,)


def bandwidth(device):
    """Of RDMA writes of 64 KiB, by a program with one QP: Gb/s."""
    command = ["ib_write_bw", "-d", device, "-p", PORT, "-F", "--no_ddp", "-s", 65536, "-n", 3000, "--report_gbits"]
    with lab.running("guest2", *command):
        lab.run("guest2", f"{lab.THERE}/agent", "await", PORT)
        said = lab.run("guest2", *command, "localhost", merge=True)
    return float(re.search(r"^ *65536 +\d+ +\S+ +(\S+)", said, re.MULTILINE)[1])


@pytest.mark.long
def test_rate():
    """A QP sends no faster than its static rate. Of one that the HCA does not have, no QP is made."""
    with second_vhca("qp-rate=2.5G"):
        with connected("xenib1") as rows:
            assert values(rows, "stat_rate") == (HCA_RATE_2_5,)
        assert bandwidth("xenib1") < 2.6
        lab.run("dom0", "xen-ib set guest2 1 qp-rate=any")
        with connected("xenib1") as rows:
            assert values(rows, "stat_rate") == (0,)
        lab.run("dom0", "xen-ib set guest2 1 qp-rate=14G")
        with lab.running("guest2", "ibv_rc_pingpong", "-d", "xenib1", "-p", PORT) as server:
            lab.run("guest2", f"{lab.THERE}/agent", "await", PORT)
            result = lab.call("guest2", "ibv_rc_pingpong", "-d", "xenib1", "-p", PORT, "localhost", merge=True)
            server.process.wait()
            assert result.status and "Failed to modify QP to RTR" in server.said(), f"{result}\n{server.said()}"
        assert not rts()
        wait.until("it is counted", lambda: daemon.status("guest2", "refused QP_MODIFY E_UNSUPPORTED", devid=1))


def victim(*words):
    __tracebackhide__ = True
    return lab.run("guest2", f"{lab.THERE}/victim", "-d", "xenib1", *words, "registers", merge=True)


def test_largest_region():
    """What the device says of the largest region is true, beside queues to use it with."""
    with second_vhca("max-mem-bytes=33554432"):
        victim("--results")


def commands(expression):
    """How many commands of these names there have been on the second vHCA."""
    return sum(int(count) for count in re.findall(rf"^command (?:{expression}) +(\d+)", daemon.status_file("guest2", 1), re.MULTILINE))


def commands_with_pages(size, times):
    """Registers so much so often, and returns how many commands have told the backend of pages."""
    before, closed = commands("UMEM_CREATE|UMEM_ADD"), commands("CTX_CLOSE")
    victim("--max-size", size, "--count", times)
    # The last command of a process is in the status file, and so are all before it.
    wait.until("its end is counted", lambda: commands("CTX_CLOSE") > closed)
    return commands("UMEM_CREATE|UMEM_ADD") - before


@pytest.mark.long
def test_registered_again():
    """A region that is registered again costs no more than the MR, however large it is: here 272 MiB, 68 commands' worth of pages."""
    with second_vhca("max-mem-bytes=402653184", "max-mr-bytes=402653184"):
        once = commands_with_pages(285212672, 1)
        assert once >= 68
        assert commands_with_pages(285212672, 3) == once


@pytest.mark.long
def test_many_qps():
    exhaust("guest1", "-d", "xenib0", "--at-least", "qp=500")


@pytest.mark.long
def test_many_mrs():
    exhaust("guest1", "-d", "xenib0", "--at-least", "mr=2000")


@pytest.mark.long
def test_many_processes():
    exhaust("guest1", "-d", "xenib0", "--processes", 64)
