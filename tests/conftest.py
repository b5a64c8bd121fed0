# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Options and limits of all tests. How to write one: docs/testing.md."""

import signal

import pytest

from harness import PATIENCE

LIMIT_SECONDS = 60  # of a test that names none by pytest.mark.timeout


def pytest_configure():
    """A run that is terminated ends as one that is interrupted: with what fixtures have to clean up."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    """Limits are what a quiet machine needs, and are multiplied here."""
    for item in items:
        marker = item.get_closest_marker("timeout")
        seconds = marker.args[0] if marker else LIMIT_SECONDS
        item.add_marker(pytest.mark.timeout(seconds * PATIENCE), append=False)
