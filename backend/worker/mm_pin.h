/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * mm_pin.h - makes the sudden death of a worker harmless.
 *
 * When a process dies, Linux tears down its memory first and closes its files afterwards. For a
 * worker that is the wrong order: its mappings of guest pages would go while the HCA's driver still
 * has them pinned, and the HCA may write to them. On a PV dom0 this corrupts the kernel's books of
 * those pages, until the next boot, and the grants never return to the guest. (A PVH dom0 survives
 * it; the mm pin is used there as well, because one way is easier to trust than two.)
 *
 * The mm pin is a second process that shares the worker's memory, and none of its files. It sleeps
 * until the worker is gone with all its threads, that is: until the kernel has closed the worker's
 * files, deregistered all memory and destroyed all queues. Then it ends, and with the last user the
 * memory goes, with nothing pinned in it. So the order is right however the worker ends, by SIGKILL
 * too.
 *
 * It works because a worker maps nothing of uverbs (see hca/uverbs.h): a mapping would hold the file
 * open as long as the memory lives.
 *
 * A worker whose umems are all dma-bufs maps nothing for the HCA, and has none.
 *
 * It does not help if both are killed at the same moment, as "kill everything in the control group"
 * does: the service must be stopped with KillMode=process or mixed. Nor does it against a worker that
 * was taken over, which can unmap what is pinned as it can anything of its own. What such a worker
 * does not get is an mm pin that lives on: it cannot do anything but wait and end.
 */
#ifndef XEN_IB_WORKER_MM_PIN_H
#define XEN_IB_WORKER_MM_PIN_H

/*
 * mm_pin_start - before the first grant is mapped or memory registered, while there is one thread.
 * When it returns, the mm pin is confined.
 * @life: a descriptor that the mm pin keeps open until it ends; or -1
 *
 * Returns a pidfd that becomes readable should the mm pin die (the caller then has to end in the
 * right order by itself, at once), or -errno.
 */
int mm_pin_start(int life);

#endif
