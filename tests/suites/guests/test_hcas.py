# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""HCAs that fail, are lent and taken away, ports that change; and the way back of a vHCA."""

import contextlib
import subprocess

import pytest

from harness import daemon, guest, hca, lab, leftovers, pairs, rdma, wait

pytestmark = [pytest.mark.usefixtures("guests"), pytest.mark.timeout(300)]


# ---- a vHCA of the second HCA ----


def attach_second(name):
    lab.lab("attach", name, "--dev", 1, "hca=mlx5_1")


def second_works(name):
    __tracebackhide__ = True
    lab.run(name, f"{lab.THERE}/neighbour", "-d", "xenib1", "--count", 5, "rounds", merge=True)


def registers_dmabufs(name):
    """What has been registered on its second vHCA."""
    __tracebackhide__ = True
    wait.until(f"dom0 counts registrations of {name}", lambda: daemon.status(name, "command MR_REG", devid=1))
    return daemon.counted(name, "dma-bufs", devid=1) > 0


def second_worker():
    return int(lab.run("dom0", "cat /run/xen-ib/$(xl domid guest2)-1.pid"))


def detach_second(name, *options):
    """It is gone when this returns."""
    __tracebackhide__ = True
    lab.run("dom0", "xen-ib", "detach", name, 1, *options, merge=True)
    assert not rdma.exists(name, "xenib1")


@contextlib.contextmanager
def given_back():
    """Whatever happens, nobody has a vHCA of the second HCA afterwards."""
    try:
        yield
    finally:
        for name in ("guest1", "guest2"):
            if rdma.exists(name, "xenib1"):
                lab.lab("detach", name, "--dev", 1)


@contextlib.contextmanager
def second_in_use():
    """A program of guest2 on its second vHCA, until its input ends."""
    words = [f"{lab.THERE}/neighbour", "--results", "-d", "xenib1", "until-told"]
    try:
        with lab.running("guest2", *words, stdin=subprocess.PIPE) as program:
            program.until_says("working")
            yield program
    finally:
        lab.call("guest2", "pkill -9 -x neighbour")


# ---- tables of the port ----


def table(where, device, what):
    """GIDs or P_Keys, an entry a line."""
    return lab.run(where, f"cd /sys/class/infiniband/{device}/ports/1/{what} && grep . *").splitlines()


@pytest.mark.parametrize("what", ["gids", "pkeys"])
def test_tables(what):
    """The guest reads them many at a time."""
    theirs = table("dom0", "mlx5_0", what)
    assert len(theirs) >= 8
    assert table("guest1", "xenib0", what) == theirs


def guids(where, device):
    return lab.run(where, f"cd /sys/class/infiniband/{device} && cat node_guid sys_image_guid").split()


@pytest.mark.long
def test_node_guid():
    """Each vHCA has one of its own, and the same when it is attached again; the card is dom0's."""
    node, card = guids("dom0", "mlx5_0")
    ours = {name: guids(name, "xenib0")[0] for name in ("guest1", "guest2")}
    assert len({node, *ours.values()}) == 3, (node, ours)
    assert [guids(name, "xenib0")[1] for name in ours] == [card, card]
    shown = lab.run("dom0", "xen-ib show guest2")
    assert f"node GUID: {ours['guest2'].replace(':', '')}" in shown, shown
    lab.lab("detach", "guest2")
    lab.lab("attach", "guest2")
    assert guids("guest2", "xenib0")[0] == ours["guest2"]


@pytest.mark.long
def test_node_guid_chosen():
    with given_back():
        lab.lab("attach", "guest1", "--dev", 1, "hca=mlx5_1", "guid=0216:3e00:00ab:cdef")
        assert guids("guest1", "xenib1")[0] == "0216:3e00:00ab:cdef"


def test_pkeys_chosen():
    """The configuration says which the guest has: of others it reads none, and makes no QP with them."""
    with given_back():
        lab.lab("attach", "guest1", "--dev", 1, "hca=mlx5_1", "pkeys=1-7")
        assert table("guest1", "xenib1", "pkeys")[0] == "0:0x0000"
        assert table("dom0", "mlx5_1", "pkeys")[0] == "0:0xffff"
        result = lab.call("guest1", f"{lab.THERE}/neighbour -d xenib1 --count 1 rounds")
        assert result.status, str(result)
        daemon.until_counted("guest1", "refused QP_MODIFY E_ARG", devid=1)


@pytest.mark.long
def test_pkeys_are_known():
    """Programs read the table again and again, for which dom0 is not asked as long as nothing changes."""

    def ask_port():
        """Asks dom0 for the port; that it was asked is counted, and all before it."""
        before = daemon.counted("guest1", "command PORT_QUERY")
        lab.run("guest1", "cat /sys/class/infiniband/xenib0/ports/1/lid")
        daemon.until_counted("guest1", "command PORT_QUERY", before + 1)

    table("guest1", "xenib0", "pkeys")
    ask_port()
    before = daemon.counted("guest1", "command PKEY_QUERY")
    assert before > 0, "dom0 was never asked for P_Keys"
    for _ in range(2):
        table("guest1", "xenib0", "pkeys")
    ask_port()
    assert daemon.counted("guest1", "command PKEY_QUERY") == before


def manage(lid, prefix, pkey=None):
    """A subnet manager in dom0 sets up the subnet, once. The first HCA has that LID then, the second the next one."""
    more = f" more={pkey} : ALL=full;" if pkey else ""
    lab.run(
        "dom0",
        f"""guid() {{ echo "0x$(cut -d: -f5- /sys/class/infiniband/$1/ports/1/gids/0 | tr -d :)"; }}
        export OSM_CACHE_DIR=$(mktemp -d)
        trap 'rm -r $OSM_CACHE_DIR' EXIT
        cd $OSM_CACHE_DIR || exit
        first=$(guid mlx5_0)
        echo "subnet_prefix {prefix}" >conf
        printf '%s %d %d\\n' $first {lid} {lid} $(guid mlx5_1) {lid + 1} {lid + 1} >guid2lid
        echo "Default=0x7fff : ALL=full;{more}" >partitions
        timeout 60 opensm -F conf -P partitions -g $first -f log -o >out 2>&1 && grep -q 'SUBNET UP' log || {{ cat out log; exit 1; }}""",
        merge=True,
    )


def port_is(where, device, lid, prefix, pkey):
    is_lid, gid, is_pkey = lab.run(where, f"cd /sys/class/infiniband/{device}/ports/1 && cat lid gids/0 pkeys/1").splitlines()
    return (is_lid, is_pkey) == (lid, pkey) and gid.startswith(f"{prefix}:")


@pytest.mark.long
def test_port():
    """What a cable and a subnet manager do to the port of dom0's HCA is told to the guest, and can be seen there.
    Of other GIDs Linux tells no program on InfiniBand: ib_cache_event_task() in core/cache.c keeps that event for itself."""
    try:
        with lab.running("guest2", "stdbuf", "-oL", "ibv_asyncwatch", "-d", "xenib0") as watch:
            watch.until_says("async event FD")
            with hca.link_down():
                watch.until_says("PORT_ERR")
            watch.until_says("PORT_ACTIVE")
            manage(5, "0xfe80000000000001", "0x0123")
            for event in ("LID_CHANGE", "PKEY_CHANGE", "CLIENT_REREGISTER"):
                watch.until_says(event)
        other = ("0x5", "fe80:0000:0000:0001", "0x8123")
        assert port_is("dom0", "mlx5_0", *other)
        wait.until("the guest sees it", lambda: port_is("guest2", "xenib0", *other))
        pairs.run("guest2")
    finally:
        manage(1, "0xfe80000000000000")
    wait.until("the port is as it was", lambda: port_is("guest2", "xenib0", "0x1", "fe80:0000:0000:0000", "0x0000"))
    pairs.run("guest2")


# ---- an HCA that breaks, is lent, is taken away ----


@pytest.mark.long
def test_fatal():
    """The firmware of the first HCA crashes. Those who use it are told, and have it again; who uses the other one does not notice."""
    with given_back():
        attach_second("guest1")
        attach_second("guest2")
        with second_in_use() as neighbour:
            worker = second_worker()
            with lab.running("guest1", f"{lab.THERE}/events", "--verbose", "-d", "xenib0", "-D", "xenib1", "device-fatal") as events:
                events.until_says("waiting: device fatal")
                hca.fault("fatal", "on", "--function", 0)
                try:
                    events.finish()
                finally:
                    hca.fault("fatal", "off", "--function", 0)
            # The supervisor asks the HCA for each of its doorbell pages first, as guests may have mapped some of before.
            for name in ("guest1", "guest2"):
                wait.until(f"{name} has its device again", lambda: guest.active(name), seconds=3 * wait.SECONDS)
            pairs.run("guest2")
            neighbour.end_input()
            neighbour.finish()
            assert "@pass until-told" in neighbour.said(), "the program on the other HCA was disturbed"
            assert second_worker() == worker, "the other HCA's worker is another one"


def told_from_interrupt():
    """Whoever connected last."""
    return "events from the interrupt" in lab.run("dom0", f"grep connected: {daemon.LOG} | tail -n 1")


def lend(name):
    """To a guest that works with it, and gives it back. Whether it registers dma-bufs, and is told of completions from the interrupt."""
    attach_second(name)
    second_works(name)
    lab.run(name, f"{lab.THERE}/events", "-d", "xenib1", "-D", "xenib1", "--count", 300, "storm", "storm-ping-pong", merge=True)
    how = registers_dmabufs(name), told_from_interrupt()
    detach_second(name)
    return how


@pytest.mark.long
def test_lend():
    """An HCA for one guest, and then for another, by a worker that has xen-ibgrant and by one that maps memory and tells of events.
    For the first one the driver makes what it keeps."""
    with given_back():
        assert lend("guest2") == (hca.has_odp(1), True)
        before = leftovers.objects_but_pages()
        with daemon.without_dmabufs():
            assert lend("guest1") == (False, False)
        leftovers.until_objects_but_pages_are("guest1 has returned all", before)
        assert lend("guest2") == (hca.has_odp(1), True)
        leftovers.until_objects_but_pages_are("guest2 has returned all", before)
    pairs.run("guest2")


@pytest.mark.long
def test_force():
    """A process that uses the device and does nothing about it, and goes on as if it were there when it is gone."""
    before = leftovers.objects_but_pages()
    with given_back():
        attach_second("guest2")
        with second_in_use() as program:
            lab.run("guest2", "pkill -STOP -x neighbour")
            detach_second("guest2", "--force")
            leftovers.until_objects_but_pages_are("all is returned", before)
            assert lab.ok("guest2", "pgrep -x neighbour >/dev/null"), "the process has ended"
            attach_second("guest2")
            second_works("guest2")
            lab.run("guest2", "pkill -CONT -x neighbour")
            program.end_input()
            program.process.wait()
            said = program.said()
            assert "@pass until-told" not in said, "it did not notice"
            assert "@fail until-told" in said, "it did not come to its end"
            assert "died of signal" not in said, "a doorbell killed it"


@pytest.mark.long
def test_stuck():
    """A guest that does not let go of the device: a frontend that looks at nothing."""
    pairs.run("guest2")
    lab.run("guest2", "rmmod xen-ibfront")
    try:
        with guest.flood("guest2", "nothing-at-all"):
            before = leftovers.objects_but_pages()
            daemon.xen_ib("detach", "guest2", 0, "--wait", 3, status=5)
            daemon.xen_ib("detach", "guest2", 0, "--force")
            lab.run("dom0", "! xenstore-exists /local/domain/0/backend/vhca/$(xl domid guest2)/0")
            leftovers.until_objects_but_pages_are("all is returned", before)
    finally:
        guest.load_frontend("guest2")
        lab.lab("attach", "guest2")
    pairs.run("guest2")


# ---- the way back ----


def lines_of_daemon(after=0):
    """What its log says behind so many lines, by whomever."""
    lines = lab.run("dom0", f"tail -n +{after + 1} {daemon.LOG}").splitlines()
    return [line.split(": ", 2)[-1] for line in lines]


def registrations():
    return int(lab.run("guest2", "dmesg | grep -c 'registered as xenib0'"))


@pytest.mark.long
def test_back():
    """A worker that was killed is followed at once, and the first try succeeds in dom0 and in the guest, however often that happens.
    Nothing that takes its time is waited for: neither processes that outlive the worker, nor the end of a pause. A worker that dies
    in its first second was of no use, and is none of this."""
    for _ in range(3):
        worker = daemon.worker("guest2")
        wait.until("the worker was of use", lambda: int(lab.run("dom0", f"ps -o etimes= -p {worker}")) > 1)
        log, before = len(lines_of_daemon()), registrations()
        lab.run("dom0", "kill", "-9", worker)
        guest.until_new_worker("guest2", worker)
        said = lines_of_daemon(log)
        path = f"/local/domain/0/backend/vhca/{daemon.domid('guest2')}/0"
        assert said[0] == f"worker {worker} of {path} was killed by signal 9; the next one comes at once", said
        assert len(said) == 2 and said[1].startswith("connected: mlx5_0"), said
        assert registrations() == before + 1
    pairs.run("guest2")


@pytest.mark.long
def test_without_odp():
    """mlx5 registers no dma-bufs of such an HCA: what guests register there is mapped."""
    with hca.without_odp(), given_back():
        # The supervisor may look for doorbell pages first that guests had before the driver was bound again: it tries again.
        lab.call("dom0", "xen-ib attach guest1 hca=mlx5_1,devid=1")
        wait.until("guest1 has its second device", lambda: rdma.active("guest1", "xenib1"))
        lab.run("guest1", f"{lab.THERE}/integrity", "-d", "xenib1", "-D", "xenib1", "rc-*", "atomics", "mr-*", "mw-*", merge=True)
        assert not registers_dmabufs("guest1")
        if hca.has_odp(0):
            pairs.run("guest2")
            daemon.until_counted("guest1", "dma-bufs")
    pairs.run("guest2")


@pytest.mark.long
@pytest.mark.parametrize("personality, device", [("xenib", "xenib1"), ("mlx5", guest.MLX5)])
def test_moderation(personality, device):
    """Of completion events, by an HCA that has it; the guest is told what it may ask for."""
    with hca.moderating():
        try:
            lab.call("dom0", f"xen-ib attach guest1 hca=mlx5_1,devid=1,personality={personality}")
            wait.until("guest1 has its second device", lambda: rdma.active("guest1", device))
            said = lab.run("guest1", f"{lab.THERE}/events", "-d", device, "-D", device, "cq-*", merge=True)
            assert " 0 skipped" in said, said
        finally:
            lab.lab("detach", "guest1", "--dev", 1)
