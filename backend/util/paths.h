/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * paths.h - where the daemon has its files.
 */
#ifndef XEN_IB_UTIL_PATHS_H
#define XEN_IB_UTIL_PATHS_H

#define STATUS_DIR "/run/xen-ib"

#endif
