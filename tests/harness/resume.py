# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Long runs that go on where they were broken off: what has passed is kept in pytest's cache, for the same sources."""

from harness import TOP, process

KEY = "resume"


class Passed:
    def __init__(self, cache):
        self.cache = cache
        self.version = process.call("git", "-C", TOP, "describe", "--always", "--dirty").out.strip()
        kept = cache.get(KEY, {})
        self.names = kept.get("names", []) if kept.get("version") == self.version else []

    def add(self, name):
        self.names.append(name)
        self.cache.set(KEY, {"version": self.version, "names": self.names})

    def left_of(self, names):
        """Those that have not passed; if all have, all of them, once more."""
        left = [name for name in names if name not in self.names]
        if left:
            return left
        self.names = [name for name in self.names if name not in names]
        return names
