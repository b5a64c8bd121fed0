/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * uverbs_event.h - the event descriptors of an open uverbs file. They belong to the caller, who
 * closes them; they say no more after the file is closed. Reading does not wait.
 */
#ifndef XEN_IB_HCA_UVERBS_EVENT_H
#define XEN_IB_HCA_UVERBS_EVENT_H

#include <stdint.h>

/* uverbs_open_completions - a channel for completion events of CQs: a descriptor or -errno. */
int uverbs_open_completions(int fd);

/*
 * uverbs_open_events - a descriptor for asynchronous events or -errno. The first one of a file is
 * told of all its objects that are made afterwards. Without one, nothing is kept for anybody.
 */
int uverbs_open_events(int fd, uint32_t driver_id);

/*
 * Both read one event: 1, 0 if there is none, -errno if there will be none any more. user: the
 * object's user_handle; of an event of the port, its number. type: enum ib_event_type.
 */
int uverbs_next_completion(int fd, uint64_t *user);
int uverbs_next_event(int fd, uint64_t *user, uint32_t *type);

#endif
