/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * xl_process.h - the configurations that the xl commands which run now were started with.
 *
 * "xl create FILE [KEY=VALUE]..." runs when its domain appears, and afterwards stays behind to
 * start it again (unless -e was given). Its command line tells where the configuration is. Nobody
 * but root is believed.
 */
#ifndef XEN_IB_CONFIG_XL_PROCESS_H
#define XEN_IB_CONFIG_XL_PROCESS_H

#include <sys/types.h>

#define CONFIG_TEXT_MAX 65536 /* bytes; a configuration is a page or two */

/*
 * config_read - a file's text, for free(), with room for extra more bytes behind it; NULL if it is
 * no regular file, too large, or cannot be read.
 */
char *config_read(const char *path, int *length, int extra);

/*
 * config_xl_each - calls fn for each, with its text (fn's only during the call), and for messages
 * the path; ends when fn returns something else than 0, and returns that.
 * @proc: "/proc"
 * @owner: of the processes that are believed
 */
typedef int config_text_fn(void *to, const char *path, const char *text, int length);
int config_xl_each(const char *proc, uid_t owner, config_text_fn *fn, void *to);

#endif
