/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* MSI-X: the vectors of a function, each with the eventfd that the machine listens on. */
#ifndef HCA_MSIX_H
#define HCA_MSIX_H

#include <stdbool.h>
#include <stdint.h>

#include "hca.h"

struct msix {
	int fd[HCA_MSIX_VECTORS]; /* -1: nobody listens */
	uint64_t masked, pending; /* a bit for each vector */
	bool enabled;             /* MSI-X Enable of the capability */
	bool function_masked;     /* Function Mask of the capability */
};

void msix_init(struct msix *m);
/* Closes all descriptors; afterwards as msix_init() left it. */
void msix_fini(struct msix *m);

/* Takes over fd (-1: none) for vector, closing what was there. vector must be in range. */
void msix_set_fd(struct msix *m, unsigned int vector, int fd);

/*
 * Signals vector. While it or the function is masked, the vector becomes pending instead. True
 * if the machine was told. With MSI-X disabled, or out of range, it is lost.
 */
bool msix_raise(struct msix *m, unsigned int vector);

/* Masks; unmasking signals what is pending. */
void msix_mask(struct msix *m, unsigned int vector, bool masked);
void msix_control(struct msix *m, bool enabled, bool function_masked);

/* At reset: nothing is pending, nothing masked, disabled. Descriptors stay. */
void msix_reset(struct msix *m);

#endif
