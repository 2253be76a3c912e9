/* The tile of attention by cooperative matrices: as many subgroups, of so many rows each, as shared
 * memory has room for. */
#include "gpu/ops/attention_parts.h"

#define BLOCK 32 /* keys in shared memory at a time */
#define UNIT 16  /* depths are filled up to whole matrices, 16 wide at most */

static uint32_t fill_up(uint32_t size, uint32_t unit) { return heed_vk_divide(size, unit) * unit; }

/* As shaders/attention_matrix.comp declares it. */
static uint64_t shared_bytes(const heed_vk_matrix *m, const heed_attention_sizes *s,
                             const heed_vk_attention_tile *tile) {
  const uint32_t depth = fill_up(s->depth, UNIT), value_depth = fill_up(s->value_depth, UNIT),
                 widest = depth > value_depth ? depth : value_depth;
  const uint64_t rows = (uint64_t)tile->subgroups * m->rows;
  return rows * (depth + 8) * 2 + (uint64_t)tile->block * (widest + 8) * 2 +
         rows * ((uint64_t)tile->room + 4) * 4 + rows * (tile->block + 8) * 2 + rows * 4 + 4;
}

static bool fits(const heed_vk_limits *limits, const heed_attention_sizes *s,
                 const heed_vk_attention_tile *tile) {
  return tile->subgroups * limits->matrix.lanes <= limits->invocations &&
         shared_bytes(&limits->matrix, s, tile) <= limits->shared;
}

/* What tuning tries: subgroups, keys at a time; half of them where there is no room. A software
 * device's compiler takes long for each matrix. */
static const heed_vk_attention_tile candidates[] = {
    {4, 32, 0, false}, {4, 64, 0, false}, {2, 32, 0, false}, {2, 64, 0, false}, {8, 32, 0, false}};
static const heed_vk_attention_tile software_candidates[] = {{1, 8, 0, false}, {2, 16, 0, false}};

uint32_t heed_vk_attention_matrix_candidates(const heed_vk_limits *limits) {
  return (uint32_t)(limits->software ? sizeof software_candidates : sizeof candidates) /
         (uint32_t)sizeof *candidates;
}

bool heed_vk_attention_matrices(const heed_vk_limits *limits, const heed_attention_sizes *sizes,
                                uint32_t choice, heed_vk_attention_tile *tile) {
  const heed_vk_matrix *m = &limits->matrix;
  const uint32_t least = m->columns > m->depth ? m->columns : m->depth;
  if (!m->rows) return false;
  tile->block = limits->software ? least : BLOCK;
  uint32_t most = limits->software ? 2 : 4;
  if (choice && choice <= heed_vk_attention_matrix_candidates(limits)) {
    const heed_vk_attention_tile *wanted =
        &(limits->software ? software_candidates : candidates)[choice - 1];
    if (wanted->block % m->columns == 0 && wanted->block % m->depth == 0)
      tile->block = wanted->block;
    most = wanted->subgroups;
  }
  for (int resident = 1; resident >= 0; resident--) {
    tile->resident = resident != 0;
    if (resident && sizes->keys > limits->shared) continue;
    tile->room = resident ? fill_up(sizes->keys, tile->block) : tile->block;
    for (tile->subgroups = most; tile->subgroups > 0; tile->subgroups /= 2)
      if (fits(limits, sizes, tile)) return true;
  }
  return false;
}
