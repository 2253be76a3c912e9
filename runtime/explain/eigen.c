/* Eigenpairs by a block Lanczos method with thick restarts (Wu & Simon 2000): a basis grows by
 * products of the matrix with its newest vectors, each made orthogonal to all before it. When the
 * basis is full, the best approximations within it (Rayleigh-Ritz) begin the next one. A block is
 * wider than what is sought, so that equal eigenvalues are all found; up to BASIS rows the basis is
 * the whole space, and the result exact. All in double. */
#include "explain/eigen.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "explain/multiply_strip.h"

_Static_assert((int)HEED_EIGEN_STRIP == (int)STRIP, "columns of a strip lie STRIP apart");

enum {
  BLOCK = LANE_ROWS, /* vectors of a product */
  BASIS = 40,        /* vectors of a full basis */
  KEPT = 16,         /* of them those that begin the next */
  RESTARTS = 60,
  ROOM = 3 * BASIS + 2 * BLOCK /* of memory, [n] each */
};

/* A residual of this share of the largest eigenvalue is none: products of floats, of which the
 * matrix is made, are a hundred times less exact. */
static const double converged = 1e-9;

typedef struct eigen_job {
  const heed_symmetric *matrix;
  size_t n, count, most; /* vectors in the basis; what it holds at most */
  double *basis;         /* [BASIS + BLOCK, n] */
  double *image;         /* [BASIS, n]: the matrix times each */
  double *turned;        /* [BASIS, n]: scratch */
  double *block;         /* [n, BLOCK]: the vectors to be multiplied */
  size_t first, width;   /* which those are */
  uint64_t random;
} eigen_job;

static double dot(const double *a, const double *b, size_t n) {
  double sum[4] = {0};
  size_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (size_t k = 0; k < 4; k++) sum[k] += a[i + k] * b[i + k];
  for (; i < n; i++) sum[0] += a[i] * b[i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Columns of one strip: image[first + v] = matrix basis[first + v]. */
static void multiply_columns(uint64_t strip, uint32_t worker, void *user) {
  (void)worker;
  const eigen_job *job = user;
  const size_t n = job->n, begin = (size_t)strip * HEED_EIGEN_STRIP;
  const double *from = job->matrix->strips + begin * n;
  for (size_t c = 0; c < HEED_EIGEN_STRIP && begin + c < n; c += LANES) {
    double sum[BLOCK * LANES];
    heed_multiply_lanes(job->block, n, from + c, sum);
    for (size_t v = 0; v < job->width; v++)
      for (size_t k = 0; k < LANES && begin + c + k < n; k++)
        job->image[(job->first + v) * n + begin + c + k] = sum[v * LANES + k];
  }
}

/* Images of the vectors of the basis from `first` on. */
static void multiply_newest(heed_thread_pool *pool, eigen_job *job, size_t first) {
  const size_t n = job->n;
  for (job->first = first; job->first < job->count; job->first += BLOCK) {
    job->width = job->count - job->first < BLOCK ? job->count - job->first : BLOCK;
    for (size_t i = 0; i < n; i++)
      for (size_t v = 0; v < BLOCK; v++)
        job->block[i * BLOCK + v] = v < job->width ? job->basis[(job->first + v) * n + i] : 0.0;
    heed_thread_pool_run(pool, (n + HEED_EIGEN_STRIP - 1) / HEED_EIGEN_STRIP, multiply_columns,
                         job);
  }
}

/* Appends what of the vector is orthogonal to the basis; nothing where that is rounding alone. */
static bool append(eigen_job *job, const double *vector) {
  const size_t n = job->n;
  double *to = job->basis + job->count * n;
  if (vector != to) memcpy(to, vector, n * sizeof *to);
  const double before = sqrt(dot(to, to, n));
  for (int pass = 0; pass < 2; pass++)
    for (size_t b = 0; b < job->count; b++) {
      const double *other = job->basis + b * n, share = dot(to, other, n);
      for (size_t i = 0; i < n; i++) to[i] -= share * other[i];
    }
  const double length = sqrt(dot(to, to, n));
  if (!(length > 1e-13 * before)) return false;
  for (size_t i = 0; i < n; i++) to[i] /= length;
  job->count++;
  return true;
}

/* xorshift64*: the same start everywhere. */
static void append_random(eigen_job *job) {
  double *to = job->basis + job->count * job->n;
  for (size_t i = 0; i < job->n; i++) {
    job->random ^= job->random >> 12;
    job->random ^= job->random << 25;
    job->random ^= job->random >> 27;
    to[i] = (double)(int64_t)(job->random * UINT64_C(2685821657736338717)) * 0x1p-63;
  }
  append(job, to);
}

/* Eigenpairs of a small symmetric matrix by Jacobi's rotations: of[size, size] becomes diagonal,
 * and the rows of turn the vectors, which are sorted by value, largest first. */
static void diagonalise(double *of, double *turn, size_t size) {
  double largest = 0.0;
  for (size_t i = 0; i < size * size; i++) {
    turn[i] = i % (size + 1) == 0;
    if (fabs(of[i]) > largest) largest = fabs(of[i]);
  }
  for (int sweep = 0; sweep < 30; sweep++) {
    bool changed = false;
    for (size_t p = 0; p < size; p++)
      for (size_t q = p + 1; q < size; q++) {
        const double side = of[p * size + q];
        if (!(fabs(side) > 1e-14 * largest)) continue;
        changed = true;
        const double theta = (of[q * size + q] - of[p * size + p]) / (2.0 * side),
                     t = (theta < 0.0 ? -1.0 : 1.0) / (fabs(theta) + sqrt(theta * theta + 1.0)),
                     c = 1.0 / sqrt(t * t + 1.0), s = t * c;
        double *rows[] = {of, turn};
        for (size_t k = 0; k < size; k++) {
          const double a = of[k * size + p], b = of[k * size + q];
          of[k * size + p] = c * a - s * b;
          of[k * size + q] = s * a + c * b;
        }
        for (int m = 0; m < 2; m++)
          for (size_t k = 0; k < size; k++) {
            const double a = rows[m][p * size + k], b = rows[m][q * size + k];
            rows[m][p * size + k] = c * a - s * b;
            rows[m][q * size + k] = s * a + c * b;
          }
      }
    if (!changed) break;
  }
  for (size_t i = 0; i < size; i++) {
    size_t best = i;
    for (size_t k = i + 1; k < size; k++)
      if (of[k * size + k] > of[best * size + best]) best = k;
    const double value = of[i * size + i];
    of[i * size + i] = of[best * size + best];
    of[best * size + best] = value;
    for (size_t k = 0; best != i && k < size; k++) {
      const double kept = turn[i * size + k];
      turn[i * size + k] = turn[best * size + k];
      turn[best * size + k] = kept;
    }
  }
}

/* rows[kept, n] become turn[kept, size] rows[size, n]. */
static void turn_rows(eigen_job *job, double *rows, const double *turn, size_t size, size_t kept) {
  const size_t n = job->n;
  memset(job->turned, 0, kept * n * sizeof *job->turned);
  for (size_t r = 0; r < kept; r++)
    for (size_t k = 0; k < size; k++)
      for (size_t i = 0; i < n; i++) job->turned[r * n + i] += turn[r * size + k] * rows[k * n + i];
  memcpy(rows, job->turned, kept * n * sizeof *rows);
}

/* The basis becomes the best approximations of eigenvectors in it, as many as are kept, and values
 * theirs. Returns the largest residual of those sought. */
static double approximate(eigen_job *job, size_t sought, double values[BASIS]) {
  const size_t size = job->count, n = job->n, kept = size < KEPT ? size : KEPT;
  double inner[BASIS * BASIS], turn[BASIS * BASIS];
  if (size == 0) return 0.0; /* else gcc for arm64 warns of turn */
  for (size_t i = 0; i < size; i++)
    for (size_t k = 0; k <= i; k++)
      inner[i * size + k] = inner[k * size + i] = dot(job->basis + i * n, job->image + k * n, n);
  diagonalise(inner, turn, size);
  turn_rows(job, job->basis, turn, size, kept);
  turn_rows(job, job->image, turn, size, kept);
  job->count = kept;
  double worst = 0.0;
  for (size_t r = 0; r < kept; r++) {
    double residual = 0.0;
    values[r] = inner[r * size + r];
    for (size_t i = 0; i < n; i++) {
      const double off = job->image[r * n + i] - values[r] * job->basis[r * n + i];
      residual += off * off;
    }
    if (r < sought && sqrt(residual) > worst) worst = sqrt(residual);
  }
  return worst;
}

static void find(heed_thread_pool *pool, eigen_job *job, size_t sought, double values[BASIS]) {
  const size_t n = job->n;
  while (job->count < BLOCK && job->count < job->most) append_random(job);
  size_t newest = 0;
  for (int restart = 0; restart < RESTARTS; restart++) {
    while (true) {
      const size_t end = job->count;
      multiply_newest(pool, job, newest);
      for (size_t v = newest; v < end && job->count < job->most; v++)
        if (!append(job, job->image + v * n)) append_random(job);
      newest = end;
      if (job->count == end) break;
    }
    /* What leads out of the basis: of the images of its newest vectors what is orthogonal to all of
     * it. The residuals of all approximations are made of these. */
    const size_t size = job->count;
    for (size_t v = size - BLOCK; job->most < n && v < size; v++)
      if (!append(job, job->image + v * n)) append_random(job);
    const size_t leading = job->count - size;
    job->count = size;
    if (approximate(job, sought, values) <= converged * fabs(values[0]) || !leading) return;
    memcpy(job->basis + KEPT * n, job->basis + size * n, leading * n * sizeof *job->basis);
    newest = KEPT;
    job->count = KEPT + leading;
  }
}

heed_status heed_eigen_largest(const heed_context *context, heed_thread_pool *pool,
                               const heed_symmetric *matrix, size_t count, double *values,
                               double *vectors, heed_error *error) {
  const size_t n = matrix->n;
  eigen_job job = {.matrix = matrix,
                   .n = n,
                   .most = n < BASIS ? n : BASIS,
                   .random = UINT64_C(0x9E3779B97F4A7C15)};
  double found[BASIS];
  double *memory = heed_alloc(context, n, ROOM * sizeof *memory);
  if (!memory) return heed_fail_memory(error, "eigenvectors", n * ROOM * sizeof *memory);
  job.basis = memory;
  job.image = job.basis + (BASIS + BLOCK) * n;
  job.turned = job.image + BASIS * n;
  job.block = job.turned + BASIS * n;
  find(pool, &job, count, found);
  memcpy(values, found, count * sizeof *values);
  memcpy(vectors, job.basis, count * n * sizeof *vectors);
  heed_free(context, memory);
  return HEED_OK;
}
