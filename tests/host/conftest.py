# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Tests with the mark "ahead" begin with the run, and go on beside those that have a machine. Their results come last."""

import pytest

from harness.ahead import Ahead

AHEAD = pytest.StashKey()  # of the session


def is_ahead(item):
    return item.get_closest_marker("ahead") is not None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    items.sort(key=is_ahead)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session):
    """Before the first test."""
    items = [item for item in session.items if is_ahead(item)]
    if items and not session.config.option.collectonly:
        session.stash[AHEAD] = Ahead(items)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    __tracebackhide__ = True
    if not is_ahead(pyfuncitem):
        return None
    pyfuncitem.session.stash[AHEAD].wait(pyfuncitem)
    return True


def pytest_sessionfinish(session):
    if AHEAD in session.stash:
        session.stash[AHEAD].end()
