/* The tile of attention by cooperative matrices: as many subgroups, of so many rows each, as shared
 * memory has room for. */
#include "gpu/ops/attention_parts.h"

#define BLOCK 32 /* keys in shared memory at a time */
#define UNIT 16  /* depths are filled up to whole matrices, 16 wide at most */
#define EIGHT 16 /* bytes that shared memory is read by, and that rows are longer */

static uint64_t fill_up(uint64_t size, uint32_t unit) { return (size + unit - 1) / unit * unit; }

/* As shaders/attention_matrix.comp declares it. */
static uint64_t shared_bytes(const heed_gpu_matrix *m, const heed_attention_sizes *s,
                             const heed_gpu_attention_tile *tile) {
  const uint64_t depth = fill_up(s->depth, UNIT), value_depth = fill_up(s->value_depth, UNIT),
                 rows = (uint64_t)tile->subgroups * m->rows, row = depth * 2 + EIGHT,
                 values = tile->reduces ? tile->block * (value_depth * 2 + EIGHT)
                                        : value_depth * (tile->block * 2 + EIGHT),
                 block = tile->block * row + values,
                 queries = rows * tile->rows * (row > m->columns * 4 ? row : m->columns * 4);
  return (block > queries ? block : queries) + rows * (tile->block * 4 + EIGHT) + rows * 4 + 8;
}

static bool fits(const heed_gpu_limits *limits, const heed_attention_sizes *s,
                 const heed_gpu_attention_tile *tile) {
  return tile->subgroups * limits->matrix.lanes <= limits->invocations &&
         shared_bytes(&limits->matrix, s, tile) <= limits->shared;
}

/* What tuning tries: subgroups, keys at a time; half of them where there is no room. A software
 * device's compiler takes long for each matrix. */
static const heed_gpu_attention_tile candidates[] = {
    {4, 32, 1, false}, {4, 64, 1, false}, {2, 32, 1, false}, {2, 64, 1, false}, {8, 32, 1, false}};
static const heed_gpu_attention_tile reducing[] = {
    {4, 32, 1, true}, {4, 32, 2, true}, {4, 64, 1, true},  {4, 64, 2, true}, {8, 32, 1, true},
    {8, 32, 2, true}, {8, 64, 2, true}, {4, 32, 1, false}, {4, 64, 1, false}};
static const heed_gpu_attention_tile software_candidates[] = {
    {1, 8, 1, false}, {2, 16, 1, false}, {2, 16, 2, true}};

typedef struct tiles {
  const heed_gpu_attention_tile *tile;
  uint32_t count;
} tiles;

static tiles find_candidates(const heed_gpu_limits *limits) {
  if (limits->software) return (tiles){software_candidates, limits->reduces ? 3 : 2};
  if (limits->reduces) return (tiles){reducing, sizeof reducing / sizeof *reducing};
  return (tiles){candidates, sizeof candidates / sizeof *candidates};
}

uint32_t heed_gpu_attention_matrix_candidates(const heed_gpu_limits *limits) {
  return find_candidates(limits).count;
}

/* Where logits stay in registers, by what an H100 took (tests/bench/NOTES.md): two matrices of rows
 * a subgroup share what it loads, if their workgroups fill the device and many keys follow; heads
 * over 64 have no registers for that, and gain by blocks that are staged ahead. */
static void choose_reducing(const heed_gpu_limits *limits, const heed_attention_sizes *s,
                            uint32_t least, heed_gpu_attention_tile *tile) {
  const uint64_t groups = (uint64_t)s->batch * s->heads *
                          heed_gpu_divide(s->queries, tile->subgroups * 2 * limits->matrix.rows);
  if (s->depth > 64 || s->value_depth > 64) return;
  if (limits->software || (groups >= limits->fill && s->keys >= 512)) {
    tile->rows = 2;
    tile->block = limits->software ? least : 2 * BLOCK;
  }
}

bool heed_gpu_attention_matrices(const heed_gpu_limits *limits, const heed_attention_sizes *sizes,
                                 uint32_t choice, bool plain, heed_gpu_attention_tile *tile) {
  const heed_gpu_matrix *m = &limits->matrix;
  const tiles all = find_candidates(limits);
  if (!m->rows) return false;
  /* whole matrices, and eight keys or more for each of the lanes that share a row */
  uint32_t least = m->columns > m->depth ? m->columns : m->depth;
  while (least * m->rows < 8 * m->lanes) least *= 2;
  *tile = (heed_gpu_attention_tile){.subgroups = limits->software ? 2 : 4,
                                    .block = limits->software || least > BLOCK ? least : BLOCK,
                                    .rows = 1};
  /* a sum that becomes a factor has its shape */
  tile->reduces = plain && limits->reduces && m->columns == m->depth;
  if (tile->reduces) choose_reducing(limits, sizes, least, tile);
  if (choice && choice <= all.count) {
    const heed_gpu_attention_tile *wanted = &all.tile[choice - 1];
    if (wanted->block % least == 0) tile->block = wanted->block;
    tile->subgroups = wanted->subgroups;
    tile->reduces = tile->reduces && wanted->reduces;
    tile->rows = tile->reduces ? wanted->rows : 1;
  }
  for (; tile->subgroups > 0; tile->subgroups /= 2)
    if (fits(limits, sizes, tile)) return true;
  return false;
}
