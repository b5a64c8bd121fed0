# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""guest2's kernel uses its device by itself: xen-ibfront with kverbs=1, and a module that posts and polls."""

import os

import pytest

from harness import daemon, guest, hca, ktest, lab, leftovers, pairs, wait

pytestmark = [pytest.mark.usefixtures("guests"), pytest.mark.timeout(240)]

GUEST = "guest2"
KILLS = int(os.environ.get("KILLS") or 100)  # of the worker, in test_kill_worker_again_and_again


def attach(*keys):
    lab.lab("detach", GUEST)
    lab.lab("attach", GUEST, *keys)


@pytest.fixture(scope="module")
def loaded(guests):
    with ktest.loaded(GUEST, "kverbs=1"):
        yield


@pytest.mark.long
def test_switched_off(guests):
    """By default modules of the kernel do not get to see the device."""
    with ktest.loaded(GUEST):
        result = ktest.call(GUEST, "rc-send")
    assert "rc-send: -19" in result.err, str(result)  # ENODEV


@pytest.mark.long
def test_forbidden(guests):
    """The configuration of the vHCA says that the kernel must not use it, and the guest's administrator wants it to."""
    attach("kernel=off")
    try:
        with ktest.loaded(GUEST, "kverbs=1"):
            said = lab.run(GUEST, "dmesg")
            result = ktest.call(GUEST, "rc-send")
        assert "rc-send: -19" in result.err, str(result)  # ENODEV
        assert "does not let the kernel use it" in said, said
    finally:
        attach()


@pytest.mark.long
def test_management_wanted(guests):
    """The configuration wants the guest's kernel to take part in the fabric's management, and dom0 has not what that needs."""
    attach("kernel=on")
    try:
        said = lab.call("dom0", "xen-ib check").out
        assert f"warning  management: guest {GUEST} has kernel=on, but xen-ibgsi is not loaded" in said, said
    finally:
        attach()
    assert "management" not in lab.call("dom0", "xen-ib check").out


@pytest.mark.parametrize("case", ktest.CASES)
def test_case(loaded, case):
    ktest.run(GUEST, case)


@pytest.mark.long
@pytest.mark.parametrize("case", ktest.MORE)
def test_case_long(loaded, case):
    ktest.run(GUEST, case)


def test_fragments(loaded):
    """A list for which the pool has room, but nowhere in one piece, is registered in several."""
    ktest.set(GUEST, "xen_ibfront", dma_pool=1)  # it does not grow meanwhile
    try:
        ktest.run(GUEST, "reg-fragments")
    finally:
        ktest.set(GUEST, "xen_ibfront", dma_pool=64)


def writable():
    """Keys of memory that processes and kernels have registered, with the places where it is for them."""
    rows = hca.ask("list", "mr")["mr"]
    return {row["key"]: row["start"] for row in rows if not row["free"] and row["mode"] == "mtt" and "w" in row["access"]}


def test_lying_kernel(loaded):
    """A kernel that puts keys of others into its regions, or the HCA's own, gets nothing of their memory."""
    before = writable()
    with lab.running("guest1", "ibv_rc_pingpong -d xenib0 -s 65536"):
        wait.until("guest1 has registered memory", lambda: writable().keys() - before.keys())
        key = (writable().keys() - before.keys()).pop()
        ktest.set(GUEST, "xenib_ktest", foreign_key=key, foreign_at=writable()[key])
        ktest.run(GUEST, "lie-entries")
        assert key in writable(), "guest1 is gone"


@pytest.mark.long
def test_regions_again_and_again(loaded):
    """2,000 times one region, of as many pieces as comes."""
    ktest.run(GUEST, "reg-stress")


def test_context(loaded):
    """dom0 sees the kernel as one of the guest's contexts."""
    daemon.until_has_kernel(GUEST)


def test_processes(loaded):
    """Programs work beside it as ever."""
    pairs.run(GUEST)


def kill_worker(look=lambda: None):
    """In mid-traffic: all that was posted completes, the module ends what it has."""
    ktest.run(GUEST, "death")
    hca.until_messages(100)
    look()
    guest.until_new_worker(GUEST, daemon.kill_worker(GUEST))
    said = ktest.log(GUEST)
    assert "nothing is left" in said and "not" not in said.replace("nothing", ""), said


def imposed_on_all():
    rows = [row for row in hca.ask("list", "qp", "--function", 0)["qp"] if row["transport"] == "RC" and row["state"] == "RTS"]
    assert rows and all(row["sl"] == 3 and row["timeout"] in (0, *range(18, 32)) for row in rows), rows


@pytest.mark.long
def test_imposed(loaded):
    """What is imposed on QPs of the guest is imposed on those of its kernel."""
    daemon.xen_ib("set", GUEST, 0, "sl=3,min-timeout=18,ud=0")
    try:
        result = ktest.call(GUEST, "ud-send")
        assert "ud-send: -95" in result.err, str(result)  # EOPNOTSUPP
        kill_worker(imposed_on_all)
    finally:
        daemon.xen_ib("set", GUEST, 0, "sl=any,min-timeout=any,ud=1")


def test_kill_worker(loaded):
    """And the module can begin again."""
    before = hca.objects()
    kill_worker()
    leftovers.until_no_more_than("no object is left in the HCA", before)
    ktest.run(GUEST, "rc-event")


def free_kib():
    """What the guest has of memory, without what it can do without."""
    return int(lab.run(GUEST, "sync; echo 3 >/proc/sys/vm/drop_caches; awk '/^MemFree/ { print $2 }' /proc/meminfo"))


@pytest.mark.long
@pytest.mark.timeout(300 + 15 * KILLS)
def test_kill_worker_again_and_again(loaded):
    """So many times. Nothing gathers: no objects, no grants in use, no pages of the kernel's pool, which has 4 MiB at first."""
    kill_worker()
    before = leftovers.objects_but_pages()
    grants = daemon.grants_at_rest("guest1", GUEST)
    free = wait.settled(free_kib)
    for _ in range(KILLS):
        kill_worker()
    leftovers.until_objects_but_pages_are("no object is left in the HCA", before)
    wait.until("all grants are returned", lambda: daemon.mapped_grants("guest1", GUEST) == grants)
    wait.until(f"as much memory is free as before, {free} KiB", lambda: free_kib() > free - 64 * KILLS)
    ktest.run(GUEST, "rc-event")
