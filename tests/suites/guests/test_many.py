# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Many guests on one HCA."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from harness import guest, hca, lab, leftovers, pairs

pytestmark = [pytest.mark.usefixtures("guests"), pytest.mark.timeout(900), pytest.mark.long]

ALL = [f"guest{n}" for n in range(1, 9)]
MORE = ALL[2:]


def round_of(guests):
    """Each is server of one neighbour and client of the other, all at once."""
    with ThreadPoolExecutor(len(guests)) as pool:
        runs = [
            pool.submit(lab.run, client, f"SERVER={server} {lab.THERE}/in-guest pingpong rc-events rc-1-mib", merge=True)
            for client, server in zip(guests, guests[1:] + guests[:1])
        ]
        for client, run in zip(guests, runs):
            said = run.result()
            assert "@pass rc-events" in said and "@pass rc-1-mib" in said, f"{client}: {said}"


def make_ready(name):
    lab.lab("install", name)
    lab.lab("attach", name)
    guest.put_pairs(name)


def stop_more():
    lab.lab("guest", "stop", "--kill", *MORE)


def test_eight_guests():
    # A PV guest keeps the doorbell pages that it has had: the two that stay get theirs for two programs at once before.
    round_of(ALL[:2])
    before = hca.objects()
    try:
        lab.lab("guest", "start", *MORE, merge=True)
        # Two at a time, as there are two CPUs.
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(make_ready, MORE))
        round_of(ALL)
    finally:
        stop_more()
    leftovers.until_no_more_than("no object of the six is left in the HCA", before)
    pairs.run("guest2")
