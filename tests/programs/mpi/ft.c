// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ft - a partial differential equation solved by Fourier transforms in three dimensions, in the manner of the kernel
 * FT of the NAS parallel benchmarks (NASA report RNR-94-007).
 *
 * Each rank has some of the planes of equal z. It transforms them along x and y; then MPI_Alltoall() turns the grid, so
 * that each rank has all z for some y, and transforms these. In each iteration the transformed grid evolves by a step,
 * is transformed back, and a checksum is taken. Rank 0 compares the checksums with those that it gets alone, and some
 * points of the first transform with their definition.
 */
#include <getopt.h>
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "fft.h"
#include "job.h"
#include "random.h"

#define ALPHA 1e-6
#define SUMMED 1024 /* points in a checksum */
#define MOST_ITERATIONS 20
#define TOLERANCE 1e-12 /* relative, of a checksum */

typedef double complex cplx;

static const struct class
{
	char name;
	int nx, ny, nz, iterations;
} classes[] = { { 'T', 32, 32, 32, 3 }, { 'S', 64, 64, 64, 6 }, { 'W', 128, 128, 32, 6 } };

#define CLASSES (sizeof(classes) / sizeof(classes[0]))

struct grid {
	MPI_Comm comm;
	int rank, ranks;
	int nx, ny, nz, nyl, nzl; /* points of the grid; of this rank: y when turned, and z */
	size_t points;            /* of this rank */
	struct fft x, y, z;
	cplx *line, *packed;
};

static void grid_init(struct grid *g, const struct class *c, MPI_Comm comm)
{
	g->comm = comm;
	MPI_Comm_rank(comm, &g->rank);
	MPI_Comm_size(comm, &g->ranks);
	g->nx = c->nx;
	g->ny = c->ny;
	g->nz = c->nz;
	g->nyl = g->ny / g->ranks;
	g->nzl = g->nz / g->ranks;
	g->points = (size_t)g->nx * g->ny * g->nzl;
	fft_init(&g->x, g->nx);
	fft_init(&g->y, g->ny);
	fft_init(&g->z, g->nz);
	g->line = job_alloc(g->ny * sizeof(cplx));
	g->packed = job_alloc(g->points * sizeof(cplx));
}

static void grid_free(struct grid *g)
{
	fft_free(&g->x);
	fft_free(&g->y);
	fft_free(&g->z);
	free(g->line);
	free(g->packed);
}

/* [z][y][x], some z: along x and y. */
static void transform_planes(struct grid *g, cplx *a, int direction)
{
	int x, y, z;

	for (z = 0; z < g->nzl; z++) {
		cplx *plane = a + (size_t)z * g->ny * g->nx;

		for (y = 0; y < g->ny; y++)
			fft_run(&g->x, plane + y * g->nx, direction);
		for (x = 0; x < g->nx; x++) {
			for (y = 0; y < g->ny; y++)
				g->line[y] = plane[y * g->nx + x];
			fft_run(&g->y, g->line, direction);
			for (y = 0; y < g->ny; y++)
				plane[y * g->nx + x] = g->line[y];
		}
	}
}

/* [y][x][z], some y: along z. */
static void transform_columns(struct grid *g, cplx *a, int direction)
{
	int i;

	for (i = 0; i < g->nyl * g->nx; i++)
		fft_run(&g->z, a + (size_t)i * g->nz, direction);
}

/* What two ranks have in common: this one's z, and the y of another, or the other way round. As [y][x][z]. */
static size_t block(const struct grid *g)
{
	return (size_t)g->nyl * g->nx * g->nzl;
}

static void alltoall(struct grid *g, cplx *from, cplx *to)
{
	MPI_Alltoall(from, 2 * block(g), MPI_DOUBLE, to, 2 * block(g), MPI_DOUBLE, g->comm);
}

/* From [z][y][x], some z, in a, to [y][x][z], some y, in b. */
static void turn(struct grid *g, cplx *a, cplx *b)
{
	cplx *to = g->packed;
	int rank, i, y, x, z;

	for (y = 0; y < g->ny; y++)
		for (x = 0; x < g->nx; x++)
			for (z = 0; z < g->nzl; z++)
				*to++ = a[((size_t)z * g->ny + y) * g->nx + x];
	alltoall(g, g->packed, a);
	for (rank = 0; rank < g->ranks; rank++)
		for (i = 0; i < g->nyl * g->nx; i++)
			memcpy(b + (size_t)i * g->nz + rank * g->nzl,
			       a + rank * block(g) + (size_t)i * g->nzl, g->nzl * sizeof(cplx));
}

/* The other way round. */
static void turn_back(struct grid *g, cplx *b, cplx *a)
{
	const cplx *from = b;
	int rank, i, y, x, z;

	for (rank = 0; rank < g->ranks; rank++)
		for (i = 0; i < g->nyl * g->nx; i++)
			memcpy(g->packed + rank * block(g) + (size_t)i * g->nzl,
			       b + (size_t)i * g->nz + rank * g->nzl, g->nzl * sizeof(cplx));
	alltoall(g, g->packed, b);
	for (y = 0; y < g->ny; y++)
		for (x = 0; x < g->nx; x++)
			for (z = 0; z < g->nzl; z++)
				a[((size_t)z * g->ny + y) * g->nx + x] = *from++;
}

/* Real and imaginary parts by turns, x running fastest. */
static void initial(const struct grid *g, cplx *a)
{
	uint64_t state = random_after(2 * g->points * g->rank);
	size_t i;

	for (i = 0; i < g->points; i++) {
		double re = random_next(&state), im = random_next(&state);

		a[i] = CMPLX(re, im);
	}
}

/* exp(-4 alpha pi^2 k^2 t) for all k of a dimension; those above the middle stand for negative ones. */
static void decay(double *factor, int n, int t)
{
	int i, k;

	for (i = 0; i < n; i++) {
		k = i < n / 2 ? i : i - n;
		factor[i] = exp(-4 * ALPHA * M_PI * M_PI * k * k * t);
	}
}

static void evolve(const struct grid *g, const cplx *from, cplx *to, int t)
{
	double *fx = job_alloc((g->nx + g->ny + g->nz) * sizeof(double)), *fy = fx + g->nx,
	       *fz = fy + g->ny;
	int x, y, z;

	decay(fx, g->nx, t);
	decay(fy, g->ny, t);
	decay(fz, g->nz, t);
	for (y = 0; y < g->nyl; y++) {
		for (x = 0; x < g->nx; x++) {
			double f = fy[g->rank * g->nyl + y] * fx[x];

			for (z = 0; z < g->nz; z++)
				*to++ = *from++ * (f * fz[z]);
		}
	}
	free(fx);
}

static cplx checksum(const struct grid *g, const cplx *a)
{
	double sum[2] = { 0 }, all[2];
	int j;

	for (j = 1; j <= SUMMED; j++) {
		int x = j % g->nx, y = 3 * j % g->ny, z = 5 * j % g->nz - g->rank * g->nzl;
		const cplx *at = a + ((size_t)z * g->ny + y) * g->nx + x;

		if (z < 0 || z >= g->nzl)
			continue;
		sum[0] += creal(*at);
		sum[1] += cimag(*at);
	}
	MPI_Allreduce(sum, all, 2, MPI_DOUBLE, MPI_SUM, g->comm);
	return CMPLX(all[0], all[1]) / ((double)g->nx * g->ny * g->nz);
}

/* One point of the transform of the initial grid, as it is defined. Only where all of the grid is in one rank. */
static void check_point(const struct grid *g, const cplx *transformed, int kx, int ky, int kz)
{
	cplx is = transformed[((size_t)ky * g->nx + kx) * g->nz + kz], should = 0;
	uint64_t state = RANDOM_SEED;
	int x, y, z;

	for (z = 0; z < g->nz; z++) {
		for (y = 0; y < g->ny; y++) {
			for (x = 0; x < g->nx; x++) {
				double re = random_next(&state), im = random_next(&state);
				cplx turn_y = times(g->x.root[kx * x % g->nx % (g->nx / 2)],
						    CMPLX(re, im));
				double sign = kx * x % g->nx < g->nx / 2 ? 1 : -1;
				double angle = 2 * M_PI *
					       ((double)ky * y / g->ny + (double)kz * z / g->nz);

				should += sign * times(turn_y, CMPLX(cos(angle), sin(angle)));
			}
		}
	}
	if (cabs(is - should) > 1e-9 * cabs(should))
		job_wrong("point %d, %d, %d is %g%+gi, not %g%+gi", kx, ky, kz, creal(is),
			  cimag(is), creal(should), cimag(should));
}

/* All of it; returns the seconds that it took. checks: compare points with their definition. */
static double solve(const struct class *c, MPI_Comm comm, cplx *sums, int checks)
{
	double start, seconds;
	cplx *a, *b, *evolved;
	struct grid g;
	int t;

	grid_init(&g, c, comm);
	a = job_alloc(g.points * sizeof(*a));
	b = job_alloc(g.points * sizeof(*b));
	evolved = job_alloc(g.points * sizeof(*evolved));
	initial(&g, a);
	memset(g.packed, 0, g.points * sizeof(cplx));
	alltoall(&g, g.packed, b); /* makes connections; not measured */
	MPI_Barrier(comm);
	start = MPI_Wtime();
	transform_planes(&g, a, 1);
	turn(&g, a, b);
	transform_columns(&g, b, 1);
	for (t = 1; t <= c->iterations; t++) {
		evolve(&g, b, evolved, t);
		transform_columns(&g, evolved, -1);
		turn_back(&g, evolved, a);
		transform_planes(&g, a, -1);
		sums[t - 1] = checksum(&g, a);
	}
	seconds = MPI_Wtime() - start;
	if (checks) {
		check_point(&g, b, 1, 2, 3);
		check_point(&g, b, g.nx - 1, g.ny / 2, 5);
	}
	free(a);
	free(b);
	free(evolved);
	grid_free(&g);
	return seconds;
}

static void compare(const cplx *is, const cplx *should, int iterations)
{
	int t;

	for (t = 0; t < iterations; t++) {
		printf("checksum %d %.12e %.12e\n", t + 1, creal(is[t]), cimag(is[t]));
		if (!(cabs(is[t] - should[t]) <= TOLERANCE * cabs(should[t])))
			job_wrong("checksum %d is %.12e%+.12ei alone", t + 1, creal(should[t]),
				  cimag(should[t]));
	}
}

static void usage(FILE *to)
{
	fputs("usage: mpirun ... ft [--class T|S|W]\n"
	      "\n"
	      "Transforms a grid of 32x32x32, 64x64x64 or 128x128x32 points (class T, 3 iterations, or S or W,\n"
	      "6 iterations). The ranks must be a power of two. Prints the checksums, and \"ft CLASS SECONDS\".\n",
	      to);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "class", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	cplx sums[MOST_ITERATIONS], alone[MOST_ITERATIONS];
	const struct class *class = classes;
	double seconds;
	int o;

	while ((o = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		for (class = classes; o == 'c' && class < classes + CLASSES; class ++)
			if (optarg[0] == class->name && !optarg[1])
				break;
		if (o != 'c' || class == classes + CLASSES) {
			usage(o == 'h' ? stdout : stderr);
			return o == 'h' ? EXIT_SUCCESS : 2;
		}
	}
	job_start();
	if (class->ny % job_ranks || class->nz % job_ranks)
		job_die("%d ranks cannot share a grid of %dx%dx%d", job_ranks, class->nx, class->ny,
			class->nz);
	seconds = solve(class, MPI_COMM_WORLD, sums, 0);
	if (!job_rank) {
		solve(class, MPI_COMM_SELF, alone, 1);
		compare(sums, alone, class->iterations);
		printf("ft %c %.3f\n", class->name, seconds);
	}
	return job_end("ft");
}
