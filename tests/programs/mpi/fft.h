/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * fft.h - discrete Fourier transforms of a length that is a power of two.
 */
#ifndef FFT_H
#define FFT_H

#include <complex.h>
#include <stddef.h>

struct fft {
	int n;
	double complex *root; /* exp(2 pi i k / n), for k below n / 2 */
	int *place;           /* of each element, its bits in reverse order */
};

/* Memory belongs to the plan until fft_free(). */
void fft_init(struct fft *f, int n);
void fft_free(struct fft *f);

/* In place, not scaled; the sign of the exponent is that of direction, 1 or -1. */
void fft_run(const struct fft *f, double complex *x, int direction);

/* Complex multiplication without the care for infinities that C asks for, which takes most of the time. */
static inline double complex times(double complex a, double complex b)
{
	return CMPLX(creal(a) * creal(b) - cimag(a) * cimag(b),
		     creal(a) * cimag(b) + cimag(a) * creal(b));
}

#endif
