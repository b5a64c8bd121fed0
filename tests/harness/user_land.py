# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Programs of another release's user land in guests (lab up --user-land), and their clients in another guest."""

import functools

from harness import BUILD, TOP, guest, lab, process

PORT = 18800


class UserLand:
    """Of one name. That of guests themselves has none. With our provider, it is a copy of its own."""

    def __init__(self, name=None, ours=False):
        self.name = name
        self.root = f"{name}+ours" if ours else name

    def words(self, *command):
        """That run a command in it."""
        return ["/lab/user-land", self.root, *command] if self.name else list(command)

    def line(self, command):
        """Likewise, for a shell's command line."""
        return " ".join([*self.words(), command])

    def has_nothing_of_ours(self, *guests):
        __tracebackhide__ = True
        for name in guests:
            found = lab.run(name, *self.words("find", "/usr", "/etc", "-xdev", "-iname", "*xenib*", "-o", "-iname", "xen-ib*"))
            assert not found, (name, found)

    @functools.cached_property
    def package(self):
        """Our provider, made for this release."""
        process.check("make", "-s", "-C", TOP, "deb-guest", f"USER_LAND={self.name}", merge=True)
        (package,) = (BUILD / f"deb-{self.name}").glob("ibverbs-provider-xenib_*.deb")
        return package

    def install_provider(self, *guests):
        """In those where it is not yet."""
        for name in guests:
            if lab.ok(name, *self.words("dpkg", "-s", "ibverbs-provider-xenib")):
                continue
            lab.put(name, self.package, to=f"/user/{self.root}/root")
            lab.run(name, *self.words("dpkg", "-i", f"/root/{self.package.name}"), merge=True)


def run_pair(server, client, words_there, words_here, device=guest.DEVICE):
    """A program in one guest, and its client in another one."""
    __tracebackhide__ = True
    more = ["-d", device, "-p", PORT]
    with lab.running(server, *words_there, *more) as program:
        lab.run(server, f"{lab.THERE}/agent", "await", PORT)
        lab.run(client, *words_here, *more, server, merge=True)
        program.finish()
