# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""For gdb, attached to QEMU: which interrupts each CPU has been sent and has not taken yet, and what keeps it from them. QEMU has no
debugging symbols, but exports functions that use these fields: where the fields are is in their code. None is called: QEMU may be
stopped."""

import re

import gdb

REQUESTS = {0x2: "interrupt", 0x10: "look at the local APIC", 0x40: "SMI", 0x100: "virtual interrupt", 0x200: "NMI"}
FLAGS = {0x1: "GIF", 0x2: "IF of the host", 0x4: "in NMI", 0x8: "V_INTR_MASKING"}
GUEST = 1 << 21  # of hflags, which are the word before hflags2: between VMRUN and #VMEXIT


def offset(function, instruction):
    """The offset in an instruction of a function."""
    return int(re.search(instruction, gdb.execute(f"x/40i {function}", to_string=True))[1], 16)


def read(kind, address):
    return int(gdb.parse_and_eval(f"*(unsigned {kind} *)({address})"))


def word(address):
    return read("int", address)


def names(bits, known):
    return ", ".join(name for bit, name in known.items() if bits & bit) or "none"


def show():
    request = offset("cpu_reset_interrupt", r"lock and +%esi,0x([0-9a-f]+)\(%rdi\)")
    hflags2 = offset("x86_cpu_pending_interrupt", r"mov +0x([0-9a-f]+)\(%rax\),%ecx")
    following = offset("qemu_get_cpu", r"mov +0x([0-9a-f]+)\(%rax\),%rax")
    number = 0
    cpu = read("long", "&cpus_queue")
    while cpu:
        where = "in a PVH guest" if word(cpu + hflags2 - 4) & GUEST else "in no PVH guest"
        requests, flags = names(word(cpu + request), REQUESTS), names(word(cpu + hflags2), FLAGS)
        print(f"#interrupts of CPU {number}: requested: {requests}; {where}; flags: {flags}")
        cpu = read("long", cpu + following)
        number += 1


show()
