/* What the ledger does with each of its many rows, for held.c and its methods: row_kernels.c, and
 * on x86-64 row_kernels_x86.c, which takes the widest registers that the processor has. */
#ifndef HEED_EXPLAIN_ROW_KERNELS_H
#define HEED_EXPLAIN_ROW_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* d . x [count], summed in double. */
double heed_row_dot(const double *d, const float *x, size_t count);
/* to[width] += shares[count] . rows[count, width], in the order of the rows. */
void heed_row_add(const double *shares, const float *rows, size_t count, size_t width, double *to);

/* lanes [width, 8] += what a panel [width, columns] gives of d [columns]: the sum of its eight
 * lanes is that of a row. */
void heed_row_add_panel(const double *d, const float *panel, size_t columns, size_t width,
                        double *lanes);

/* A number of 20 bits lies apart: low [width, 2 bytes], and in high [(width + 1) / 2] four bits of
 * number i and of the one that is half a row further. */
/* The bits of row [width] * scale, each from -ROW_MIDDLE + 1 to ROW_MIDDLE - 1. */
void heed_row_pack(const float *row, size_t width, float scale, unsigned char *low,
                   unsigned char *high);
/* d [width] . the numbers of the bits, summed in double. */
double heed_row_dot_packed(const double *d, const unsigned char *low, const unsigned char *high,
                           size_t width);

enum { ROW_MIDDLE = 1 << 19 }; /* what 0 is of 20 bits */

/* Eight numbers at a time, whatever registers hold: no bit differs. */
typedef float row_floats __attribute__((vector_size(32)));
typedef float row_stored_floats __attribute__((vector_size(32), aligned(4), may_alias));
typedef double row_doubles __attribute__((vector_size(64)));
typedef double row_stored_doubles __attribute__((vector_size(64), aligned(8), may_alias));
typedef int32_t row_ints __attribute__((vector_size(32)));
typedef uint16_t row_words __attribute__((vector_size(16)));
typedef uint16_t row_stored_words __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint8_t row_octets __attribute__((vector_size(8)));
typedef uint8_t row_stored_octets __attribute__((vector_size(8), aligned(1), may_alias));
#define ROW_LOAD(kind, at) (*(const row_stored_##kind *)(const void *)(at))
#define ROW_STORE(kind, at) (*(row_stored_##kind *)(void *)(at))
#define ROW_AS(kind, x) __builtin_convertvector(x, row_##kind)
#define ROW_SUM(x) (((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7])))

/* One number: its low word, and four bits more. */
static inline int32_t row_number(const unsigned char *low, unsigned nibble) {
  uint16_t word;
  memcpy(&word, low, sizeof word);
  return ((int32_t)word | (int32_t)nibble << 16) - ROW_MIDDLE;
}

#define DEFINE_ROW_KERNELS(NAME, ...)                                                            \
  __VA_ARGS__ static double row_dot_##NAME(const double *d, const float *x, size_t count) {      \
    row_doubles sum[2] = {{0}};                                                                  \
    size_t i = 0;                                                                                \
    for (; i + 16 <= count; i += 16)                                                             \
      for (size_t k = 0; k < 2; k++)                                                             \
        sum[k] +=                                                                                \
            ROW_LOAD(doubles, d + i + 8 * k) * ROW_AS(doubles, ROW_LOAD(floats, x + i + 8 * k)); \
    sum[0] += sum[1];                                                                            \
    double all = ROW_SUM(sum[0]);                                                                \
    for (; i < count; i++) all += d[i] * (double)x[i];                                           \
    return all;                                                                                  \
  }                                                                                              \
  __VA_ARGS__ static void row_add_##NAME(const double *shares, const float *rows, size_t count,  \
                                         size_t width, double *to) {                             \
    size_t k = 0;                                                                                \
    for (; k + 8 <= width; k += 8) {                                                             \
      row_doubles sum = ROW_LOAD(doubles, to + k);                                               \
      for (size_t i = 0; i < count; i++)                                                         \
        sum += shares[i] * ROW_AS(doubles, ROW_LOAD(floats, rows + i * width + k));              \
      ROW_STORE(doubles, to + k) = sum;                                                          \
    }                                                                                            \
    for (; k < width; k++)                                                                       \
      for (size_t i = 0; i < count; i++) to[k] += shares[i] * (double)rows[i * width + k];       \
  }                                                                                              \
  __VA_ARGS__ static void row_add_panel_##NAME(const double *d, const float *panel,              \
                                               size_t columns, size_t width, double *lanes) {    \
    const size_t whole = columns - columns % 8;                                                  \
    for (size_t k = 0; k < width; k++, panel += columns, lanes += 8) {                           \
      row_doubles sum = ROW_LOAD(doubles, lanes);                                                \
      for (size_t c = 0; c < whole; c += 8)                                                      \
        sum += ROW_LOAD(doubles, d + c) * ROW_AS(doubles, ROW_LOAD(floats, panel + c));          \
      ROW_STORE(doubles, lanes) = sum;                                                           \
      for (size_t c = whole; c < columns; c++) lanes[c - whole] += d[c] * (double)panel[c];      \
    }                                                                                            \
  }                                                                                              \
  __VA_ARGS__ static void row_pack_##NAME(const float *row, size_t width, float scale,           \
                                          unsigned char *low, unsigned char *high) {             \
    const float middle = (float)ROW_MIDDLE + 0.5f;                                               \
    const size_t half = (width + 1) / 2;                                                         \
    size_t i = 0;                                                                                \
    for (; i + 8 <= width - half; i += 8) {                                                      \
      const row_ints a = ROW_AS(ints, ROW_LOAD(floats, row + i) * scale + middle),               \
                     b = ROW_AS(ints, ROW_LOAD(floats, row + half + i) * scale + middle);        \
      ROW_STORE(words, low + 2 * i) = ROW_AS(words, a);                                          \
      ROW_STORE(words, low + 2 * (half + i)) = ROW_AS(words, b);                                 \
      ROW_STORE(octets, high + i) = ROW_AS(octets, (a >> 16) | (b >> 16) << 4);                  \
    }                                                                                            \
    for (; i < half; i++) {                                                                      \
      const bool two = half + i < width;                                                         \
      const uint32_t a = (uint32_t)(int32_t)(row[i] * scale + middle),                           \
                     b = two ? (uint32_t)(int32_t)(row[half + i] * scale + middle) : 0;          \
      memcpy(low + 2 * i, &(uint16_t){(uint16_t)a}, 2);                                          \
      if (two) memcpy(low + 2 * (half + i), &(uint16_t){(uint16_t)b}, 2);                        \
      high[i] = (unsigned char)(a >> 16 | b >> 16 << 4);                                         \
    }                                                                                            \
  }                                                                                              \
  __VA_ARGS__ static double row_dot_packed_##NAME(const double *d, const unsigned char *low,     \
                                                  const unsigned char *high, size_t width) {     \
    const size_t half = (width + 1) / 2;                                                         \
    row_doubles sum[2] = {{0}};                                                                  \
    size_t i = 0;                                                                                \
    for (; i + 8 <= width - half; i += 8) {                                                      \
      const row_ints more = ROW_AS(ints, ROW_LOAD(octets, high + i)),                            \
                     a = ROW_AS(ints, ROW_LOAD(words, low + 2 * i)) | (more & 15) << 16,         \
                     b = ROW_AS(ints, ROW_LOAD(words, low + 2 * (half + i))) | more >> 4 << 16;  \
      sum[0] += ROW_LOAD(doubles, d + i) * ROW_AS(doubles, a - ROW_MIDDLE);                      \
      sum[1] += ROW_LOAD(doubles, d + half + i) * ROW_AS(doubles, b - ROW_MIDDLE);               \
    }                                                                                            \
    sum[0] += sum[1];                                                                            \
    double all = ROW_SUM(sum[0]);                                                                \
    for (; i < half; i++) {                                                                      \
      all += d[i] * (double)row_number(low + 2 * i, high[i] & 15);                               \
      if (half + i < width)                                                                      \
        all += d[half + i] * (double)row_number(low + 2 * (half + i), high[i] >> 4);             \
    }                                                                                            \
    return all;                                                                                  \
  }

/* Defines the functions above by those for the registers that CHOOSE(name) names. */
#define DEFINE_ROW_FUNCTIONS(CHOOSE)                                                               \
  double heed_row_dot(const double *d, const float *x, size_t count) {                             \
    return CHOOSE(row_dot)(d, x, count);                                                           \
  }                                                                                                \
  void heed_row_add(const double *shares, const float *rows, size_t count, size_t width,           \
                    double *to) {                                                                  \
    CHOOSE(row_add)(shares, rows, count, width, to);                                               \
  }                                                                                                \
  void heed_row_add_panel(const double *d, const float *panel, size_t columns, size_t width,       \
                          double *lanes) {                                                         \
    CHOOSE(row_add_panel)(d, panel, columns, width, lanes);                                        \
  }                                                                                                \
  void heed_row_pack(const float *row, size_t width, float scale, unsigned char *low,              \
                     unsigned char *high) {                                                        \
    CHOOSE(row_pack)(row, width, scale, low, high);                                                \
  }                                                                                                \
  double heed_row_dot_packed(const double *d, const unsigned char *low, const unsigned char *high, \
                             size_t width) {                                                       \
    return CHOOSE(row_dot_packed)(d, low, high, width);                                            \
  }

#endif
