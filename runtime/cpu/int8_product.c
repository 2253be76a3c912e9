/* Rows quantised on the way into a product of int8, and its sums as floats again. */
#include <float.h>
#include <math.h>

#include "cpu/gemm.h"
#include "cpu/packed_words.h"
#include "cpu/simd/int8.h"

/* Rows that are finished together: few enough for the first cache, enough that an activation's
 * constants are fetched seldom. */
#define FINISH_ROWS 48u

/* Tiles of rows from which on it pays to widen a panel for them. */
#define WIDE_TILES 3u

/* Bytes of a cache line. */
#define LINE 64u

/* Extremes of a row and 0; and whether it has a NaN or an infinity, 0 times which is NaN. */
#if defined(HEED_INT8_BLOCK)
/* Chains side by side: each instruction waits for the one before it in its chain. */
#define CHAINS 4u

typedef struct range {
  f32xN low, high, odd;
} range;

static range widen_range(range r, f32xN a) {
  const range wide = {f32_min(r.low, a), f32_max(r.high, a), f32_fma(a, f32_set1(0.0f), r.odd)};
  return wide;
}

HEED_FLATTEN static bool find_range(const float *x, size_t depth, float *least, float *most) {
  const f32xN zero = f32_set1(0.0f);
  range all = {zero, zero, zero}, chain[CHAINS] = {all, all, all, all};
  size_t k = 0;
  for (; k + CHAINS * HEED_SIMD_WIDTH <= depth; k += CHAINS * HEED_SIMD_WIDTH)
    for (uint32_t i = 0; i < CHAINS; i++)
      chain[i] = widen_range(chain[i], f32_load(x + k + i * HEED_SIMD_WIDTH));
  for (; k < depth; k += HEED_SIMD_WIDTH)
    all = widen_range(all, depth - k < HEED_SIMD_WIDTH ? f32_load_tail(x + k, (uint32_t)(depth - k))
                                                       : f32_load(x + k));
  for (uint32_t i = 0; i < CHAINS; i++) {
    all.low = f32_min(all.low, chain[i].low);
    all.high = f32_max(all.high, chain[i].high);
    all.odd = f32_add(all.odd, chain[i].odd);
  }
  *least = -f32_reduce_max(f32_sub(zero, all.low));
  *most = f32_reduce_max(all.high);
  return f32_reduce_add(all.odd) == 0.0f;
}
#else
HEED_FLATTEN static bool find_range(const float *x, size_t depth, float *least, float *most) {
  const f32xN zero = f32_set1(0.0f);
  f32xN low = zero, high = zero, odd = zero;
  for (size_t k = 0; k < depth; k += HEED_SIMD_WIDTH) {
    const f32xN a =
        depth - k < HEED_SIMD_WIDTH ? f32_load_tail(x + k, (uint32_t)(depth - k)) : f32_load(x + k);
    low = f32_min(low, a);
    high = f32_max(high, a);
    odd = f32_fma(a, zero, odd);
  }
  *least = -f32_reduce_max(f32_sub(zero, low));
  *most = f32_reduce_max(high);
  return f32_reduce_add(odd) == 0.0f;
}
#endif

typedef struct grid {
  float inverse, zero;
} grid;

/* A row of zeros, or one so small that its step would be denormal, is kept as zeros. */
static grid choose_grid(const float *x, size_t depth, heed_cpu_int8_row *row) {
  float least, most;
  const bool finite = find_range(x, depth, &least, &most);
  row->scale = finite ? most / 255.0f - least / 255.0f : NAN;
  if (finite && row->scale < FLT_MIN) row->scale = 1.0f;
  grid g = {0.0f, 0.0f};
  if (!finite) return g;
  g.inverse = 1.0f / row->scale;
  g.zero = -least * g.inverse + HEED_SIMD_MAGIC;
  g.zero -= HEED_SIMD_MAGIC;
  if (g.zero > 255.0f) g.zero = 255.0f;
  return g;
}

#if defined(HEED_INT8_BLOCK)
/* A block's numbers of the tile's rows, from a row's length of `stride` floats. */
HEED_FLATTEN static void pack_block(const heed_cpu_int8 *way, const float *x, size_t stride,
                                    const grid *grids, heed_cpu_int8_row *row, packed_words *w) {
  f32xN rows[HEED_SIMD_WIDTH];
  for (uint32_t i = 0; i < HEED_SIMD_WIDTH; i++)
    rows[i] = i < w->m ? i8_quantise(x + i * stride, grids[i].inverse, (int32_t)grids[i].zero)
                       : f32_set1(0.0f);
#if HEED_INT8_WIDE
  for (uint32_t i = 0; way->group == 2 && i < w->m; i++) row[i].total += i8_total(rows[i]);
#else
  (void)row;
#endif
  f32_transpose(rows);
  for (uint32_t i = 0; i < HEED_SIMD_WIDTH; i++) {
    if (way->group == 4) {
      put_words(w, rows[i]);
    } else {
      put_words(w, i8_first_pairs(rows[i]));
      put_words(w, i8_last_pairs(rows[i]));
    }
  }
}

static void pack_rows(const heed_cpu_int8 *way, const float *x, size_t depth, size_t m,
                      const grid *grids, unsigned char *tile, heed_cpu_int8_row *row) {
  packed_words w = {tile, m, heed_cpu_parts(depth, way->group) * m};
  size_t k = 0;
  for (; k + HEED_INT8_BLOCK <= depth; k += HEED_INT8_BLOCK)
    pack_block(way, x + k, depth, grids, row, &w);
  if (k == depth) return;
  float rest[HEED_INT8_MOST_ROWS * HEED_INT8_BLOCK] = {0};
  for (size_t i = 0; i < m; i++)
    memcpy(rest + i * HEED_INT8_BLOCK, x + i * depth + k, (depth - k) * sizeof *x);
  pack_block(way, rest, HEED_INT8_BLOCK, grids, row, &w);
  /* Of the zeros behind the row only those that fill its last group were packed. */
  const int32_t more = (int32_t)(HEED_INT8_BLOCK - (depth - k) - depth % 2);
  for (size_t i = 0; HEED_INT8_WIDE && i < m; i++) row[i].total -= more * row[i].zero;
}
void heed_cpu_int8_pack_tile(const heed_cpu_int8 *way, const float *x, size_t depth, size_t m,
                             unsigned char *tile, heed_cpu_int8_row *rows) {
  grid grids[HEED_INT8_MOST_ROWS];
  for (size_t i = 0; i < m; i++) {
    grids[i] = choose_grid(x + i * depth, depth, &rows[i]);
    rows[i].zero = (int32_t)grids[i].zero;
    rows[i].total = 0;
  }
  pack_rows(way, x, depth, m, grids, tile, rows);
}
#else
/* Numbers of a row that are quantised at a time: whole vectors and whole groups. */
#define CHUNK 64u

/* To the nearest whole number, ties to even; |x| < 2^22. */
static f32xN round_whole(f32xN x) {
  const f32xN magic = f32_set1(HEED_SIMD_MAGIC);
  return f32_sub(f32_add(x, magic), magic);
}

/* x[count] on the grid, as bytes. */
HEED_FLATTEN static void quantise(const float *x, size_t count, const grid *g,
                                  uint8_t bytes[CHUNK]) {
  const f32xN inverse = f32_set1(g->inverse), zero = f32_set1(g->zero), least = f32_set1(0.0f),
              most = f32_set1(255.0f);
  for (size_t k = 0; k < count; k += HEED_SIMD_WIDTH) {
    const f32xN a =
        count - k < HEED_SIMD_WIDTH ? f32_load_tail(x + k, (uint32_t)(count - k)) : f32_load(x + k);
    const f32xN q = f32_add(round_whole(f32_mul(a, inverse)), zero);
    f32_narrow(f32_min(f32_max(q, least), most), bytes + k);
  }
}

/* Bytes as groups of four, `step` bytes apart. */
static void pack_fours(const uint8_t *bytes, size_t groups, uint32_t flip, unsigned char *to,
                       size_t step) {
  for (size_t i = 0; i < groups; i++, to += step) {
    uint32_t word;
    memcpy(&word, bytes + 4 * i, sizeof word);
    word ^= flip * 0x01010101u;
    memcpy(to, &word, sizeof word);
  }
}

/* Bytes as pairs of int16_t. */
static void pack_pairs(const uint8_t *bytes, size_t groups, unsigned char *to, size_t step) {
  int16_t wide[CHUNK];
  for (size_t i = 0; i < CHUNK; i++) wide[i] = bytes[i];
  for (size_t i = 0; i < groups; i++, to += step) memcpy(to, wide + 2 * i, 2 * sizeof *wide);
}

static void pack_row(const heed_cpu_int8 *way, const float *x, size_t depth, const grid *g,
                     unsigned char *to, size_t step) {
  uint8_t bytes[CHUNK] = {0};
  for (size_t k = 0; k < depth; k += CHUNK) {
    const size_t count = depth - k < CHUNK ? depth - k : CHUNK,
                 groups = heed_cpu_parts(count, way->group);
    quantise(x + k, count, g, bytes);
    if (way->group == 4)
      pack_fours(bytes, groups, way->flip, to, step);
    else
      pack_pairs(bytes, groups, to, step);
    to += CHUNK / way->group * step;
  }
}

void heed_cpu_int8_pack_tile(const heed_cpu_int8 *way, const float *x, size_t depth, size_t m,
                             unsigned char *tile, heed_cpu_int8_row *rows) {
  const size_t step = 4 * (HEED_INT8_WHOLE ? way->rows : m);
  if (m < step / 4) memset(tile, 0, heed_cpu_parts(depth, way->group) * step);
  for (size_t i = 0; i < m; i++) {
    const grid g = choose_grid(x + i * depth, depth, &rows[i]);
    rows[i].zero = (int32_t)g.zero - (int32_t)way->flip;
    pack_row(way, x + i * depth, depth, &g, tile + 4 * i, step);
  }
}
#endif

#if defined(__wasm__)
/* Sums [m, W] of int32 as floats: (sum - zero total) times both scales. */
HEED_FLATTEN static void widen(const int32_t *from, const heed_cpu_int8_row *rows, size_t m,
                               const float *scales, const int32_t *totals, float *to) {
  for (size_t i = 0; i < m; i++)
    for (size_t n = 0; n < HEED_TILE_COLUMNS; n += HEED_SIMD_WIDTH) {
      const size_t at = i * HEED_TILE_COLUMNS + n;
      const f32xN both = f32_mul(f32_set1(rows[i].scale), f32_load(scales + n));
      f32_store(to + at, f32_mul(f32_from_sums(from + at, totals + n, rows[i].zero), both));
    }
}
#else
/* What is done to a panel's sums: of its first column each. */
typedef struct panel_ends {
  const float *scales, *bias; /* bias: or NULL */
  const int32_t *totals;
} panel_ends;

/* Sums [m, W] of int32 as floats, (sum - zero total) times both scales, then plus bias and residual
 * (or NULL), to rows `step` apart; those of the residual are, too. */
HEED_FLATTEN static void widen(const int32_t *from, const heed_cpu_int8_row *rows, size_t m,
                               const panel_ends *ends, const float *residual, float *to,
                               size_t step) {
  f32xN scale[HEED_TILE_VECTORS], bias[HEED_TILE_VECTORS];
  const int32_t *totals = ends->totals;
  for (uint32_t v = 0; v < HEED_TILE_VECTORS; v++) {
    scale[v] = f32_load(ends->scales + v * HEED_SIMD_WIDTH);
    /* -0 leaves every number as it is. */
    bias[v] = ends->bias ? f32_load(ends->bias + v * HEED_SIMD_WIDTH) : f32_set1(-0.0f);
  }
  for (size_t i = 0; i < m; i++, from += HEED_TILE_COLUMNS) {
    const f32xN by = f32_set1(rows[i].scale);
    for (uint32_t v = 0; v < HEED_TILE_VECTORS; v++) {
      const size_t n = v * HEED_SIMD_WIDTH;
      f32xN a = f32_mul(f32_from_sums(from + n, totals + n, rows[i].zero), f32_mul(by, scale[v]));
      a = f32_add(a, bias[v]);
      if (residual) a = f32_add(a, f32_load(residual + i * step + n));
      f32_store(to + i * step + n, a);
    }
  }
}

/* Whether a panel's sums go straight into y: no activation waits for them, and y has the panel's
 * columns side by side. */
static bool is_whole(const heed_cpu_product *p, size_t column) {
  return p->activation == HEED_ACTIVATION_NONE && column + HEED_TILE_COLUMNS <= p->columns &&
         p->head_depth % HEED_TILE_COLUMNS == 0;
}

static void widen_into_y(const heed_cpu_product *p, const int32_t *from,
                         const heed_cpu_int8_row *rows, size_t row, size_t m, size_t column,
                         const panel_ends *ends) {
  if (!p->heads) {
    const size_t at = row * p->columns + column;
    widen(from, rows, m, ends, p->residual ? p->residual + at : NULL, p->y + at, p->columns);
    return;
  }
  const size_t head = column / p->head_depth, batch = p->rows / p->tokens,
               first = head / p->heads * batch * p->heads + head % p->heads;
  for (size_t done = 0; done < m;) {
    const size_t b = (row + done) / p->tokens, t = (row + done) % p->tokens, left = p->tokens - t,
                 here = m - done < left ? m - done : left;
    widen(from + done * HEED_TILE_COLUMNS, rows + done, here, ends, NULL,
          p->y + ((first + b * p->heads) * p->tokens + t) * p->head_depth + column % p->head_depth,
          p->head_depth);
    done += here;
  }
}
#endif

/* One panel's parts, and the next panel's bytes that a tile calls for. */
typedef struct panel_view {
  const float *scales;
  const int32_t *totals;
  const int8_t *weights;
  const unsigned char *next;
  size_t share;
} panel_view;

static panel_view view_panel(const heed_cpu_int8 *way, const heed_cpu_product *p, size_t count,
                             size_t panel) {
  const size_t bytes = (size_t)heed_cpu_int8_panel_bytes(way, p->depth);
  const unsigned char *data = (const unsigned char *)(const void *)p->panels + panel * bytes;
  panel_view v;
  v.scales = (const float *)(const void *)data;
  v.totals = (const int32_t *)(const void *)(v.scales + HEED_TILE_COLUMNS);
  v.weights = (const int8_t *)(v.totals + HEED_TILE_COLUMNS);
  v.next = data + bytes;
  v.share = heed_cpu_parts(bytes, heed_cpu_parts(count, way->rows) * LINE) * LINE;
  return v;
}

#if defined(__wasm__)
void heed_cpu_int8_product_panel(const heed_cpu_int8 *way, const heed_cpu_product *p,
                                 const unsigned char *group, const heed_cpu_int8_row *rows,
                                 size_t first, size_t count, size_t panel, float *sums) {
  int32_t tile[HEED_INT8_MOST_ROWS * HEED_TILE_COLUMNS];
  const size_t groups = heed_cpu_parts(p->depth, way->group);
  const panel_view v = view_panel(way, p, count, panel);
  for (size_t i = 0, done = 0; i < count; i += way->rows) {
    const size_t m = count - i < way->rows ? count - i : way->rows;
    way->tile[way->rows](group + i * groups * 4, v.weights, groups, tile);
    widen(tile, rows + i, m, v.scales, v.totals, sums + (i - done) * HEED_TILE_COLUMNS);
    if (i + m < count && i + m - done < FINISH_ROWS) continue;
    heed_cpu_finish(p, sums, first + done, i + m - done, panel);
    done = i + m;
  }
}
#else
/* Calls for what the tile's rows of y and residual will need when they are finished: they lie a row
 * apart, where no processor looks ahead. */
static void prefetch_rows(const heed_cpu_product *p, size_t row, size_t m, size_t column) {
  if (p->heads) return;
  for (size_t i = 0; i < m; i++)
    for (size_t n = 0; n < HEED_TILE_COLUMNS; n += LINE / sizeof(float)) {
      const size_t at = (row + i) * p->columns + column + n;
      if (column + n >= p->columns) break;
      HEED_PREFETCH_WRITE(p->y + at);
      if (p->residual) HEED_PREFETCH(p->residual + at);
    }
}

void heed_cpu_int8_product_panel(const heed_cpu_int8 *way, const heed_cpu_product *p,
                                 const unsigned char *group, const heed_cpu_int8_row *rows,
                                 size_t first, size_t count, size_t panel, float *sums) {
  int32_t tile[HEED_INT8_MOST_ROWS * HEED_TILE_COLUMNS];
  const size_t groups = heed_cpu_parts(p->depth, way->group), column = panel * HEED_TILE_COLUMNS;
  const bool whole = is_whole(p, column);
  panel_view v = view_panel(way, p, count, panel);
  panel_ends ends = {.scales = v.scales, .totals = v.totals};
  heed_cpu_product rest = *p; /* what is left to do after widen */
#if HEED_INT8_WIDE
  int16_t *wide = NULL;
  uint32_t floats = 0;
  if (way->group == 2 && count >= WIDE_TILES * way->rows && heed_cpu_int8_adds_floats()) {
    wide = (int16_t *)(void *)sums;
    sums += groups * HEED_TILE_COLUMNS;
    heed_cpu_int8_wide_panel(v.weights, groups, wide);
    floats = heed_cpu_int8_keep_small();
  }
#endif
  if (p->bias && column + HEED_TILE_COLUMNS <= p->columns) {
    ends.bias = p->bias + column;
    rest.bias = NULL;
  }
  for (size_t i = 0, done = 0; i < count; i += way->rows) {
    const size_t m = count - i < way->rows ? count - i : way->rows;
    for (size_t at = 0; at < v.share; at += LINE) HEED_PREFETCH(v.next + at);
    v.next += v.share;
    prefetch_rows(p, first + i, m, column);
#if HEED_INT8_WIDE
    if (wide)
      heed_cpu_int8_wide_tile(m, group + i * groups * 4, wide, groups, rows + i, tile);
    else
#endif
      way->tile[m](group + i * groups * 4, v.weights, groups, tile);
    if (whole) {
      widen_into_y(p, tile, rows + i, first + i, m, column, &ends);
      continue;
    }
    widen(tile, rows + i, m, &ends, NULL, sums + (i - done) * HEED_TILE_COLUMNS, HEED_TILE_COLUMNS);
    if (i + m < count && i + m - done < FINISH_ROWS) continue;
    heed_cpu_finish(&rest, sums, first + done, i + m - done, panel);
    done = i + m;
  }
#if HEED_INT8_WIDE
  if (wide) heed_cpu_int8_leave_small(floats);
#endif
}
#endif
