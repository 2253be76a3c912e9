/* The tile of attention by cooperative matrices: as many subgroups, of so many rows each, as shared
 * memory has room for. */
#include "gpu/ops/attention_parts.h"

#define BLOCK 32 /* keys in shared memory at a time */
#define UNIT 16  /* depths are filled up to whole matrices, 16 wide at most */
#define EIGHT 16 /* bytes that shared memory is read by, and that rows are longer */

static uint64_t fill_up(uint64_t size, uint32_t unit) { return (size + unit - 1) / unit * unit; }

/* As shaders/attention_matrix.comp declares it. */
static uint64_t shared_bytes(const heed_vk_matrix *m, const heed_attention_sizes *s,
                             const heed_vk_attention_tile *tile) {
  const uint64_t depth = fill_up(s->depth, UNIT), value_depth = fill_up(s->value_depth, UNIT),
                 rows = (uint64_t)tile->subgroups * m->rows, row = depth * 2 + EIGHT,
                 block = tile->block * row + value_depth * (tile->block * 2 + EIGHT),
                 queries = rows * (row > m->columns * 4 ? row : m->columns * 4);
  return (block > queries ? block : queries) + rows * (tile->block * 4 + EIGHT) + rows * 4 + 8;
}

static bool fits(const heed_vk_limits *limits, const heed_attention_sizes *s,
                 const heed_vk_attention_tile *tile) {
  return tile->subgroups * limits->matrix.lanes <= limits->invocations &&
         shared_bytes(&limits->matrix, s, tile) <= limits->shared;
}

/* What tuning tries: subgroups, keys at a time; half of them where there is no room. A software
 * device's compiler takes long for each matrix. */
static const heed_vk_attention_tile candidates[] = {{4, 32}, {4, 64}, {2, 32}, {2, 64}, {8, 32}};
static const heed_vk_attention_tile software_candidates[] = {{1, 8}, {2, 16}};

uint32_t heed_vk_attention_matrix_candidates(const heed_vk_limits *limits) {
  return (uint32_t)(limits->software ? sizeof software_candidates : sizeof candidates) /
         (uint32_t)sizeof *candidates;
}

bool heed_vk_attention_matrices(const heed_vk_limits *limits, const heed_attention_sizes *sizes,
                                uint32_t choice, heed_vk_attention_tile *tile) {
  const heed_vk_matrix *m = &limits->matrix;
  if (!m->rows) return false;
  /* whole matrices, and eight keys or more for each of the lanes that share a row */
  uint32_t least = m->columns > m->depth ? m->columns : m->depth;
  while (least * m->rows < 8 * m->lanes) least *= 2;
  tile->block = limits->software || least > BLOCK ? least : BLOCK;
  tile->subgroups = limits->software ? 2 : 4;
  if (choice && choice <= heed_vk_attention_matrix_candidates(limits)) {
    const heed_vk_attention_tile *wanted =
        &(limits->software ? software_candidates : candidates)[choice - 1];
    if (wanted->block % least == 0) tile->block = wanted->block;
    tile->subgroups = wanted->subgroups;
  }
  for (; tile->subgroups > 0; tile->subgroups /= 2)
    if (fits(limits, sizes, tile)) return true;
  return false;
}
