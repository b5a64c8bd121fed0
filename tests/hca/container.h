/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* From an embedded struct (a timer, an object's head) to the one that it is embedded in. */
#ifndef HCA_CONTAINER_H
#define HCA_CONTAINER_H

#include <stddef.h>

#define container_of(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))

#endif
