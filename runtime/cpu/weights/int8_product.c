/* Products of int8 with a panel, and their sums as floats again. */
#include "cpu/gemm.h"
#include "cpu/simd/int8.h"
#include "cpu/weights/int8.h"

/* Rows that are finished together: few enough for the first cache, enough that an activation's
 * constants are fetched seldom. */
#define FINISH_ROWS 48u

/* Tiles of rows from which on it pays to widen a panel for them. */
#define WIDE_TILES 3u

/* Bytes of a cache line. */
#define LINE 64u

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

/* One panel's parts, and the next panel's bytes that a tile calls for. */
typedef struct panel_view {
  const float *scales;
  const int32_t *totals;
  const int8_t *weights;
  const unsigned char *next;
  size_t share;
} panel_view;

static panel_view view_panel(const heed_cpu_int8 *way, const heed_cpu_int8_panel *panel,
                             size_t count) {
  const unsigned char *data = panel->data + panel->number * panel->bytes;
  panel_view v;
  v.scales = (const float *)(const void *)data;
  v.totals = (const int32_t *)(const void *)(v.scales + HEED_TILE_COLUMNS);
  v.weights = (const int8_t *)(v.totals + HEED_TILE_COLUMNS);
  v.next = data + panel->bytes;
  v.share = heed_cpu_parts(panel->bytes, heed_cpu_parts(count, way->rows) * LINE) * LINE;
  return v;
}

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

/* Room for a widened panel at the front of the scratch, where that is worth it; else NULL. */
static int16_t *choose_wide(const heed_cpu_int8 *way, size_t count, float *sums) {
  if (!HEED_INT8_WIDE || way->group != 2 || count < WIDE_TILES * way->rows ||
      !heed_cpu_int8_adds_floats())
    return NULL;
  return (int16_t *)(void *)sums;
}

void heed_cpu_int8_product_panel(const heed_cpu_int8 *way, const heed_cpu_product *p,
                                 const heed_cpu_int8_panel *panel, const unsigned char *group,
                                 const heed_cpu_int8_row *rows, size_t first, size_t count,
                                 float *sums) {
  int32_t tile[HEED_INT8_MOST_ROWS * HEED_TILE_COLUMNS];
  const size_t groups = heed_cpu_parts(p->depth, way->group),
               column = panel->number * HEED_TILE_COLUMNS;
  const bool whole = is_whole(p, column);
  panel_view v = view_panel(way, panel, count);
  panel_ends ends = {.scales = v.scales, .totals = v.totals};
  heed_cpu_product rest = *p; /* what is left to do after widen */
  int16_t *wide = choose_wide(way, count, sums);
  uint32_t floats = 0;
  if (HEED_INT8_WIDE && wide) {
    sums += groups * HEED_TILE_COLUMNS;
    heed_cpu_int8_wide_panel(v.weights, groups, wide);
    floats = heed_cpu_int8_keep_small();
  }
  if (p->bias && column + HEED_TILE_COLUMNS <= p->columns) {
    ends.bias = p->bias + column;
    rest.bias = NULL;
  }
  for (size_t i = 0, done = 0; i < count; i += way->rows) {
    const size_t m = count - i < way->rows ? count - i : way->rows;
    for (size_t at = 0; HEED_SIMD_PREFETCHES && at < v.share; at += LINE)
      HEED_PREFETCH(v.next + at);
    v.next += v.share;
    if (HEED_SIMD_PREFETCHES) prefetch_rows(p, first + i, m, column);
    if (HEED_INT8_WIDE && wide)
      heed_cpu_int8_wide_tile(m, group + i * groups * 4, wide, groups, rows + i, tile);
    else
      way->tile[m](group + i * groups * 4, v.weights, groups, tile);
    if (whole) {
      widen_into_y(p, tile, rows + i, first + i, m, column, &ends);
      continue;
    }
    widen(tile, rows + i, m, &ends, NULL, sums + (i - done) * HEED_TILE_COLUMNS, HEED_TILE_COLUMNS);
    if (i + m < count && i + m - done < FINISH_ROWS) continue;
    heed_cpu_finish(&rest, sums, first + done, i + m - done, panel->number);
    done = i + m;
  }
  if (HEED_INT8_WIDE && wide) heed_cpu_int8_leave_small(floats);
}
