# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What is left of a program, a vHCA or a guest that has ended: objects in the HCA, grants in use. There must be nothing."""

from harness import daemon, hca, pairs, wait

PAGES = ("uar", "td", "uctx")  # doorbell pages: a PV guest keeps what it has had until it is gone
EQS = ("eq",)  # the driver's, for a vector or for dma-bufs: it makes them when somebody first needs them, and keeps them


def but_pages(objects):
    """Without EQs, too."""
    return {kind: count for kind, count in objects.items() if kind not in (*PAGES, *EQS)}


def objects_but_pages():
    return but_pages(hca.objects())


def until_objects_but_pages_are(what, expected):
    __tracebackhide__ = True
    hca.until_objects_are(what, expected, but_pages)


def until_no_more_than(what, before):
    """Waits until there is no kind of objects of which there are more than before."""
    __tracebackhide__ = True
    wait.until(what, lambda: all(count <= before.get(kind, 0) for kind, count in hca.objects().items()))


class Ledger:
    """What is there before a test and must be there after it. But for doorbell pages it is the same for all tests of a module: what one
    leaves is found by it, or by the next."""

    def __init__(self):
        self.first = self.grants = self.objects = None

    def open(self):
        __tracebackhide__ = True
        pairs.run("guest2")
        self.objects = hca.objects()
        if self.first is None:
            self.first, self.grants = objects_but_pages(), daemon.grants_at_rest("guest1", "guest2")
        self.until("no more objects than before the first of the tests", lambda: objects_but_pages() == self.first)

    def close(self):
        """Waits until nothing is left."""
        __tracebackhide__ = True
        hca.until_objects_are("no object is left in the HCA", self.objects)
        self.close_grants()

    def close_grants(self):
        __tracebackhide__ = True
        self.until("all grants are returned", lambda: daemon.mapped_grants("guest1", "guest2") == self.grants)

    def until(self, what, condition):
        """The next test is not to blame for what this one leaves."""
        __tracebackhide__ = True
        try:
            wait.until(what, condition)
        except AssertionError:
            print(f"objects before: {self.first}, now {hca.objects()}; {self.grants} grants before")
            self.forget()
            raise

    def forget(self):
        """What others have left in a guest went with it."""
        self.first = None

    def take_pages(self):
        """The guests have more doorbell pages than before, which they keep."""
        self.objects = {**self.objects, "uar": hca.objects()["uar"]}
