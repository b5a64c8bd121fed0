/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * table.h - columns for people. Numbers stand at the right of theirs; the last column is as wide as it likes.
 */
#ifndef XEN_IB_TABLE_H
#define XEN_IB_TABLE_H

#define TABLE_COLUMNS 12

struct table;

/*
 * table_new - titles, separated by spaces; one that begins with '>' is of a column of numbers. indent: spaces before
 * each line. Never fails: without memory the program ends.
 */
struct table *table_new(const char *titles, unsigned int indent);

/* table_cell - the next cell, row by row. */
__attribute__((format(printf, 2, 3))) void table_cell(struct table *table, const char *format, ...);

/* table_print - to standard output; frees it. */
void table_print(struct table *table);

#endif
