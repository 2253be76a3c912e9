/* The numbers of all rows of a head, for map_scan.c: scan_row.c, and on x86-64 scan_row_x86.c,
 * which takes the widest registers that the processor has. */
#ifndef HEED_EXPLAIN_SCAN_ROW_H
#define HEED_EXPLAIN_SCAN_ROW_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { SCAN_LANES = 16, SCAN_TOP = 5, SCAN_AT_ONCE = 4 };
/* What a row, distances and sums have behind their end, and of a row zeros. */
enum { SCAN_SPARE = 2 * SCAN_LANES };

typedef struct scan_grid {
  size_t prefix, rows, columns;
  float *row;               /* scratch [prefix + patches], with its spare */
  const double *distances;  /* [columns][2 rows - 1][columns], of map_scan.c, with its spare */
  double *offsets, *before; /* the same of weights; [prefix]: both get the weights added */
} scan_grid;

/* Sums over the patch queries. */
typedef struct scan_sums {
  double entropy, top, own; /* of all tokens; of the query itself */
  double moment, share;     /* of patches: weights times distances; the same over their weights */
  double squares;           /* of the weights on patches */
} scan_sums;

/* map [tokens, tokens] */
void heed_scan_rows(const scan_grid *grid, const float *map, scan_sums *found);

/* Sixteen sums, by halves. */
static inline double scan_total(double lane[SCAN_LANES]) {
  for (size_t half = SCAN_LANES / 2; half; half /= 2)
    for (size_t i = 0; i < half; i++) lane[i] += lane[i + half];
  return lane[0];
}

/* The larger weights of each pair to `a`; the network of nine that sorts five. */
#define SCAN_SWAP(MOST, LEAST, a, b)         \
  do {                                       \
    const __typeof__(a) larger = MOST(a, b); \
    (b) = LEAST(a, b);                       \
    (a) = larger;                            \
  } while (0)
#define SCAN_SORT(MOST, LEAST, top)             \
  do {                                          \
    SCAN_SWAP(MOST, LEAST, (top)[0], (top)[3]); \
    SCAN_SWAP(MOST, LEAST, (top)[1], (top)[4]); \
    SCAN_SWAP(MOST, LEAST, (top)[0], (top)[2]); \
    SCAN_SWAP(MOST, LEAST, (top)[1], (top)[3]); \
    SCAN_SWAP(MOST, LEAST, (top)[0], (top)[1]); \
    SCAN_SWAP(MOST, LEAST, (top)[2], (top)[4]); \
    SCAN_SWAP(MOST, LEAST, (top)[1], (top)[2]); \
    SCAN_SWAP(MOST, LEAST, (top)[3], (top)[4]); \
    SCAN_SWAP(MOST, LEAST, (top)[2], (top)[3]); \
  } while (0)

/* A step for several registers, before the next step begins: each waits for its own step before
 * alone, and compilers would put them one behind the other. KEEP: a constraint for such registers.
 */
#define SCAN_EACH(KEEP, to, number)       \
  for (int k = 0; k < at_once; k++) {     \
    (to)[k] = number;                     \
    __asm__ volatile("" : KEEP((to)[k])); \
  }

/* Defines it for registers of BYTES, as scan_rows_BYTES; HALF: 32, or BYTES where that is less.
 * Each width runs the same operations in the same order, in 16 lanes: no bit differs.
 *
 * Queries go column by column, so that the part of the tables that one reads is near the next
 * one's.
 *
 * Entropy: w = 2^e m with m in [sqrt 1/2, sqrt 2). ln m is a polynomial in float (S. Moshier's
 * logf) with an error of 3e-8 at most; e ln 2 and the sums are double. The error of a row that sums
 * to 1 is no larger.
 *
 * The five largest: each lane keeps its own five in order, without branches. Of two such lists the
 * larger of one's i-th and the other's i-th from the end are the five largest of both. */
#define DEFINE_SCAN_ROWS(BYTES, HALF, ...)                                                         \
  typedef float f_##BYTES __attribute__((vector_size(BYTES)));                                     \
  typedef int32_t i_##BYTES __attribute__((vector_size(BYTES)));                                   \
  typedef double d_##BYTES __attribute__((vector_size(BYTES)));                                    \
  typedef float h_##BYTES __attribute__((vector_size(BYTES / 2)));                                 \
  typedef float w_##BYTES __attribute__((vector_size(HALF)));                                      \
  typedef float stored_f_##BYTES __attribute__((vector_size(BYTES), aligned(4), may_alias));       \
  typedef float stored_w_##BYTES __attribute__((vector_size(HALF), aligned(4), may_alias));        \
  typedef float stored_h_##BYTES __attribute__((vector_size(BYTES / 2), aligned(4), may_alias));   \
  typedef double stored_d_##BYTES __attribute__((vector_size(BYTES), aligned(8), may_alias));      \
  typedef union halves_##BYTES {                                                                   \
    f_##BYTES whole;                                                                               \
    i_##BYTES bits;                                                                                \
    h_##BYTES half[2];                                                                             \
  } halves_##BYTES;                                                                                \
  __VA_ARGS__ static inline void entropies_##BYTES(const float *row, int at_once, int parts,       \
                                                   d_##BYTES sums[][2]) {                          \
    f_##BYTES f[SCAN_AT_ONCE], y[SCAN_AT_ONCE], z[SCAN_AT_ONCE];                                   \
    halves_##BYTES w[SCAN_AT_ONCE], power[SCAN_AT_ONCE];                                           \
    for (int k = 0; k < at_once; k++) {                                                            \
      const f_##BYTES x = ((const stored_f_##BYTES *)(const void *)row)[k];                        \
      const i_##BYTES bits = (halves_##BYTES){.whole = x}.bits, e = (bits - 0x3F3504F3) >> 23;     \
      f[k] = (halves_##BYTES){.bits = bits - (e << 23)}.whole - 1.0f;                              \
      w[k].bits = bits & ~(x <= 0.0f);                                                             \
      power[k].whole = __builtin_convertvector(e, f_##BYTES);                                      \
    }                                                                                              \
    SCAN_EACH_##BYTES(y, f[k] * 7.0376836292E-2f - 1.1514610310E-1f);                              \
    SCAN_EACH_##BYTES(y, y[k] * f[k] + 1.1676998740E-1f);                                          \
    SCAN_EACH_##BYTES(y, y[k] * f[k] - 1.2420140846E-1f);                                          \
    SCAN_EACH_##BYTES(y, y[k] * f[k] + 1.4249322787E-1f);                                          \
    SCAN_EACH_##BYTES(y, y[k] * f[k] - 1.6668057665E-1f);                                          \
    SCAN_EACH_##BYTES(y, y[k] * f[k] + 2.0000714765E-1f);                                          \
    SCAN_EACH_##BYTES(y, y[k] * f[k] - 2.4999993993E-1f);                                          \
    SCAN_EACH_##BYTES(y, y[k] * f[k] + 3.3333331174E-1f);                                          \
    SCAN_EACH_##BYTES(z, f[k] * f[k]);                                                             \
    SCAN_EACH_##BYTES(y, f[k] + (f[k] * z[k] * y[k] - z[k] * 0.5f));                               \
    for (int k = 0; k < at_once; k++)                                                              \
      for (int h = 0; h < 2; h++)                                                                  \
        sums[k % parts][h] -= WIDEN_##BYTES(w[k].half[h]) *                                        \
                              (WIDEN_##BYTES((halves_##BYTES){.whole = y[k]}.half[h]) +            \
                               WIDEN_##BYTES(power[k].half[h]) * 0x1.62e42fefa39efp-1);            \
  }                                                                                                \
  __VA_ARGS__ static inline void entropy_##BYTES(const float *row, size_t count,                   \
                                                 double lane[SCAN_LANES]) {                        \
    enum { PARTS = SCAN_LANES * 4 / BYTES, LONG = SCAN_AT_ONCE * BYTES / 4 };                      \
    d_##BYTES sums[PARTS][2];                                                                      \
    size_t i = 0;                                                                                  \
    memcpy(sums, lane, sizeof sums);                                                               \
    for (; i + LONG <= count; i += LONG) entropies_##BYTES(row + i, SCAN_AT_ONCE, PARTS, sums);    \
    for (; i < count; i += SCAN_LANES) entropies_##BYTES(row + i, PARTS, PARTS, sums);             \
    memcpy(lane, sums, sizeof sums);                                                               \
  }                                                                                                \
  __VA_ARGS__ static inline double top_##BYTES(const float *row, size_t count) {                   \
    enum { PARTS = SCAN_LANES * 4 / BYTES, GROUPS = 32 / HALF };                                   \
    float lane[SCAN_TOP][SCAN_LANES];                                                              \
    f_16 last[SCAN_TOP], other[SCAN_TOP];                                                          \
    for (int p = 0; p < PARTS; p++) {                                                              \
      f_##BYTES top[SCAN_TOP] = {0};                                                               \
      for (size_t i = 0; i < count; i += SCAN_LANES) {                                             \
        f_##BYTES x = ((const stored_f_##BYTES *)(const void *)(row + i))[p];                      \
        for (int k = 0; k < SCAN_TOP; k++) SCAN_SWAP(MOST_##BYTES, LEAST_##BYTES, top[k], x);      \
      }                                                                                            \
      for (int k = 0; k < SCAN_TOP; k++) ((stored_f_##BYTES *)(void *)lane[k])[p] = top[k];        \
    }                                                                                              \
    for (int g = 0; g < GROUPS; g++) {                                                             \
      w_##BYTES top[SCAN_TOP];                                                                     \
      for (int k = 0; k < SCAN_TOP; k++)                                                           \
        top[k] = MOST_##HALF(                                                                      \
            ((const stored_w_##BYTES *)(const void *)lane[k])[g],                                  \
            ((const stored_w_##BYTES *)(const void *)lane[SCAN_TOP - 1 - k])[GROUPS + g]);         \
      SCAN_SORT(MOST_##HALF, LEAST_##HALF, top);                                                   \
      for (int k = 0; k < SCAN_TOP; k++) ((stored_w_##BYTES *)(void *)lane[k])[g] = top[k];        \
    }                                                                                              \
    for (int k = 0; k < SCAN_TOP; k++)                                                             \
      last[k] = MOST_16(((const stored_16 *)(const void *)lane[k])[0],                             \
                        ((const stored_16 *)(const void *)lane[SCAN_TOP - 1 - k])[1]);             \
    SCAN_SORT(MOST_16, LEAST_16, last);                                                            \
    for (int k = 0; k < SCAN_TOP; k++) {                                                           \
      const f_16 back = last[SCAN_TOP - 1 - k];                                                    \
      other[k] = MOST_16(last[k], __builtin_shufflevector(back, back, 2, 3, 0, 1));                \
    }                                                                                              \
    SCAN_SORT(MOST_16, LEAST_16, other);                                                           \
    for (int k = 0; k < SCAN_TOP; k++) {                                                           \
      const f_16 back = other[SCAN_TOP - 1 - k];                                                   \
      last[k] = MOST_16(other[k], __builtin_shufflevector(back, back, 1, 0, 3, 2));                \
    }                                                                                              \
    SCAN_SORT(MOST_16, LEAST_16, last);                                                            \
    double sum = 0.0;                                                                              \
    for (int k = 0; k < SCAN_TOP; k++) sum += (double)last[k][0];                                  \
    return sum;                                                                                    \
  }                                                                                                \
  __VA_ARGS__ static inline double total_##BYTES(d_##BYTES *sums) {                                \
    enum { PARTS = SCAN_LANES * 8 / BYTES, LEFT = BYTES / 8 };                                     \
    double lane[LEFT];                                                                             \
    for (size_t half = PARTS / 2; half; half /= 2)                                                 \
      for (size_t i = 0; i < half; i++) sums[i] += sums[i + half];                                 \
    memcpy(lane, sums, sizeof lane);                                                               \
    for (size_t half = LEFT / 2; half; half /= 2)                                                  \
      for (size_t i = 0; i < half; i++) lane[i] += lane[i + half];                                 \
    return lane[0];                                                                                \
  }                                                                                                \
  __VA_ARGS__ static inline void patches_##BYTES(                                                  \
      const float *restrict row, size_t count, const double *restrict distances,                   \
      double *restrict offsets, double *restrict lane, scan_sums *restrict found) {                \
    enum { PARTS = SCAN_LANES * 8 / BYTES };                                                       \
    d_##BYTES moments[PARTS] = {0}, masses[PARTS] = {0}, squares[PARTS];                           \
    memcpy(squares, lane, sizeof squares);                                                         \
    for (size_t i = 0; i < count; i += SCAN_LANES)                                                 \
      for (int p = 0; p < PARTS; p++) {                                                            \
        const h_##BYTES x = ((const stored_h_##BYTES *)(const void *)(row + i))[p];                \
        const d_##BYTES w = WIDEN_##BYTES(x);                                                      \
        moments[p] += w * ((const stored_d_##BYTES *)(const void *)(distances + i))[p];            \
        masses[p] += w;                                                                            \
        squares[p] += w * w;                                                                       \
        ((stored_d_##BYTES *)(void *)(offsets + i))[p] += w;                                       \
      }                                                                                            \
    memcpy(lane, squares, sizeof squares);                                                         \
    const double moment = total_##BYTES(moments), mass = total_##BYTES(masses);                    \
    found->moment += moment;                                                                       \
    if (mass != 0.0) found->share += moment / mass;                                                \
  }                                                                                                \
  __VA_ARGS__ static void scan_rows_##BYTES(const scan_grid *grid, const float *map,               \
                                            scan_sums *found) {                                    \
    const size_t patches = grid->rows * grid->columns, tokens = grid->prefix + patches,            \
                 line = (2 * grid->rows - 1) * grid->columns;                                      \
    double entropy[SCAN_LANES] = {0}, squares[SCAN_LANES] = {0};                                   \
    scan_sums sums = {0};                                                                          \
    for (size_t column = 0; column < grid->columns; column++)                                      \
      for (size_t r = 0; r < grid->rows; r++) {                                                    \
        const size_t own = grid->prefix + r * grid->columns + column,                              \
                     seen = column * line + (grid->rows - 1 - r) * grid->columns;                  \
        const float *row = memcpy(grid->row, map + own * tokens, tokens * sizeof *row);            \
        entropy_##BYTES(row, tokens, entropy);                                                     \
        sums.top += top_##BYTES(row, tokens);                                                      \
        patches_##BYTES(row + grid->prefix, patches, grid->distances + seen, grid->offsets + seen, \
                        squares, &sums);                                                           \
        sums.own += (double)row[own];                                                              \
        for (size_t k = 0; k < grid->prefix; k++) grid->before[k] += (double)row[k];               \
      }                                                                                            \
    sums.entropy = scan_total(entropy);                                                            \
    sums.squares = scan_total(squares);                                                            \
    *found = sums;                                                                                 \
  }
#endif
