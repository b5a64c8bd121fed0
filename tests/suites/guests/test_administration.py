# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""xen-ib in dom0, beside guests at work: every command, its exit status and its JSON."""

import json
import re

import pytest

from harness import BUILD, daemon, hca, lab, pairs, rdma, wait
from harness.daemon import xen_ib
from harness.traffic import between_guests

pytestmark = [pytest.mark.usefixtures("guests"), pytest.mark.timeout(240)]


def tells(said, *expressions):
    """Each is in a line of what is said."""
    __tracebackhide__ = True
    for expression in expressions:
        assert re.search(expression, said, re.MULTILINE), f"no line with {expression}:\n{said}"


def registration(said):
    """How check says that memory of guests is registered, by HCA."""
    ways = re.findall(r"^(\w+ +mlx5_[01]: memory of guests is .*)", said, re.MULTILINE)
    assert len(ways) == 2, said
    return ways


def test_check():
    queues = ", and their queues are made in such" if daemon.has_queue_dmabufs() else ""
    dmabufs = "registered as dma-bufs" + queues
    said = xen_ib("check")
    tells(said, "^ok +Xen: 4", "^ok +daemon", "^ok +migration: .*; PV guests can be saved", "^ok +mlx5_0: port 1 is 4: ACTIVE", "^ready: 0 problems")
    for function, way in enumerate(registration(said)):
        how = dmabufs if hca.has_odp(function) else "mapped page by page: no on-demand paging"
        assert re.fullmatch(f"ok +mlx5_{function}: memory of guests is {how}", way), way


def test_check_without_dmabufs():
    """What to do for the quicker way to register memory, if the HCA can go it."""
    with daemon.without_dmabufs():
        for function, way in enumerate(registration(xen_ib("check"))):
            assert way.startswith("warning" if hca.has_odp(function) else "ok"), way


@pytest.mark.parametrize("command", ["list", "show", "show guest1 0", "top -n 2 -d 1", "metrics", "check", pytest.param("report", marks=pytest.mark.long)])
def test_json(command):
    """What is printed as JSON is JSON: one text or several."""
    text = lab.run("dom0", f"xen-ib {command} --json")
    assert text
    while text:
        text = text[json.JSONDecoder().raw_decode(text)[1]:].strip()


def test_json_of_guest():
    vhca = json.loads(lab.run("dom0", "xen-ib show guest1 --json"))["vhcas"][0]
    assert (vhca["domid"], vhca["state"]) == (daemon.domid("guest1"), "connected")


def test_json_of_error():
    result = lab.call("dom0", "xen-ib attach nobody hca=mlx5_0 --json")
    assert "nobody" in json.loads(result.err)["error"]


def has_program(said):
    tells(said, "[0-9]+  ib_write_bw", " QP +[1-9]", "QP_CREATE +[1-9]", "memory +[1-9]")
    return True


def test_show():
    with between_guests("ib_write_bw", "-s", 65536, "-D", 60):
        wait.until("the program is shown, and what it has", lambda: has_program(xen_ib("show", "guest1")))
        said = xen_ib("show", "guest1")
        assert not re.search("UAR_ALLOC +E_", said), f"an honest program was refused a doorbell page:\n{said}"
        tells(xen_ib("top", "-n", 1, "-d", 1), "guest1 .*connected")


@pytest.mark.long
def test_events():
    """How long it takes to tell a guest of an event is measured, and completions are counted, also while a guest has nothing else to
    say."""
    pairs.run("guest2")
    pairs.run("guest2", "pingpong/rc-events")
    wait.until("events are counted", lambda: re.search(r"\(event to guest\) +[1-9]", xen_ib("show", "guest2")))
    with between_guests("ib_send_lat", "-e", "-s", 64, "-n", 4000000):
        daemon.until_counted("guest2", "completions", daemon.counted("guest2", "completions") + 1)


def test_metrics():
    """Each line is as Prometheus wants it, each name is described before it is used, and the numbers are those of the status file."""
    described = set()
    for line in xen_ib("metrics").splitlines():
        if line.startswith("# TYPE "):
            described.add(line.split()[2])
        elif not line.startswith("# HELP "):
            assert re.fullmatch(r'[a-z_]+\{([a-z]+="[^"]*",?)*\} [0-9.]+', line)
            assert re.sub(r"(_(bucket|sum|count))?\{.*", "", line) in described, line

    def agree():
        """The daemon writes the file again and again; at rest they are the same."""
        kicks = daemon.counted("guest1", "kicks")
        return re.search(rf'^xenib_kicks_total.*domain="guest1"\}} {kicks}$', xen_ib("metrics"), re.MULTILINE)

    wait.until("metrics and status file agree", agree)


def test_attach():
    """With hca=auto the HCA that has fewer vHCAs. There are grants enough for what the guest may pin; else there is a warning."""
    said = xen_ib("attach", "guest2", "hca=auto,devid=1,max-qp=5")
    tells(said, r"guest2 \([0-9]+\) has vHCA 1: mlx5_1 port 1, connected")
    assert "warning: grants" not in said
    assert rdma.active("guest2", "xenib1")
    xen_ib("attach", "guest2", "hca=mlx5_1,devid=1", status=1)
    xen_ib("detach", "guest2", 1)
    assert not rdma.exists("guest2", "xenib1")
    said = xen_ib("attach", "guest2", "hca=mlx5_1,devid=1,max-mem-bytes=8G")
    tells(said, "warning: grants: guest2 may pin 9.0 GiB, but with 1024 ")
    xen_ib("detach", "guest2", 1)
    assert not re.search("^guest2 +[0-9]+ +1 ", xen_ib("list", "guest2"), re.MULTILINE)


@pytest.mark.parametrize(
    "words, status, why",
    [
        ("attach nobody hca=mlx5_0", 4, "no domain nobody"),
        ("attach guest2 hca=mlx5_9", 1, "no HCA mlx5_9"),
        ("attach guest2 hca=mlx5_0,colour=red", 2, "colour"),
        ("detach guest2 9", 4, ""),
        ("show guest2 9", 4, ""),
        ("list nobody", 4, ""),
        ("set guest2 sl=16", 2, "from 0 to 15, or any"),
        ("set guest2 0 max-qp=3", 2, "none of the keys that can change"),
        ("set guest2 9 sl=1", 4, "no vHCA 9"),
        ("set nobody sl=1", 4, "no domain nobody"),
        ("detach guest2", 2, ""),
        ("colour", 2, ""),
    ],
)
def test_refused(words, status, why):
    tells(xen_ib(*words.split(), status=status), why)


@pytest.mark.long
def test_crowd():
    """Clients that ask much and take no answer are in nobody's way."""
    lab.run(
        "dom0",
        """for i in $(seq 24); do
            { yes show | head -n 20000; sleep 100; } | timeout 100 socat -u - UNIX-CONNECT:%s >/dev/null 2>&1 &
            pids="$pids $!"
        done
        alive() { n=0; for pid in $pids; do ! kill -0 $pid 2>/dev/null || n=$((n + 1)); done; }
        until alive; [ $n -le 16 ]; do sleep 0.2; done
        for i in $(seq 4); do timeout 60 xen-ib list >/dev/null || exit; done
        kill $pids 2>/dev/null
        true"""
        % daemon.SOCKET,
    )
    pairs.run("guest2")


def test_sandbox():
    """The unit test of the sandbox, on a kernel that has Landlock."""
    lab.run("dom0", "mkdir", "-p", lab.THERE)
    lab.put("dom0", BUILD / "backend" / "probe_sandbox", to=lab.THERE)
    lab.run("dom0", f"{lab.THERE}/probe_sandbox --landlock", merge=True)


def test_no_daemon():
    """Others may not ask, and without the daemon there is xenstore."""
    assert lab.run("dom0", f"stat -c %a:%u {daemon.SOCKET}") == "600:0"
    lab.run("dom0", "kill", daemon.supervisor())
    try:
        wait.until("the daemon is gone", lambda: lab.ok("dom0", f"[ ! -e {daemon.SOCKET} ]"))
        tells(xen_ib("list", status=3), "does not run", "^guest1 .*connected")
        for command in ("show", "metrics", "attach guest1 hca=mlx5_0"):
            xen_ib(*command.split(), status=3)
        tells(xen_ib("check", status=6), "problem +daemon")
        tells(xen_ib("report"), "^==== xenstore", '^/local/domain/0/backend/vhca/.*hca = "mlx5_0"')
    finally:
        daemon.start()
