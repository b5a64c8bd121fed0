# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Tests with the mark "ahead" begin, as many at once as there are processors, when the first of them is due."""

import pytest

from harness.ahead import Ahead

AHEAD = pytest.StashKey()  # of the session


def is_ahead(item):
    return item.get_closest_marker("ahead") is not None


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    __tracebackhide__ = True
    if not is_ahead(pyfuncitem):
        return None
    session = pyfuncitem.session
    if AHEAD not in session.stash:
        session.stash[AHEAD] = Ahead([item for item in session.items if is_ahead(item)])
    session.stash[AHEAD].wait(pyfuncitem)
    return True


def pytest_sessionfinish(session):
    if AHEAD in session.stash:
        session.stash[AHEAD].end()
