# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What gathers in dom0 and the HCA when things come and go: counts that have to be the same after many rounds."""

from harness import daemon, lab, leftovers

# How many KiB the daemon may have more at the end: pages are not counts, malloc() keeps some.
MEMORY_ROOM = 512


def counts():
    """What must be the same. Doorbell pages belong to domains, and only some guests of those that come and go need another one. Programs
    may register memory and give it back all the time: the least of ten counts."""
    counts = [leftovers.objects_but_pages() for _ in range(10)]
    least = {kind: min(count[kind] for count in counts) for kind in counts[0] if all(kind in count for count in counts)}
    said = lab.run(
        "dom0",
        """pids=$(pgrep "^xen-ib") && cd /proc || exit
        set -- $pids
        echo $# processes
        echo $(/usr/lib/xen-4.20/bin/lsevtchn 0 | wc -l) event-channels
        echo $(xenstore-ls -f | grep -c vhca) nodes
        echo $(for pid in $pids; do ls $pid/fd; done | wc -l) descriptors
        echo $(ls /run/xen-ib | wc -l) files
        echo $(for pid in $pids; do cat $pid/status; done | awk "/^RssAnon/ { kib += \\$2 } END { print kib }") memory""",
    )
    others = {name: int(number) for number, name in map(str.split, said.splitlines())}
    everything = {**least, **others, "grants": daemon.grants_at_rest("guest1", "guest2")}
    assert all(everything.values()), everything
    return everything


def differences(before, now):
    return {
        name: (before.get(name), now.get(name))
        for name in {*before, *now}
        if before.get(name) != now.get(name) and not (name == "memory" and now[name] <= before[name] + MEMORY_ROOM)
    }


# What a kernel has for itself, and programs have that is not a file: a page that nobody frees is seen here, whoever has it.
USED = """sync; echo 3 >/proc/sys/vm/drop_caches
awk '{ kib[$1] = $2 } END { print kib["MemTotal:"] - kib["MemFree:"] - kib["Buffers:"] - kib["Cached:"] - kib["SReclaimable:"] }' /proc/meminfo"""


def used(where):
    """KiB of a machine's memory, the least of three looks."""
    return min(int(lab.run(where, USED)) for _ in range(3))


# Caches that a CPU has some objects of are emptied first, so that counts are of what is allocated.
SLABS = """for file in /sys/kernel/slab/*/shrink; do echo 1 >$file; done; sync; echo 3 >/proc/sys/vm/drop_caches
for file in /sys/kernel/slab/*/shrink; do echo 1 >$file; done
awk 'NR > 2 { print $1, $2 }' /proc/slabinfo"""


def slabs(where):
    """How many objects a machine's kernel has allocated of each kind."""
    return {name: int(count) for name, count in map(str.split, lab.run(where, SLABS).splitlines())}


def more_slabs(before, now, least):
    """Kinds of which there are so many more. Caches that were not there before are others' that have come."""
    return {name: (before[name], count) for name, count in now.items() if name in before and count >= before[name] + least}
