// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "fft.h"

#include <math.h>
#include <stdlib.h>

#include "job.h"

void fft_init(struct fft *f, int n)
{
	int k, bit;

	f->n = n;
	f->root = job_alloc(n / 2 * sizeof(*f->root));
	f->place = job_alloc(n * sizeof(*f->place));
	for (k = 0; k < n / 2; k++)
		f->root[k] = CMPLX(cos(2 * M_PI * k / n), sin(2 * M_PI * k / n));
	for (k = 0; k < n; k++) {
		f->place[k] = 0;
		for (bit = 1; bit < n; bit *= 2)
			f->place[k] = f->place[k] * 2 + !!(k & bit);
	}
}

void fft_free(struct fft *f)
{
	free(f->root);
	free(f->place);
}

void fft_run(const struct fft *f, double complex *x, int direction)
{
	int half, start, k, stride;

	for (k = 0; k < f->n; k++) {
		double complex t = x[k];

		if (f->place[k] <= k)
			continue;
		x[k] = x[f->place[k]];
		x[f->place[k]] = t;
	}
	for (half = 1; half < f->n; half *= 2) {
		stride = f->n / (2 * half);
		for (start = 0; start < f->n; start += 2 * half) {
			for (k = 0; k < half; k++) {
				double complex root = f->root[k * stride];
				double complex a = x[start + k];
				double complex b = times(x[start + half + k],
							 direction > 0 ? root : conj(root));

				x[start + k] = a + b;
				x[start + half + k] = a - b;
			}
		}
	}
}
