# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A vHCA ends under what stands on it: IPoIB, whose packets flow, and a disk by NVMe, which is written. guest1 serves it, guest2 uses it.

KILLS in the environment: how often its worker is killed, 100 unless given.
"""

import contextlib
import os

import pytest

from harness import gathered, guest, ipoib, ktest, lab, leftovers, nvme, rdma, wait

GUEST, TARGET = "guest2", "guest1"
KILLS = int(os.environ.get("KILLS") or 100)
FIRST = min(KILLS, 10)  # before them, which make what is made on first use

pytestmark = [pytest.mark.usefixtures("guests"), pytest.mark.long, pytest.mark.timeout(300)]

WRITE = f"dd if=/dev/urandom of={nvme.DISK} bs=64k count=64 conv=nocreat,notrunc oflag=direct status=none"
WRITERS = f"rm -f /tmp/enough; for i in 0 1 2 3; do until [ -e /tmp/enough ] || ! {WRITE} seek=$((i * 64)); do :; done & done; wait; echo ended"
WRITTEN = f"awk '{{ print $5 }}' /sys/block/{nvme.DISK[5:]}/stat"  # requests


@contextlib.contextmanager
def pinging():
    """Packets in fragments both ways. What is under way when the device goes is lost, and the next ones follow."""
    with lab.running(GUEST, f"ping -q -i 0.02 -s 8000 {ipoib.ADDRESS[TARGET]} 2>/dev/null; echo ended") as pings:
        try:
            yield
            assert "ended" not in pings.said(), "ping has given up"
        finally:
            lab.call(GUEST, "killall ping")


@contextlib.contextmanager
def writing():
    """By four programs, until the disk is gone, or this ends."""
    with lab.running(GUEST, WRITERS) as writers:
        until_busy()
        yield writers
        lab.run(GUEST, "touch /tmp/enough")
        writers.finish()


def until_busy():
    """More packets have come, and more of the disk is written."""
    __tracebackhide__ = True
    packets = f"cat /sys/class/net/{ipoib.interface(GUEST)}/statistics/rx_packets"
    for count in (packets, WRITTEN):
        before = int(lab.run(GUEST, count))
        wait.until("traffic flows", lambda: int(lab.run(GUEST, count)) >= before + 20)


def connect():
    """As after a card's reset: the interface gets its address again, and the disk is connected."""
    wait.until("the disk is gone", lambda: not lab.ok(GUEST, f"test -b {nvme.DISK}"))
    ipoib.up(GUEST)
    nvme.connect(GUEST, TARGET)


# ---- the worker is killed ----

# What a guest does for as long as it runs, without a word from outside, as each word takes as long as a worker's start. When it has
# another vHCA, as after a card's reset, the interface gets its address again, the disk is connected, and is written by four programs until it is gone.
UP = f"""up() {{
	until name=$(ls $net) && index=$(cat $net/$name/ifindex) && [ "$index" ] && [ "$index" != "$last" ]; do sleep 0.1; done 2>/dev/null
	ip address replace $address/24 dev $name && ip link set $name up
	until ip -o link show $name | grep -q LOWER_UP; do sleep 0.1; done
}}
net={ipoib.device(GUEST)}/device/net
"""
LIFE = f"""{UP}address={ipoib.ADDRESS[GUEST]} last= round=0
packets() {{ cat $net/$name/statistics/rx_packets; }}
rm -f /tmp/enough
while :; do
	up
	until ping -c 1 -W 1 {ipoib.ADDRESS[TARGET]} >/dev/null; do :; done
	while [ -e /tmp/wait ]; do sleep 0.1; done
	{{ {nvme.connect_command(TARGET)}; }} || exit
	until [ -b {nvme.DISK} ]; do sleep 0.1; done
	for i in 0 1 2 3; do
		until [ -e /tmp/enough ] || ! {WRITE} seek=$((i * 64)); do :; done 2>/dev/null &
	done
	before=$(packets)
	until [ $(packets) -ge $((before + 20)) ] && [ $({WRITTEN}) -ge 20 ]; do sleep 0.1; done
	echo round $round flows
	wait
	[ ! -e /tmp/enough ] || exit 0
	while [ -b {nvme.DISK} ]; do sleep 0.1; done
	echo round $round has ended
	last=$index round=$((round + 1))
done"""

PID = "awk '$1 == \"pid\" { print $2 }' $file"
KILL = f"""for name in $names; do
	file=/run/xen-ib/$(xl domid $name)-0.status; pid=$({PID}); kill -9 $pid && echo $file $pid
done | while read -r file pid; do
	until new=$({PID}) && [ "$new" ] && [ "$new" != $pid ]; do sleep 0.1; done
done"""


@contextlib.contextmanager
def target_ends_too():
    """It has another vHCA, too, and listens again before the other one connects."""
    index = lab.run(TARGET, f"cat {ipoib.interfaces(TARGET)}/*/ifindex")
    lab.run(GUEST, "touch /tmp/wait")
    yield
    lab.run(TARGET, f"{UP}address={ipoib.ADDRESS[TARGET]} last={index}; up; {nvme.UNLISTEN}; {nvme.LISTEN}")
    lab.run(GUEST, "rm /tmp/wait")


def kill_workers(count):
    """So many times, and each tenth time that of the target, too."""
    with ipoib.reaching([(GUEST, TARGET)]), nvme.served(GUEST, TARGET), pinging(), lab.running(GUEST, LIFE) as life:
        for n in range(count):
            life.until_says(f"round {n} flows")
            with target_ends_too() if n % 10 == 9 else contextlib.nullcontext():
                lab.run("dom0", f"names='{GUEST} {TARGET if n % 10 == 9 else ''}'\n{KILL}")
                life.until_says(f"round {n} has ended")
        life.until_says(f"round {count} flows")
        lab.run(GUEST, "touch /tmp/enough")
        life.finish()
        nvme.compare(GUEST, TARGET)


MACHINES = ["dom0", GUEST, TARGET]
ROOM = 4096  # KiB of a machine's memory; the smallest piece of a kernel's pool has as much
OBJECTS = max(KILLS, 256)  # of a kind that a kernel allocates: one for each kill, or what comes and goes


def at_rest():
    """What there is without any of it."""
    for name in ipoib.GUESTS:
        guest.until_active(name)
    return gathered.counts(), {name: gathered.slabs(name) for name in MACHINES}, {name: gathered.used(name) for name in MACHINES}


def nothing_gathers(before):
    __tracebackhide__ = True
    counts, slabs, used = before

    def as_before():
        counts_now, slabs_now, used_now = at_rest()
        differences = gathered.differences(counts, counts_now)
        for name in MACHINES:
            differences |= {f"{name}: {kind}": more for kind, more in gathered.more_slabs(slabs[name], slabs_now[name], OBJECTS).items()}
            if used_now[name] >= used[name] + ROOM:
                differences[f"{name}: KiB"] = (used[name], used_now[name])
        assert not differences, differences
        return True

    wait.until("all is as it was before", as_before)


@pytest.mark.timeout(900 + 15 * KILLS)
def test_kill_worker_again_and_again():
    """No drain hangs, and nothing gathers."""
    kill_workers(FIRST)
    before = at_rest()
    kill_workers(KILLS)
    nothing_gathers(before)


# ---- the vHCA, or a module, goes ----


@pytest.fixture(scope="module")
def traffic(guests):
    with ipoib.reaching([(GUEST, TARGET)]), nvme.connected(GUEST, TARGET), pinging():
        yield


MOUNTED = "/mnt/disk"
WRITE_FILE = f"while dd if=/dev/zero of={MOUNTED}/large bs=64k count=64 conv=fsync status=none; do echo written; done; echo ended"


def unplug():
    """In mid-traffic, with a file system on the disk. Returns what the HCA has when the target has ended its end, too."""
    with lab.running(GUEST, WRITE_FILE) as writer:
        writer.until_says("written")
        lab.lab("detach", GUEST)
        writer.until_says("ended")
    assert not rdma.exists(GUEST, guest.DEVICE)
    assert not lab.ok(GUEST, f"test -b {nvme.DISK}")
    lab.run(GUEST, f"umount {MOUNTED}")
    wait.until("the target has ended its connections", lambda: not nvme.serves(TARGET))
    left = wait.settled(leftovers.objects_but_pages)
    lab.lab("attach", GUEST)
    connect()
    lab.run(GUEST, f"mount -t ext4 {nvme.DISK} {MOUNTED}")
    assert lab.run(GUEST, f"cat {MOUNTED}/file") == "written before"
    assert nvme.serves(TARGET)
    return left


def test_detached(traffic):
    """Whoever writes to a file is told, and the file system can be unmounted. It is there again when the disk is."""
    ktest.set(TARGET, "xen_ibfront", dma_pool=36)  # what it has with IPoIB: it gives nothing back, so it must not grow between the two
    lab.run(GUEST, f"mkdir -p {MOUNTED}; busybox mke2fs {nvme.DISK} && mount -t ext4 {nvme.DISK} {MOUNTED} && echo written before >{MOUNTED}/file && sync")
    try:
        assert unplug() == unplug()
    finally:
        lab.call(GUEST, f"umount {MOUNTED}")
        ktest.set(TARGET, "xen_ibfront", dma_pool=64)


@pytest.mark.parametrize("command", ["modprobe -r nvme-rdma; modprobe -r ib_ipoib", "rmmod xen-ibfront"])
def test_removed(traffic, command):
    """The modules that use the device, or its own."""
    with writing() as writers:
        lab.run(GUEST, command)
        writers.until_says("ended")
    ktest.reload(GUEST, "kverbs=1")
    connect()
    with writing():
        pass
    nvme.compare(GUEST, TARGET)
