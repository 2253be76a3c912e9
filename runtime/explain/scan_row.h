/* The numbers of a row of weights, for map_scan.c: scan_row.c, and on x86-64 scan_row_x86.c, which
 * takes the widest registers that the processor has. */
#ifndef HEED_EXPLAIN_SCAN_ROW_H
#define HEED_EXPLAIN_SCAN_ROW_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { SCAN_LANES = 16, SCAN_TOP = 5 };

typedef struct scan_row {
  double entropy, top; /* of all tokens */
  double moment, mass; /* of patches: weights times distances; weights */
} scan_row;

/* row [prefix + patches]; distances [patches] from this query; offsets [patches] get the weights
 * added. */
void heed_scan_row(const float *row, size_t prefix, size_t patches, const double *distances,
                   double *offsets, scan_row *found);

/* Defines it for registers of BYTES, as scan_row_BYTES. Each width runs the same operations in the
 * same order, in 16 lanes: no bit differs.
 *
 * Entropy: w = 2^e m with m in [sqrt 1/2, sqrt 2). ln m is a polynomial in float (S. Moshier's
 * logf) with an error of 3e-8 at most; e ln 2 and the sums are double. The error of a row that sums
 * to 1 is no larger. */
#define DEFINE_SCAN_ROW(BYTES, ...)                                                              \
  typedef float f_##BYTES __attribute__((vector_size(BYTES)));                                   \
  typedef int32_t i_##BYTES __attribute__((vector_size(BYTES)));                                 \
  typedef double d_##BYTES __attribute__((vector_size(BYTES)));                                  \
  typedef float h_##BYTES __attribute__((vector_size(BYTES / 2)));                               \
  typedef float stored_f_##BYTES __attribute__((vector_size(BYTES), aligned(4), may_alias));     \
  typedef float stored_h_##BYTES __attribute__((vector_size(BYTES / 2), aligned(4), may_alias)); \
  typedef double stored_d_##BYTES __attribute__((vector_size(BYTES), aligned(8), may_alias));    \
  typedef int8_t b_##BYTES __attribute__((vector_size(BYTES / 4)));                              \
  typedef union halves_##BYTES {                                                                 \
    f_##BYTES whole;                                                                             \
    i_##BYTES bits;                                                                              \
    h_##BYTES half[2];                                                                           \
  } halves_##BYTES;                                                                              \
  __VA_ARGS__ static double entropy_##BYTES(const float *row, size_t count) {                    \
    enum { PARTS = SCAN_LANES * 4 / BYTES };                                                     \
    d_##BYTES sums[PARTS][2] = {0};                                                              \
    for (size_t i = 0; i < count; i += SCAN_LANES) {                                             \
      float rest[SCAN_LANES] = {0};                                                              \
      const float *from = row + i;                                                               \
      if (count - i < SCAN_LANES) from = memcpy(rest, from, (count - i) * sizeof *from);         \
      for (int p = 0; p < PARTS; p++) {                                                          \
        const f_##BYTES x = ((const stored_f_##BYTES *)(const void *)from)[p];                   \
        const i_##BYTES bits = (halves_##BYTES){.whole = x}.bits;                                \
        const i_##BYTES e = (bits - 0x3F3504F3) >> 23;                                           \
        const f_##BYTES f = (halves_##BYTES){.bits = bits - (e << 23)}.whole - 1.0f;             \
        const f_##BYTES z = f * f;                                                               \
        f_##BYTES y = f * 7.0376836292E-2f - 1.1514610310E-1f;                                   \
        y = y * f + 1.1676998740E-1f;                                                            \
        y = y * f - 1.2420140846E-1f;                                                            \
        y = y * f + 1.4249322787E-1f;                                                            \
        y = y * f - 1.6668057665E-1f;                                                            \
        y = y * f + 2.0000714765E-1f;                                                            \
        y = y * f - 2.4999993993E-1f;                                                            \
        y = y * f + 3.3333331174E-1f;                                                            \
        const halves_##BYTES ln = {.whole = f + (f * z * y - z * 0.5f)},                         \
                             power = {.whole = __builtin_convertvector(e, f_##BYTES)},           \
                             w = {.bits = bits & ~(x <= 0.0f)};                                  \
        for (int h = 0; h < 2; h++)                                                              \
          sums[p][h] +=                                                                          \
              __builtin_convertvector(w.half[h], d_##BYTES) *                                    \
              (__builtin_convertvector(ln.half[h], d_##BYTES) +                                  \
               __builtin_convertvector(power.half[h], d_##BYTES) * 0x1.62e42fefa39efp-1);        \
      }                                                                                          \
    }                                                                                            \
    double lane[SCAN_LANES], sum = 0.0;                                                          \
    memcpy(lane, sums, sizeof lane);                                                             \
    for (int i = 0; i < SCAN_LANES; i++) sum -= lane[i];                                         \
    return sum;                                                                                  \
  }                                                                                              \
  __VA_ARGS__ static void patches_##BYTES(const float *restrict row, size_t count,               \
                                          const double *restrict distances,                      \
                                          double *restrict offsets, scan_row *found) {           \
    enum { PARTS = SCAN_LANES * 8 / BYTES };                                                     \
    d_##BYTES moments[PARTS] = {0}, masses[PARTS] = {0};                                         \
    double moment[SCAN_LANES], mass[SCAN_LANES];                                                 \
    size_t i = 0;                                                                                \
    for (; i + SCAN_LANES <= count; i += SCAN_LANES)                                             \
      for (int p = 0; p < PARTS; p++) {                                                          \
        const h_##BYTES x = ((const stored_h_##BYTES *)(const void *)(row + i))[p];              \
        const d_##BYTES w = __builtin_convertvector(x, d_##BYTES);                               \
        moments[p] += w * ((const stored_d_##BYTES *)(const void *)(distances + i))[p];          \
        masses[p] += w;                                                                          \
        ((stored_d_##BYTES *)(void *)(offsets + i))[p] += w;                                     \
      }                                                                                          \
    memcpy(moment, moments, sizeof moment);                                                      \
    memcpy(mass, masses, sizeof mass);                                                           \
    for (size_t lane = 0; i < count; i++, lane++) {                                              \
      moment[lane] += (double)row[i] * distances[i];                                             \
      mass[lane] += (double)row[i];                                                              \
      offsets[i] += (double)row[i];                                                              \
    }                                                                                            \
    found->moment = found->mass = 0.0;                                                           \
    for (int lane = 0; lane < SCAN_LANES; lane++) {                                              \
      found->moment += moment[lane];                                                             \
      found->mass += mass[lane];                                                                 \
    }                                                                                            \
  }                                                                                              \
  __VA_ARGS__ static double top_##BYTES(const float *row, size_t count) {                        \
    enum { PARTS = SCAN_LANES * 4 / BYTES };                                                     \
    const size_t whole = count - count % SCAN_LANES;                                             \
    f_##BYTES most[PARTS] = {0};                                                                 \
    for (size_t i = 0; i < whole; i += SCAN_LANES)                                               \
      for (int p = 0; p < PARTS; p++) {                                                          \
        const halves_##BYTES x = {.whole =                                                       \
                                      ((const stored_f_##BYTES *)(const void *)(row + i))[p]},   \
                             m = {.whole = most[p]};                                             \
        const i_##BYTES more = x.whole > m.whole;                                                \
        most[p] = (halves_##BYTES){.bits = (x.bits & more) | (m.bits & ~more)}.whole;            \
      }                                                                                          \
    float lane[SCAN_LANES], bound[SCAN_TOP] = {0}, top[SCAN_TOP] = {0};                          \
    memcpy(lane, most, sizeof lane);                                                             \
    for (int k = 0; k < SCAN_LANES; k++) keep_top(bound, lane[k]);                               \
    for (size_t i = 0; i < whole; i += SCAN_LANES) {                                             \
      uint64_t hits[2];                                                                          \
      b_##BYTES some[PARTS];                                                                     \
      for (int p = 0; p < PARTS; p++) {                                                          \
        const f_##BYTES x = ((const stored_f_##BYTES *)(const void *)(row + i))[p];              \
        some[p] =                                                                                \
            __builtin_convertvector(~((x < bound[SCAN_TOP - 1]) | (x <= 0.0f)) & 1, b_##BYTES);  \
      }                                                                                          \
      memcpy(hits, some, sizeof hits);                                                           \
      for (size_t h = 0; h < 2; h++)                                                             \
        for (; hits[h]; hits[h] &= hits[h] - 1)                                                  \
          keep_top(top, row[i + 8 * h + (size_t)__builtin_ctzll(hits[h]) / 8]);                  \
    }                                                                                            \
    for (size_t i = whole; i < count; i++) keep_top(top, row[i]);                                \
    double sum = 0.0;                                                                            \
    for (int k = 0; k < SCAN_TOP; k++) sum += (double)top[k];                                    \
    return sum;                                                                                  \
  }                                                                                              \
  __VA_ARGS__ static void scan_row_##BYTES(const float *row, size_t prefix, size_t patches,      \
                                           const double *distances, double *offsets,             \
                                           scan_row *found) {                                    \
    found->entropy = entropy_##BYTES(row, prefix + patches);                                     \
    found->top = top_##BYTES(row, prefix + patches);                                             \
    patches_##BYTES(row + prefix, patches, distances, offsets, found);                           \
  }

/* Without branches: which weight is large cannot be foretold. */
static inline void keep_top(float top[SCAN_TOP], float weight) {
  for (int k = 0; k < SCAN_TOP; k++) {
    const float held = top[k];
    top[k] = weight > held ? weight : held;
    weight = weight > held ? held : weight;
  }
}
#endif
