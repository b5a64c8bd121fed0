# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The daemon xen-ibback in dom0: what it counts, its workers, and the command xen-ib."""

import contextlib
import json
import re

from harness import lab, wait

LOG = "/var/log/xen-ibback.log"
SOCKET = "/run/xen-ib/control.sock"


def xen_ib(*words, status=0):
    """Calls xen-ib in dom0, which has to end with this exit status. Returns what it says."""
    __tracebackhide__ = True
    result = lab.call("dom0", "xen-ib", *words, merge=True)
    assert result.status == status, f"status {status} was expected; {result}"
    return result.out


def domid(guest):
    return int(lab.run("dom0", "xl", "domid", guest))


def domain_exists(guest):
    return lab.ok("dom0", f"xl domid {guest} 2>/dev/null")


def status_file(guest, devid=0):
    """What the worker of a vHCA says of it, a few times a second; nothing if it is not there."""
    return lab.call("dom0", f"cat /run/xen-ib/$(xl domid {guest})-{devid}.status").out


def status(guest, words, devid=0):
    """The number after these words in the status; nothing if they are not there."""
    found = re.search(rf"^{re.escape(words)} +(\d+)", status_file(guest, devid), re.MULTILINE)
    return int(found[1]) if found else None


def counted(guest, words, devid=0):
    """The same, which has to be there."""
    __tracebackhide__ = True
    value = status(guest, words, devid)
    assert value is not None, f"{guest} has no '{words}' in its status:\n{status_file(guest, devid)}"
    return value


def until_counted(guest, words, least=1, devid=0):
    """Waits until the status has that number: what has just happened may not be in it yet."""
    __tracebackhide__ = True
    wait.until(f"dom0 counts {least} '{words}' of {guest}", lambda: counted(guest, words, devid) >= least)


def until_has_kernel(guest, devid=0):
    """Waits until the guest's kernel is shown beside its processes."""
    __tracebackhide__ = True

    def names():
        vhca = json.loads(xen_ib("show", guest, devid, "--json"))["vhcas"][0]
        return [process["name"] for process in vhca["processes"]]

    wait.until(f"{guest}'s kernel is one of its contexts", lambda: "kernel" in names())


def worker(guest):
    return counted(guest, "pid")


def kill_worker(guest):
    """Returns which it was, for guest.until_new_worker()."""
    __tracebackhide__ = True
    pid = worker(guest)
    lab.run("dom0", "kill", "-9", pid)
    return pid


def supervisor():
    return int(lab.run("dom0", "cat /run/xen-ibback.pid"))


def node(guest, devid, name, backend=0):
    """What a node of a vHCA below the backend's directory in xenstore says; nothing if it, or the domain, is not there."""
    result = lab.call("dom0", f"xenstore-read /local/domain/{backend}/backend/vhca/$(xl domid {guest})/{devid}/{name}")
    return result.out.strip() if result.status == 0 else None


def until_worker_waits(guest, devid=0):
    """Waits until a vHCA has a worker, which waits for the frontend."""
    __tracebackhide__ = True
    wait.until(f"vHCA {devid} of {guest} has a worker", lambda: node(guest, devid, "state") == "2")


def until_nodes_are_gone(number):
    """Those of the domain of this number."""
    __tracebackhide__ = True
    wait.until("its nodes are gone", lambda: lab.ok("dom0", f"! xenstore-exists /local/domain/0/backend/vhca/{number}"))


def no_zombie():
    """xl list, which has dom0 in any case, has no domain that is dying."""
    domains = lab.run("dom0", "xl list")
    assert "Domain-0" in domains
    return "(null)" not in domains


def has_queue_dmabufs():
    """Does dom0's kernel make queues in dma-bufs? Where one has on-demand paging, guests' HCAs do."""
    version = lab.run("dom0", "uname -r").split(".")
    return (int(version[0]), int(version[1])) >= (7, 3)


@contextlib.contextmanager
def without_dmabufs():
    """Workers that start meanwhile find no xen-ibgrant, and map the memory that they register. Others go on as they are."""
    lab.run("dom0", "mv /dev/xen-ib-grant /dev/hidden")
    try:
        yield
    finally:
        lab.run("dom0", "mv /dev/hidden /dev/xen-ib-grant")


def mapped_grants(*guests):
    """How many grants of these guests dom0 has mapped, as Xen sees it, the network's and the disk's as well. By one question, as Xen's
    answer is long and its console slow."""
    wanted = {domid(guest) for guest in guests}
    text = lab.run("dom0", "xl dmesg -c >/dev/null; xl debug-keys g; xl dmesg")
    assert re.search("gnttab_usage_print_all .*done", text), "Xen has not said all"
    seen, count, domain = set(), 0, None
    for line in text.splitlines():
        if "active" in line:
            domain = None
        if found := re.search(r"grant-table for remote d(\d+)", line):
            domain = int(found[1])
            seen.add(domain)
        if domain in wanted and re.search(r"\[0x[0-9a-f]+\]", line):
            count += 1
    assert wanted <= seen, f"Xen says nothing of domains {wanted - seen}"
    return count


def grants_at_rest(*guests):
    """How many when network and disk have none of their own for the moment."""
    return min(mapped_grants(*guests) for _ in range(3))


def start():
    """Starts it again when it has ended."""
    __tracebackhide__ = True
    lab.lab("install", "dom0")
