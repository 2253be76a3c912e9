/* The choice of register tile. The panel's width depends on the columns alone, so a weight is
 * packed once whatever the rows. */
#include "gpu/tile.h"

#include <string.h>

#include "gpu/device_rules.h"

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof *(array))

/* vec4 of columns an invocation on a software device: wide tiles fetch less (on lavapipe 2, 3, 4
 * reach 12.4, 14.8, 16.8 GFLOP/s a core), but a panel that the columns do not fill is work for
 * nothing. */
static uint32_t choose_columns(uint32_t columns, uint32_t lanes) {
  static const double speed[] = {0.0, 8.2, 12.4, 14.8, 16.8};
  uint32_t best = 1;
  double least = 0.0;
  for (uint32_t c = 1; c <= 4; c++) {
    const double time = (double)heed_gpu_divide(columns, lanes * c * 4) * (double)c / speed[c];
    if (c == 1 || time <= least) {
      best = c;
      least = time;
    }
  }
  return best;
}

#define PAD 16 /* bytes that rows in shared memory are longer, as in tile_matrix.glsl */

static const heed_gpu_matrix *matrix_of(const heed_gpu_limits *limits, const heed_gpu_tile *tile) {
  return tile->int8 ? &limits->matrix8 : &limits->matrix;
}

/* Bytes that `step` values of k take in shared memory: of int8, as many as fit 16 bytes and a
 * matrix. */
static uint32_t step_bytes(const heed_gpu_matrix *m, const heed_gpu_tile *tile) {
  return tile->int8 ? tile->step / (m->depth < 16 ? m->depth : 16) * 16 : tile->step * 2;
}

static uint64_t shared_bytes(const heed_gpu_matrix *m, const heed_gpu_tile *tile) {
  const uint64_t rows = (uint64_t)tile->groups * tile->rows * m->rows,
                 columns = (uint64_t)tile->lanes * tile->columns * m->columns;
  const uint64_t staged = (rows + columns) * (step_bytes(m, tile) + PAD),
                 strips = (uint64_t)tile->lanes * tile->groups * m->rows * (m->columns * 4 + PAD);
  return staged > strips ? staged : strips;
}

/* Subgroups down and across, and the rows and columns that each makes; matrices no larger than its
 * part. */
static bool try_matrices(const heed_gpu_limits *limits, heed_gpu_tile *tile, uint32_t down,
                         uint32_t across, uint32_t rows, uint32_t columns) {
  const heed_gpu_matrix *m = matrix_of(limits, tile);
  tile->groups = down;
  tile->lanes = across;
  tile->rows = rows > m->rows ? rows / m->rows : 1;
  tile->columns = columns > m->columns ? columns / m->columns : 1;
  return down * across * m->lanes <= limits->invocations && shared_bytes(m, tile) <= limits->shared;
}

/* What tuning tries: subgroups down and across, rows and columns of each, values of k at a time. */
typedef struct matrix_shape {
  uint32_t down, across, rows, columns, step;
} matrix_shape;
static const matrix_shape matrix_candidates[] = {
    {4, 2, 32, 64, 32},  {2, 2, 64, 64, 32}, {2, 4, 32, 32, 32}, {2, 2, 32, 32, 32},
    {2, 2, 32, 32, 64},  {1, 4, 32, 32, 32}, {1, 4, 16, 16, 64}, {2, 2, 64, 64, 64},
    {2, 2, 16, 16, 128}, {4, 2, 32, 64, 64}};
static const matrix_shape software_candidates[] = {{1, 2, 8, 8, 16}, {2, 1, 8, 8, 16}};

static bool try_candidate(const heed_gpu_limits *limits, heed_gpu_tile *tile) {
  const uint32_t count = limits->software ? COUNT(software_candidates) : COUNT(matrix_candidates);
  if (!tile->choice || tile->choice > count) return false;
  const matrix_shape *shape =
      &(limits->software ? software_candidates : matrix_candidates)[tile->choice - 1];
  tile->step = shape->step * (tile->int8 ? 2 : 1);
  return tile->step % matrix_of(limits, tile)->depth == 0 &&
         try_matrices(limits, tile, shape->down, shape->across, shape->rows, shape->columns);
}

#define LONG_DEPTH 1024 /* of k; more is long */

/* Of deep steps where those of 128 x 128 do not fill the device, by what an H100 took
 * (tests/bench/NOTES.md): a step of more values of k has fewer barriers, and small tiles stand in
 * for those of 64 x 64 that would not fill the device either. */
static bool choose_deep(const heed_gpu_limits *limits, heed_gpu_tile *tile,
                        const uint32_t size[3]) {
  const uint64_t groups = (uint64_t)heed_gpu_divide(size[0], 64) * heed_gpu_divide(size[1], 64);
  if (tile->int8 || limits->matrix.lanes != 32) return false;
  const bool small = size[2] <= LONG_DEPTH && groups * 3 / 2 <= limits->fill;
  tile->step = small ? 128 : 64;
  return small ? try_matrices(limits, tile, 2, 2, 16, 16)
               : try_matrices(limits, tile, 2, 2, 32, 32);
}

/* Tiles of 128 x 128 where they fill a large device, 64 x 64 otherwise, flat ones for few rows;
 * sums of 64 registers a lane at most. size: rows, columns, depth. */
static bool choose_matrices(const heed_gpu_limits *limits, heed_gpu_tile *tile,
                            const uint32_t size[3]) {
  const uint32_t rows = size[0], columns = size[1];
  const heed_gpu_matrix *m = matrix_of(limits, tile);
  if (try_candidate(limits, tile)) return true;
  tile->step = tile->int8 ? 64 : 32;
  /* whose compiler takes a second for each matrix: the smallest that still has more than one of
   * all */
  if (limits->software) {
    tile->step = m->depth;
    return try_matrices(limits, tile, rows > 32 ? 2 : 1, 2, rows > 32 ? 2 * m->rows : 1, 1);
  }
  const bool wide = m->lanes > 32;
  const bool many = (uint64_t)heed_gpu_divide(rows, 128) * heed_gpu_divide(columns, 128) >= 128;
  if (rows <= 32)
    return try_matrices(limits, tile, 1, 4, rows <= 16 ? 16 : 32, 16) ||
           try_matrices(limits, tile, 1, 2, 16, 16);
  if (heed_gpu_rules(limits)->deep_steps && !many && choose_deep(limits, tile, size)) return true;
  tile->step = tile->int8 ? 64 : 32;
  if (many &&
      (wide ? try_matrices(limits, tile, 2, 2, 64, 64) : try_matrices(limits, tile, 4, 2, 32, 64)))
    return true;
  return try_matrices(limits, tile, 2, 2, 32, 32) || try_matrices(limits, tile, 1, 2, 32, 32);
}

static bool choose_matrix_tile(const heed_gpu_limits *limits, const uint32_t size[3],
                               heed_gpu_tile *tile) {
  const heed_gpu_matrix *m = matrix_of(limits, tile);
  const uint32_t rows = size[0], columns = size[1];
  tile->matrix = m->rows && choose_matrices(limits, tile, size);
  if (!tile->matrix) return false;
  tile->panel = tile->lanes * tile->columns * m->columns;
  tile->x = heed_gpu_divide(rows, tile->rows * tile->groups * m->rows);
  tile->y = heed_gpu_divide(columns, tile->panel);
  return true;
}

/* Register tiles of GPUs without matrices. Sums, four vec4 of the weight a column and one of x have
 * to stay in registers with enough groups beside each other to hide the loads. */

/* What tuning tries on a GPU. */
static const heed_gpu_register_tile candidates[] = {{8, 2, 16, 0}, {8, 1, 16, 0}, {4, 2, 16, 0},
                                                    {4, 1, 16, 0}, {4, 1, 8, 0},  {8, 1, 32, 0}};
#define MOST_COLUMNS 4 /* what it tries on a software device: 1 to so many vec4 of columns */

uint32_t heed_gpu_tile_candidates(const heed_gpu_limits *limits) {
  /* a side of 128, of 64 */
  if (limits->half && (limits->matrix2.wide || limits->matrix2.narrow)) return 2;
  if (limits->half && limits->matrix.rows)
    return limits->software ? COUNT(software_candidates) : COUNT(matrix_candidates);
  return limits->cpu ? MOST_COLUMNS : COUNT(candidates);
}

uint32_t heed_gpu_find_choice(const heed_gpu_limits *limits, const heed_gpu_shape_key *key) {
  for (uint32_t i = 0; limits->tiles && !limits->choice && i < limits->tiles->count; i++)
    if (memcmp(&limits->tiles->shape[i].key, key, sizeof *key) == 0)
      return limits->tiles->shape[i].choice;
  return limits->choice;
}

/* Of a kernel without matrices. */
static void choose_registers(const heed_gpu_limits *limits, uint32_t rows, uint32_t columns,
                             heed_gpu_tile *tile) {
  const uint32_t most = limits->cpu ? MOST_COLUMNS : COUNT(candidates),
                 choice = tile->choice <= most ? tile->choice : 0;
  if (limits->cpu) { /* one subgroup a workgroup, large tiles */
    tile->rows = rows >= 12 ? 16 : rows >= 3 ? 4 : 1;
    tile->lanes = limits->lanes < 4 ? 4 : limits->lanes > 16 ? 16 : limits->lanes;
    tile->columns = choice ? choice : choose_columns(columns, tile->lanes);
  } else {
    const heed_gpu_register_tile *shape =
        choice ? &candidates[choice - 1] : &heed_gpu_rules(limits)->tile;
    tile->rows = rows >= 4 * shape->rows ? shape->rows : rows >= 8 ? 2 : 1;
    tile->lanes = shape->lanes;
    tile->columns = tile->half && shape->half_columns ? shape->half_columns : shape->columns;
    tile->groups = 128 / shape->lanes;
  }
  tile->panel = tile->lanes * tile->columns * 4;
  tile->x = heed_gpu_divide(rows, tile->rows * tile->groups);
  tile->y = heed_gpu_divide(columns, tile->panel);
}

heed_gpu_tile heed_gpu_choose_tile(const heed_gpu_builder *builder, uint32_t rows, uint32_t columns,
                                   uint32_t depth, const heed_gpu_range *x, bool vector) {
  const heed_gpu_limits *limits = builder->limits;
  const heed_gpu_shape_key key = {
      .rows = rows, .columns = columns, .depth = depth, .half = limits->half};
  heed_gpu_tile tile = {
      .groups = 1, .slices = 1, .half = limits->half, .choice = heed_gpu_find_choice(limits, &key)};
  if (limits->half && choose_matrix_tile(limits, (const uint32_t[]){rows, columns, depth}, &tile))
    return tile;
  choose_registers(limits, rows, columns, &tile);
  tile.texels = vector && heed_gpu_can_texel(builder, heed_gpu_float_bytes(x)) &&
                heed_gpu_can_texel(builder, (uint64_t)tile.y * tile.panel * depth * sizeof(float));
  return tile;
}

/* Rows of a product in int8 for which all lanes of a subgroup read the same numbers of x, which
 * AMD's compiler loads as scalars: neither registers nor conversions then stand beside the
 * products. More rows than elsewhere, since weights are converted once for all of them. Before
 * RDNA, whose instructions convert no factor. */
#define SCALAR_CHOICE 15 /* this form on other devices, which tests take */
#define SCALAR_ROWS 16
#define SCALAR_GROUPS 8

static bool is_scalar(const heed_gpu_limits *limits) {
  return !limits->dot && !limits->cpu &&
         (limits->choice == SCALAR_CHOICE ||
          (!limits->choice &&
           heed_gpu_rules(limits)->scalar_loads == HEED_GPU_SCALARS_FEW_REGISTERS));
}

static void choose_scalar(const heed_gpu_limits *limits, uint32_t rows, uint32_t columns,
                          heed_gpu_tile *tile) {
  tile->scalar = true;
  tile->rows = rows >= 4 * SCALAR_ROWS ? SCALAR_ROWS : rows >= 8 ? 2 : 1;
  tile->columns = 1;
  tile->lanes = limits->required_lanes ? limits->required_lanes : 64;
  tile->panel = tile->lanes * 4;
  tile->x = heed_gpu_divide(rows, tile->rows);
  tile->y = heed_gpu_divide(columns, tile->panel);
}

/* Slices of the depth in subgroups of their own, where kernels can be sure of them. */
static uint32_t scalar_groups(const heed_gpu_limits *limits, const heed_gpu_tile *tile) {
  const bool sure = limits->tier >= HEED_GPU_TIER_SUBGROUP && limits->required_lanes == tile->lanes;
  return sure && SCALAR_GROUPS * tile->lanes <= limits->invocations ? SCALAR_GROUPS : 1;
}

/* Of whole numbers of 8 bits and floats of 24: more are exact only in the sums of most models. */
#define MOST_FLOAT_DEPTH 4096

heed_gpu_tile heed_gpu_choose_int8_tile(const heed_gpu_builder *builder, uint32_t rows,
                                        uint32_t columns, uint32_t depth) {
  const heed_gpu_limits *limits = builder->limits;
  heed_gpu_tile tile = {.groups = 1,
                        .slices = 1,
                        .int8 = true,
                        .bytes = limits->dot || limits->matrix8.rows,
                        .choice = limits->choice};
  if (choose_matrix_tile(limits, (const uint32_t[]){rows, columns, depth}, &tile)) return tile;
  tile.groups = 1;
  tile.bytes = limits->dot;
  tile.whole = !tile.bytes && depth > MOST_FLOAT_DEPTH;
  if (is_scalar(limits)) {
    choose_scalar(limits, rows, columns, &tile);
    return tile;
  }
  choose_registers(limits, rows, columns, &tile);
  tile.texels = !tile.bytes &&
                heed_gpu_can_texel(builder, (uint64_t)rows * depth * sizeof(float)) &&
                heed_gpu_can_texel(builder, tile.y * heed_gpu_int8_panel_bytes(tile.panel, depth));
  return tile;
}

#define LEAST_SLICE 16 /* values of k for a group: less and the joining costs more */

void heed_gpu_slice_tile(const heed_gpu_builder *builder, uint32_t rows, uint32_t depth,
                         heed_gpu_tile *tile) {
  const uint32_t groups = tile->scalar ? scalar_groups(builder->limits, tile) : tile->groups;
  if (tile->matrix || tile->whole || groups == 1 ||
      (uint64_t)tile->x * tile->y * 2 > builder->limits->fill || depth < groups * LEAST_SLICE)
    return;
  tile->sliced = true;
  tile->groups = groups;
  tile->x = heed_gpu_divide(rows, tile->rows);
}

bool heed_gpu_choose_side(const heed_gpu_builder *builder, uint32_t rows, uint32_t columns,
                          heed_gpu_tile *tile) {
  const heed_gpu_matrix2 *m = &builder->limits->matrix2;
  const bool many = (uint64_t)heed_gpu_divide(rows, 128) * heed_gpu_divide(columns, 128) >= 128;
  const bool wants = tile->choice == 1 || (tile->choice != 2 && many);
  const bool wide = m->wide && m->wide <= builder->limits->invocations && (wants || !m->narrow);
  if (!tile->half || (!wide && (!m->narrow || m->narrow > builder->limits->invocations)))
    return false;
  *tile = (heed_gpu_tile){.groups = 1,
                          .slices = 1,
                          .half = true,
                          .matrix = true,
                          .side = wide ? 128 : 64,
                          .lanes = wide ? m->wide : m->narrow,
                          .step = 64};
  tile->panel = tile->side;
  tile->x = heed_gpu_divide(rows, tile->side);
  tile->y = heed_gpu_divide(columns, tile->side);
  return true;
}

static void append_tile(heed_gpu_builder *builder, heed_gpu_dispatch *dispatch,
                        const heed_gpu_tile *tile, uint32_t depth, uint32_t y,
                        const uint32_t constants[6], const void *push, size_t push_bytes) {
  const heed_gpu_matrix *m = matrix_of(builder->limits, tile);
  uint32_t all[17] = {tile->lanes * tile->groups, tile->rows, tile->columns, tile->lanes,
                      tile->groups};
  memcpy(all + 5, constants, 6 * sizeof *constants);
  all[11] = tile->sliced;
  all[12] = tile->whole;
  /* a view unpacks texels */
  if (tile->half && !tile->texels)
    dispatch->tier = HEED_GPU_TIER_HALF;
  else if (!tile->scalar || !tile->sliced)
    dispatch->tier = HEED_GPU_TIER_FLOOR;
  heed_gpu_set_tile(dispatch, tile->rows * (tile->sliced ? 1 : tile->groups), tile->panel);
  if (tile->side) {
    dispatch->tier = HEED_GPU_TIER_COOPERATIVE_2;
    heed_gpu_set_tile(dispatch, tile->side, tile->side);
    memcpy(all + 11, (const uint32_t[]){tile->side, tile->side, tile->step}, 3 * sizeof *all);
    heed_gpu_append(builder, dispatch, all, 14, push, push_bytes, tile->x, y, tile->slices);
    return;
  }
  if (tile->matrix) {
    dispatch->tier = HEED_GPU_TIER_COOPERATIVE;
    heed_gpu_set_tile(dispatch, tile->rows * tile->groups * m->rows, tile->panel);
    all[0] *= m->lanes;
    memcpy(all + 11,
           (const uint32_t[]){m->rows, m->columns, m->depth, m->lanes, tile->step,
                              depth % tile->step == 0},
           6 * sizeof *all);
    dispatch->lanes = m->lanes;
  }
  heed_gpu_append(builder, dispatch, all,
                  tile->matrix ? 17
                  : tile->int8 ? 13
                               : 12,
                  push, push_bytes, tile->x, y, tile->slices);
}

/* Panels whose bytes fit one binding, so many that the next begin at an alignment; all of them
 * where there is no such number, and then they are refused by their size. */
static uint32_t panels_once(const heed_gpu_builder *builder, const heed_gpu_panels *panels) {
  const uint64_t one = heed_gpu_panel_bytes(panels),
                 all = heed_gpu_divide(panels->rows, panels->panel);
  const uint64_t most = builder->limits->range / one;
  if (most >= all) return (uint32_t)all;
  for (uint64_t some = most; some > 0; some--)
    if (some * one % builder->limits->alignment == 0) return (uint32_t)some;
  return (uint32_t)all;
}

void heed_gpu_append_panels(heed_gpu_builder *builder, const heed_gpu_dispatch *dispatch,
                            const heed_gpu_tile *tile, uint32_t weight, heed_gpu_panels panels,
                            const uint32_t constants[6], const void *push, size_t push_bytes,
                            uint32_t *first_panel) {
  panels.eights = tile->matrix && !tile->side;
  panels.int8 = tile->int8;
  const uint32_t most = panels_once(builder, &panels);
  for (; panels.first < tile->y && builder->status == HEED_OK; panels.first += panels.count) {
    heed_gpu_dispatch piece = *dispatch;
    panels.count = tile->y - panels.first < most ? tile->y - panels.first : most;
    *first_panel = panels.first;
    heed_gpu_read_panels(builder, &piece, 1, weight, &panels);
    if (tile->texels) heed_gpu_as_texels(&piece, 1);
    piece.binding[1].words = tile->int8;
    append_tile(builder, &piece, tile, panels.depth, panels.count, constants, push, push_bytes);
  }
}
