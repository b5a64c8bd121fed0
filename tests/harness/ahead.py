# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Tests that need no machine but their own, and no other test, begin ahead of their turn: as many at once as there are processors, and two
at least. They take what others leave of the processors."""

import os
import threading
from concurrent import futures
from itertools import groupby, zip_longest

from harness import process

NICE = 10  # a machine's processors go first


def once(function):
    """A function that is called once for the same arguments, also by several threads."""
    lock, results = threading.Lock(), {}

    def call(*arguments):
        __tracebackhide__ = True
        with lock:
            if arguments not in results:
                results[arguments] = function(*arguments)
            return results[arguments]

    return call


def give_way():
    """This thread does, with all that it starts."""
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)


def mixed(items):
    """One of each function in turn: those of a function often wait for the same thing, such as a compiler."""
    functions = [list(group) for _, group in groupby(items, lambda item: item.function)]
    return [item for row in zip_longest(*functions) for item in row if item]


class Ahead:
    """Calls of test functions. Those that have not begun when it ends never do."""

    def __init__(self, items):
        self.pool = futures.ThreadPoolExecutor(max(2, os.cpu_count()), initializer=give_way)
        self.threads = {}
        self.futures = {item.nodeid: self.pool.submit(self.call, item) for item in mixed(items)}

    def call(self, item):
        self.threads[item.nodeid] = threading.get_ident()
        try:
            item.function(**item.callspec.params)
        finally:
            del self.threads[item.nodeid]

    def wait(self, item):
        """Waits until a test has ended, and fails as it does. One whose time is over meanwhile is ended."""
        __tracebackhide__ = True
        future = self.futures[item.nodeid]
        try:
            future.result()
        except BaseException:
            if not future.done() and not future.cancel():
                process.end_of_thread(self.threads.get(item.nodeid))
                if futures.wait([future], process.GRACE_SECONDS).done:
                    print(future.exception() or "")
            raise

    def end(self):
        self.pool.shutdown(wait=False, cancel_futures=True)
        for thread in list(self.threads.values()):
            process.end_of_thread(thread)
