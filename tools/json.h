/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * json.h - writes JSON, to standard output unless told otherwise. Values in an object have a key, those in a list have
 * none (NULL).
 */
#ifndef XEN_IB_JSON_H
#define XEN_IB_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Which keys there are, and what they mean (docs/json.md). A key that goes, or means something else, makes it a new
 * number; one that is added does not.
 */
#define JSON_SCHEMA 1

/* json_to - the next document goes there. */
void json_to(FILE *file);

/*
 * json_open - '{' or '['; the first one without a key is the document, an object that has "schema" then.
 * json_close() ends the innermost.
 */
void json_open(const char *key, char bracket);
void json_close(void);

void json_text(const char *key, const char *text);
void json_number(const char *key, uint64_t number);
void json_real(const char *key, double number);
void json_bool(const char *key, bool value);

#endif
