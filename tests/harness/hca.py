# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The HCA model, seen from outside: its objects, counters and faults ("lab hca")."""

import contextlib
import json

from harness import lab, rdma, wait

DRIVER = "/sys/bus/pci/drivers/mlx5_core"


def ask(*words):
    """What the model's control client says, parsed. It names tables, which are lists of rows."""
    __tracebackhide__ = True
    return json.loads(lab.lab("hca", "--json", *words))


def objects():
    """How many live objects of each kind all HCAs have. Keys that the driver keeps for later use are not objects."""
    counts = {kind: sum(not row.get("free") for row in rows) for kind, rows in ask("list", "all").items()}
    assert any(counts.values()), "the model names no object, and an HCA with a driver has some"
    return {kind: count for kind, count in counts.items() if count}


def total(counter):
    """A counter, of all HCAs together."""
    values = [row[counter] for rows in ask("counters").values() for row in rows if counter in row]
    assert values, f"there is no counter {counter}"
    return sum(values)


def until_objects_are(what, expected, which=lambda objects: objects):
    """Waits until the live objects, or WHICH of them, are these."""
    __tracebackhide__ = True
    try:
        wait.until(what, lambda: which(objects()) == expected)
    except AssertionError:
        print(f"--- before\n{expected}\n--- now\n{which(objects())}")
        raise


def until_messages(count):
    """Waits until so many messages more were sent."""
    __tracebackhide__ = True
    start = total("messages_sent")
    wait.until(f"{count} messages", lambda: total("messages_sent") >= start + count)


def fault(*words):
    __tracebackhide__ = True
    lab.lab("hca", "fault", *words)


@contextlib.contextmanager
def faulty(*words):
    """The HCAs have a fault for as long as this lasts."""
    try:
        fault(*words)
        yield
    finally:
        fault("clear")


@contextlib.contextmanager
def link_down(function=0):
    """The link of an HCA is down for as long as this lasts."""
    try:
        fault("link", "down", "--function", function)
        yield
    finally:
        fault("link", "up", "--function", function)


def function_of(name):
    """The PCI function of an HCA of dom0."""
    return lab.run("dom0", f"basename $(readlink -f /sys/class/infiniband/{name}/device)")


def bind_again(name):
    """Its driver forgets what it knows of an HCA, and asks again."""
    __tracebackhide__ = True
    function = function_of(name)
    lab.run("dom0", f"echo {function} >{DRIVER}/unbind && echo {function} >{DRIVER}/bind")
    wait.until(f"{name} is ACTIVE", lambda: rdma.active("dom0", name))


def has_odp(function=0):
    """On-demand paging, as a driver that comes now is told."""
    return next(row["odp"] == "on" for row in ask("fault", "show")["faults"] if row["function"] == function)


@contextlib.contextmanager
def bound_with(*words):
    """The second HCA has a fault, for which its driver asks when it is bound, for as long as this lasts."""
    try:
        with faulty(*words, "--function", 1):
            bind_again("mlx5_1")
            yield
    finally:
        bind_again("mlx5_1")


def without_odp():
    """It has no on-demand paging."""
    return bound_with("odp", "off")


def moderating():
    """It moderates CQs."""
    return bound_with("moderation", "on")


@contextlib.contextmanager
def managed():
    """The HCAs are joined by a managed switch, and wait for a subnet manager, for as long as this lasts."""
    try:
        lab.lab("hca", "sm", "external")
        yield
    finally:
        lab.lab("hca", "sm", "built-in")
