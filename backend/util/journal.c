// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * journal.c - see journal.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/log.h" /* before syslog.h, which has some of its names as macros */

/* The line in journal.c would always be the same. */
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

#include "util/journal.h"

#define MOST_FIELDS 9
#define FIELD_BYTES 1152 /* a line with its prefix */

struct fields {
	struct iovec at[MOST_FIELDS];
	char text[MOST_FIELDS][FIELD_BYTES];
	int n;
};

__attribute__((format(printf, 2, 0))) static void add(struct fields *fields, const char *format,
						      const char *value)
{
	char *text = fields->text[fields->n];
	int length;

	if (!value)
		return;
	length = snprintf(text, FIELD_BYTES, format, value);
	if (length >= FIELD_BYTES)
		length = FIELD_BYTES - 1;
	fields->at[fields->n++] = (struct iovec){ text, length };
}

static bool write_entry(const struct log_entry *entry)
{
	char priority[8], message[FIELD_BYTES];
	struct fields fields;

	fields.n = 0;
	snprintf(priority, sizeof(priority), "%d", entry->level);
	snprintf(message, sizeof(message), "%s: %s", entry->who, entry->text);
	add(&fields, "MESSAGE=%s", message);
	add(&fields, "PRIORITY=%s", priority);
	add(&fields, "SYSLOG_IDENTIFIER=%s", "xen-ibback");
	add(&fields, "XENIB_DOMID=%s", entry->domid);
	add(&fields, "XENIB_DEVID=%s", entry->devid);
	add(&fields, "XENIB_HCA=%s", entry->hca);
	add(&fields, "XENIB_OP=%s", entry->op);
	add(&fields, "XENIB_STATUS=%s", entry->status);
	return !sd_journal_sendv(fields.at, fields.n);
}

/* systemd says which stream it has given us; we or who started us may have changed it. */
static bool is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	uintmax_t device, inode;
	struct stat st;

	return stream && sscanf(stream, "%ju:%ju", &device, &inode) == 2 &&
	       !fstat(STDERR_FILENO, &st) && st.st_dev == device && st.st_ino == inode;
}

void journal_setup(void)
{
	const struct log_entry first = { .level = LOG_DEBUG, .who = "log", .text = "with fields" };

	/* The first line opens the socket. */
	if (is_journal() && write_entry(&first))
		log_to(write_entry);
}
