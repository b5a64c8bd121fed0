# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""guest2's kernel uses its device by itself: xen-ibfront with kverbs=1, and a module that posts and polls."""

import pytest

from harness import daemon, guest, hca, ktest, lab, leftovers, pairs

pytestmark = [pytest.mark.usefixtures("guests"), pytest.mark.timeout(240)]

GUEST = "guest2"


def attach(*keys):
    lab.lab("detach", GUEST)
    lab.lab("attach", GUEST, *keys)


@pytest.fixture(scope="module")
def loaded(guests):
    with ktest.loaded(GUEST, "kverbs=1"):
        yield


def test_switched_off(guests):
    """By default modules of the kernel do not get to see the device."""
    with ktest.loaded(GUEST):
        result = ktest.call(GUEST, "rc-send")
    assert "rc-send: -19" in result.err, str(result)  # ENODEV


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


def test_context(loaded):
    """dom0 sees the kernel as one of the guest's contexts."""
    contexts = lab.run("dom0", f"xen-ib show {GUEST} --json")
    assert '"kernel"' in contexts, contexts


def test_processes(loaded):
    """Programs work beside it as ever."""
    pairs.run(GUEST)


def test_kill_worker(loaded):
    """In mid-traffic: all that was posted completes, the module ends what it has, and can begin again."""
    before = hca.objects()
    ktest.run(GUEST, "death")
    hca.until_messages(100)
    worker = daemon.worker(GUEST)
    lab.run("dom0", "kill", "-9", worker)
    guest.until_new_worker(GUEST, worker)
    said = ktest.log(GUEST)
    assert "nothing is left" in said and "not" not in said.replace("nothing", ""), said
    leftovers.until_no_more_than("no object is left in the HCA", before)
    ktest.run(GUEST, "rc-event")
