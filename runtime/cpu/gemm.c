/* The matrix tile, written once for every number of rows, and what goes around it. Loop order after
 * Goto & van de Geijn 2008, "Anatomy of High-Performance Matrix Multiplication": a slice of a panel
 * stays in the first cache, packed rows stream past it. */
#include "cpu/gemm.h"

#include <string.h>

/* Rows of sums that are finished together: few enough for the first cache, enough that an
 * activation's constants are fetched seldom. */
#define FINISH_ROWS 48u

/* Floats of a cache line. */
#define LINE 16u

/* Rows 0 .. m - 1 as (row, group, place in the group): three rows share one pointer, since x +
 * stride and x + 2 stride are addresses of their own on x86, and thirteen pointers do not fit its
 * registers. */
#define ROWS_1(X) X(0, 0, 0)
#define ROWS_2(X) ROWS_1(X) X(1, 0, 1)
#define ROWS_3(X) ROWS_2(X) X(2, 0, 2)
#define ROWS_4(X) ROWS_3(X) X(3, 1, 0)
#define ROWS_5(X) ROWS_4(X) X(4, 1, 1)
#define ROWS_6(X) ROWS_5(X) X(5, 1, 2)
#define ROWS_7(X) ROWS_6(X) X(6, 2, 0)
#define ROWS_8(X) ROWS_7(X) X(7, 2, 1)
#define ROWS_9(X) ROWS_8(X) X(8, 2, 2)
#define ROWS_10(X) ROWS_9(X) X(9, 3, 0)
#define ROWS_11(X) ROWS_10(X) X(10, 3, 1)
#define ROWS_12(X) ROWS_11(X) X(11, 3, 2)

#define GROUPS_1(X) X(0)
#define GROUPS_2(X) GROUPS_1(X) X(1)
#define GROUPS_3(X) GROUPS_2(X) X(2)
#define GROUPS_4(X) GROUPS_3(X) X(3)

#define GROUP_START(g) const float *x##g = x + (g)*3 * x_stride;
#define GROUP_NEXT(g) x##g++;
#define STORE_SUM(at, sum) f32_store(at, add ? f32_add(f32_load(at), sum) : sum);

/* Two vectors of columns, which stay in registers while all rows are multiplied. */
#define ROW_LOAD_2(i, g, r) f32xN low##i = f32_set1(0.0f), high##i = f32_set1(0.0f);
#define ROW_STEP(i, g, r)                         \
  {                                               \
    const f32xN a = f32_set1(x##g[(r)*x_stride]); \
    low##i = f32_fma(a, b_low, low##i);           \
    high##i = f32_fma(a, b_high, high##i);        \
  }
#define PACKED_STEP(i, g, r)               \
  {                                        \
    const f32xN a = f32_set1(rows[i]);     \
    low##i = f32_fma(a, b_low, low##i);    \
    high##i = f32_fma(a, b_high, high##i); \
  }
#define ROW_STORE_2(i, g, r)              \
  STORE_SUM(out + (i)*out_stride, low##i) \
  STORE_SUM(out + (i)*out_stride + HEED_SIMD_WIDTH, high##i)
#define STRIDED_STEPS_2(m)                                                         \
  const f32xN b_low = f32_load(panel), b_high = f32_load(panel + HEED_SIMD_WIDTH); \
  ROWS_##m(ROW_STEP)
#define PACKED_STEPS_2(m)                                                          \
  const f32xN b_low = f32_load(panel), b_high = f32_load(panel + HEED_SIMD_WIDTH); \
  ROWS_##m(PACKED_STEP)

/* Six vectors, each multiplied into every row as soon as it is loaded: one register for it, one a
 * row for x, all others for sums. */
#define VECTORS(X, i) X(i, 0) X(i, 1) X(i, 2) X(i, 3) X(i, 4) X(i, 5)
#define SUM(i, v) f32xN sum##i##_##v = f32_set1(0.0f);
#define ROW_LOAD_6(i, g, r) VECTORS(SUM, i)
#define ROW_TAKE(i, g, r) const f32xN a##i = f32_set1(x##g[(r)*x_stride]);
#define PACKED_TAKE(i, g, r) const f32xN a##i = f32_set1(rows[i]);
#define ADD_ROW(i, v) sum##i##_##v = f32_fma(a##i, b, sum##i##_##v);
#define ADD_1(v) ADD_ROW(0, v)
#define ADD_2(v) ADD_1(v) ADD_ROW(1, v)
#define STEP(m, v)                                         \
  {                                                        \
    const f32xN b = f32_load(panel + (v)*HEED_SIMD_WIDTH); \
    ADD_##m(v)                                             \
  }
#define STORE_VECTOR(i, v) STORE_SUM(out + (i)*out_stride + (v)*HEED_SIMD_WIDTH, sum##i##_##v)
#define ROW_STORE_6(i, g, r) VECTORS(STORE_VECTOR, i)
#define STRIDED_STEPS_6(m) ROWS_##m(ROW_TAKE) VECTORS(STEP, m)
#define PACKED_STEPS_6(m) ROWS_##m(PACKED_TAKE) VECTORS(STEP, m)

/* Those of this level. */
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define ROW_LOAD JOIN(ROW_LOAD_, HEED_TILE_VECTORS)
#define ROW_STORE JOIN(ROW_STORE_, HEED_TILE_VECTORS)
#define STRIDED_STEPS JOIN(STRIDED_STEPS_, HEED_TILE_VECTORS)
#define PACKED_STEPS JOIN(PACKED_STEPS_, HEED_TILE_VECTORS)

/* One vector of columns alone. */
#define NARROW_LOAD(i, g, r) f32xN sum##i = f32_set1(0.0f);
#define NARROW_STEP(i, g, r) sum##i = f32_fma(f32_set1(x##g[(r)*x_stride]), b, sum##i);
#define NARROW_STORE(i, g, r) f32_store(out + (i)*out_stride, sum##i);
#define DEFINE_NARROW(m, groups)                                                                 \
  static HEED_NOINLINE void narrow_##m(const float *x, size_t x_stride, const float *panel,      \
                                       size_t panel_stride, size_t k, float *out,                \
                                       size_t out_stride) {                                      \
    GROUPS_##groups(GROUP_START) ROWS_##m(NARROW_LOAD) for (size_t left = k; left > 0; left--) { \
      const f32xN b = f32_load(panel);                                                           \
      ROWS_##m(NARROW_STEP) GROUPS_##groups(GROUP_NEXT) panel += panel_stride;                   \
    }                                                                                            \
    ROWS_##m(NARROW_STORE)                                                                       \
  }

/* tile_m reads its rows where they lie; packed_m has them side by side, `step` floats from
 * one k to the next. The loops are not unrolled: on x86 that gains nothing, and WASM
 * engines spill. */
#define DEFINE_TILE(m, groups)                                                                     \
  static HEED_NOINLINE void tile_##m(const float *x, size_t x_stride, const float *panel,          \
                                     size_t panel_stride, size_t k, float *out, size_t out_stride, \
                                     bool add) {                                                   \
    GROUPS_##groups(GROUP_START) ROWS_##m(ROW_LOAD) for (size_t left = k; left > 0; left--) {      \
      STRIDED_STEPS(m) GROUPS_##groups(GROUP_NEXT) panel += panel_stride;                          \
    }                                                                                              \
    ROWS_##m(ROW_STORE)                                                                            \
  }                                                                                                \
  static HEED_NOINLINE void packed_##m(const float *rows, size_t step, const float *panel,         \
                                       size_t k, float *out, size_t out_stride, bool add) {        \
    ROWS_##m(ROW_LOAD) for (; k > 0; k--, rows += step, panel += HEED_TILE_COLUMNS){               \
        PACKED_STEPS(m)} ROWS_##m(ROW_STORE)                                                       \
  }                                                                                                \
  DEFINE_NARROW(m, groups)

/* The tiles of a level: of up to HEED_TILE_ROWS rows, each with its groups. */
#define TILES_2(X) X(1, 1) X(2, 1)
#define TILES_4(X) TILES_2(X) X(3, 1) X(4, 2)
#define TILES_6(X) TILES_4(X) X(5, 2) X(6, 2)
#define TILES_8(X) TILES_6(X) X(7, 3) X(8, 3)
#define TILES_12(X) TILES_8(X) X(9, 3) X(10, 4) X(11, 4) X(12, 4)
#define TILES JOIN(TILES_, HEED_TILE_ROWS)

TILES(DEFINE_TILE)

typedef struct tile_functions {
  void (*strided)(const float *x, size_t x_stride, const float *panel, size_t panel_stride,
                  size_t k, float *out, size_t out_stride, bool add);
  void (*packed)(const float *rows, size_t step, const float *panel, size_t k, float *out,
                 size_t out_stride, bool add);
} tile_functions;

#define TILE(m, groups) [m] = {tile_##m, packed_##m},
static const tile_functions tiles[HEED_TILE_ROWS + 1] = {TILES(TILE)};

#define NARROW(m, groups) [m] = narrow_##m,
static void (*const narrow_tiles[HEED_TILE_ROWS + 1])(const float *x, size_t x_stride,
                                                      const float *panel, size_t panel_stride,
                                                      size_t k, float *out,
                                                      size_t out_stride) = {TILES(NARROW)};

void heed_cpu_tile(uint32_t m, const float *x, size_t x_stride, const float *panel,
                   size_t panel_stride, size_t k, float *out, size_t out_stride, bool add) {
  tiles[m].strided(x, x_stride, panel, panel_stride, k, out, out_stride, add);
}

void heed_cpu_turned_tile(uint32_t m, const float *x, size_t x_stride, const float *panel, size_t k,
                          float *out, size_t out_stride, bool add) {
  tiles[m].packed(x, x_stride, panel, k, out, out_stride, add);
}

void heed_cpu_narrow_tile(uint32_t m, const float *x, size_t x_stride, const float *panel,
                          size_t panel_stride, size_t k, float *out, size_t out_stride) {
  narrow_tiles[m](x, x_stride, panel, panel_stride, k, out, out_stride);
}

/* A width x width corner, transposed through registers. */
static void pack_block(const float *from, size_t depth, float *panel) {
  f32xN rows[HEED_SIMD_WIDTH];
  for (uint32_t i = 0; i < HEED_SIMD_WIDTH; i++) rows[i] = f32_load(from + i * depth);
  f32_transpose(rows);
  for (uint32_t i = 0; i < HEED_SIMD_WIDTH; i++) f32_store(panel + i * HEED_TILE_COLUMNS, rows[i]);
}

/* One vector's width of a panel: `rows` of its HEED_SIMD_WIDTH columns exist. */
static void pack_vector(const float *from, size_t depth, uint32_t rows, float *panel) {
  size_t k = 0;
  if (rows == HEED_SIMD_WIDTH)
    for (; k + HEED_SIMD_WIDTH <= depth; k += HEED_SIMD_WIDTH)
      pack_block(from + k, depth, panel + k * HEED_TILE_COLUMNS);
  for (; k < depth; k++)
    for (uint32_t n = 0; n < HEED_SIMD_WIDTH; n++)
      panel[k * HEED_TILE_COLUMNS + n] = n < rows ? from[n * depth + k] : 0.0f;
}

void heed_cpu_pack_panel(const float *from, size_t depth, uint32_t rows, float *panel) {
  for (uint32_t n = 0; n < HEED_TILE_COLUMNS; n += HEED_SIMD_WIDTH) {
    const uint32_t left = n < rows ? rows - n : 0,
                   count = left < HEED_SIMD_WIDTH ? left : HEED_SIMD_WIDTH;
    pack_vector(from + (size_t)(rows - left) * depth, depth, count, panel + n);
  }
}

/* rows (at most a vector's) x one vector of depth, transposed through registers. */
static void pack_corner(const float *x, size_t stride, uint32_t rows, float *to, size_t to_stride) {
  f32xN block[HEED_SIMD_WIDTH];
  for (uint32_t i = 0; i < HEED_SIMD_WIDTH; i++)
    block[i] = i < rows ? f32_load(x + i * stride) : f32_set1(0.0f);
  f32_transpose(block);
  for (uint32_t i = 0; i < HEED_SIMD_WIDTH; i++) f32_store_tail(to + i * to_stride, block[i], rows);
}

/* x [rows, depth] to [depth][rows]; rows at most a tile's. */
static void pack_slice(const float *x, size_t stride, size_t rows, size_t depth, float *to) {
  for (size_t row = 0; row < rows; row += HEED_SIMD_WIDTH) {
    const uint32_t count = rows - row < HEED_SIMD_WIDTH ? (uint32_t)(rows - row) : HEED_SIMD_WIDTH;
    size_t k = 0;
    for (; k + HEED_SIMD_WIDTH <= depth; k += HEED_SIMD_WIDTH)
      pack_corner(x + row * stride + k, stride, count, to + k * rows + row, rows);
    for (; k < depth; k++)
      for (uint32_t i = 0; i < count; i++) to[k * rows + row + i] = x[(row + i) * stride + k];
  }
}

void heed_cpu_pack_tile(const float *x, size_t stride, size_t depth, size_t count, size_t tile,
                        float *group) {
  const size_t first = tile * HEED_TILE_ROWS,
               rows = count - first < HEED_TILE_ROWS ? count - first : HEED_TILE_ROWS,
               slice = heed_cpu_slice_depth(depth);
  for (size_t from = 0; from < depth; from += slice) {
    const size_t here = depth - from < slice ? depth - from : slice;
    pack_slice(x + from, stride, rows, here, group + from * count + first * here);
  }
}

/* tile [m, W] + bias[count columns]. */
static void add_bias(float *tile, size_t m, const float *bias, uint32_t count) {
  for (uint32_t n = 0; n < count; n += HEED_SIMD_WIDTH) {
    const f32xN add =
        count - n < HEED_SIMD_WIDTH ? f32_load_tail(bias + n, count - n) : f32_load(bias + n);
    for (size_t i = 0; i < m; i++)
      f32_store(tile + i * HEED_TILE_COLUMNS + n,
                f32_add(f32_load(tile + i * HEED_TILE_COLUMNS + n), add));
  }
}

/* to[count] = from[count] + bias[count] + residual[count]; either may be NULL. */
static void store_row(const float *from, const float *bias, const float *residual, float *to,
                      size_t count) {
  size_t n = 0;
  for (; n + HEED_SIMD_WIDTH <= count; n += HEED_SIMD_WIDTH) {
    f32xN a = f32_load(from + n);
    if (bias) a = f32_add(a, f32_load(bias + n));
    if (residual) a = f32_add(a, f32_load(residual + n));
    f32_store(to + n, a);
  }
  if (n == count) return;
  const uint32_t rest = (uint32_t)(count - n);
  f32xN a = f32_load_tail(from + n, rest);
  if (bias) a = f32_add(a, f32_load_tail(bias + n, rest));
  if (residual) a = f32_add(a, f32_load_tail(residual + n, rest));
  f32_store_tail(to + n, a, rest);
}

/* Columns [column, column + count) of m rows of sums to their places in [parts, B, heads, tokens,
 * head_depth]. */
static void store_head_major(const heed_cpu_product *p, const float *sums, const float *bias,
                             size_t row, size_t m, size_t column, size_t count) {
  const size_t batch = p->rows / p->tokens;
  for (size_t done = 0; done < count;) {
    /* head counts through the parts */
    const size_t head = (column + done) / p->head_depth, d = (column + done) % p->head_depth;
    const size_t left = count - done, here = p->head_depth - d < left ? p->head_depth - d : left;
    /* the plane of batch 0 */
    const size_t first = head / p->heads * batch * p->heads + head % p->heads;
    size_t b = row / p->tokens, t = row % p->tokens;
    for (size_t i = 0; i < m; i++) {
      store_row(sums + i * HEED_TILE_COLUMNS + done, bias ? bias + done : NULL, NULL,
                p->y + ((first + b * p->heads) * p->tokens + t) * p->head_depth + d, here);
      t++;
      if (t == p->tokens) {
        t = 0;
        b++;
      }
    }
    done += here;
  }
}

/* Bias, activation, residual, and out of m rows of sums into y. */
static void finish_rows(const heed_cpu_product *p, float *sums, size_t row, size_t m,
                        size_t column) {
  const size_t left = p->columns - column,
               count = left < HEED_TILE_COLUMNS ? left : HEED_TILE_COLUMNS;
  const float *bias = p->bias ? p->bias + column : NULL;
  if (p->activation != HEED_ACTIVATION_NONE) {
    if (bias) add_bias(sums, m, bias, (uint32_t)count);
    heed_cpu_activate(p->activation, sums, sums, m * HEED_TILE_COLUMNS);
    bias = NULL;
  }
  if (p->heads) store_head_major(p, sums, bias, row, m, column, count);
  for (size_t i = 0; i < m && !p->heads; i++) {
    const size_t at = (row + i) * p->columns + column;
    store_row(sums + i * HEED_TILE_COLUMNS, bias, p->residual ? p->residual + at : NULL, p->y + at,
              count);
  }
}
void heed_cpu_finish(const heed_cpu_product *p, float *sums, size_t first, size_t count,
                     size_t panel) {
  for (size_t i = 0; i < count; i += FINISH_ROWS)
    finish_rows(p, sums + i * HEED_TILE_COLUMNS, first + i,
                count - i < FINISH_ROWS ? count - i : FINISH_ROWS, panel * HEED_TILE_COLUMNS);
}

/* The next part of the panel follows in memory, or the next panel: each tile calls for its share of
 * it, since the first tile to use it would wait for all of it. */
void heed_cpu_add_slice(const float *rows, size_t count, const float *panel, size_t depth, bool add,
                        float *sums, size_t stride) {
  const float *next = panel + depth * HEED_TILE_COLUMNS;
  const size_t lines = heed_cpu_parts(depth * HEED_TILE_COLUMNS, LINE),
               share = heed_cpu_parts(lines, heed_cpu_parts(count, HEED_TILE_ROWS));
  for (size_t i = 0, line = 0; i < count; i += HEED_TILE_ROWS) {
    const size_t m = count - i < HEED_TILE_ROWS ? count - i : HEED_TILE_ROWS;
    for (const size_t end = line + share; HEED_SIMD_PREFETCHES && line < end && line < lines;
         line++)
      HEED_PREFETCH(next + line * LINE);
    tiles[m].packed(rows + i * depth, m, panel, depth, sums + i * stride, stride, add);
  }
}

/* Whether the sums of a panel are y, and may be made where they belong. */
static bool is_plain(const heed_cpu_product *p, size_t panel) {
  return (panel + 1) * HEED_TILE_COLUMNS <= p->columns && !p->bias && !p->residual && !p->heads &&
         p->activation == HEED_ACTIVATION_NONE;
}

void heed_cpu_product_panel(const heed_cpu_product *p, const float *group, size_t first,
                            size_t count, size_t panel, float *sums) {
  const size_t slice = heed_cpu_slice_depth(p->depth);
  const bool direct = is_plain(p, panel);
  const size_t stride = direct ? p->columns : HEED_TILE_COLUMNS;
  if (direct) sums = p->y + first * p->columns + panel * HEED_TILE_COLUMNS;
  for (size_t from = 0; from < p->depth; from += slice)
    heed_cpu_add_slice(group + from * count, count,
                       p->panels + (panel * p->depth + from) * HEED_TILE_COLUMNS,
                       p->depth - from < slice ? p->depth - from : slice, from > 0, sums, stride);
  if (!direct) heed_cpu_finish(p, sums, first, count, panel);
}
