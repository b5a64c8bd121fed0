/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * mark.h - how a program tells benchmarks/counter, the plugin of the emulator, what to count.
 *
 * A mark is an instruction that does nothing on any CPU (a long NOP), whose displacement the plugin looks for. It reads
 * two registers then. Where no plugin is loaded, a mark costs one instruction.
 */
#ifndef MARK_H
#define MARK_H

/* The displacements: "XIB" and what is meant. */
#define MARK_BASE 0x58494200

/* Counting of one thing begins. */
#define MARK_BEGIN 1
/* It ends: that was one sample of what the name says. Things of different names may overlap, also those in other programs. */
#define MARK_END 2
/* All samples of that name so far belong to x, and are written out. */
#define MARK_REPORT 3

/* The longest name that the plugin reads. */
#define MARK_NAME_MAX 31

/* what: one of the above, a constant. name: a string in memory that is mapped and was read lately. */
#define MARK(what, name, x) \
	__asm__ volatile("nopl %c0(%%rax)" \
			 : \
			 : "i"(MARK_BASE + (what)), "D"(name), "S"((unsigned long)(x)) \
			 : "memory")

#endif
