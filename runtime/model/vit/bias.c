/* BEiT's relative positions: what a table adds to the scores (Bao et al. 2022, after Raffel et al.
 * 2020). The table has a row for each distance between two patches of a grid, row by row, and three
 * rows of CLS: as query, as key, as both. */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "model/families/positions.h"
#include "model/vit/builder.h"

/* More than this for all layers is refused. */
#define MOST_BYTES (2ull << 30)

/* The bias behind a constant, made from the table as it is read. */
typedef struct position_bias {
  const float *table; /* [distances + 3, H], of this grid */
  uint32_t heads, rows, columns, queries;
  float factor;
} position_bias;

/* Of a patch: its row * span + its column, where span is that of the distances. */
static uint32_t place(const position_bias *p, uint32_t patch) {
  return patch / p->columns * (2 * p->columns - 1) + patch % p->columns;
}

static heed_status read_bias(void *user, uint64_t first, uint64_t count, void *to,
                             heed_error *error) {
  const position_bias *p = user;
  const uint32_t patches = p->rows * p->columns, tokens = patches + 1,
                 distances = (2 * p->rows - 1) * (2 * p->columns - 1);
  float *out = to;
  (void)error;
  for (uint64_t at = first; at < first + count; at++) {
    const uint32_t key = (uint32_t)(at % tokens), query = (uint32_t)(at / tokens % p->queries),
                   head = (uint32_t)(at / tokens / p->queries);
    const uint32_t row = query && key
                             ? place(p, query - 1) + place(p, patches - 1) - place(p, key - 1)
                         : key   ? distances
                         : query ? distances + 1
                                 : distances + 2;
    *out++ = p->table[(size_t)row * p->heads + head] * p->factor;
  }
  return HEED_OK;
}

/* Adds a stored table, for this grid, to `sum`; `resized` is scratch of the same size. */
static heed_status add_table(heed_vit_builder *b, const heed_role_ref *ref, float *stored,
                             float *resized, float *sum, heed_error *error) {
  const heed_vit_dimensions *dims = &b->model->dims;
  const size_t from = (size_t)(dims->bias_rows - 3) * dims->heads,
               to = (size_t)(2 * b->rows - 1) * (2 * b->columns - 1) * dims->heads,
               cls = (size_t)3 * dims->heads;
  const float *table = stored;
  if (!ref->tensor) return HEED_OK;
  HEED_TRY(heed_role_read(ref, 0, ref->count, stored, error));
  if (b->rows != dims->bias_side || b->columns != dims->bias_side) {
    HEED_TRY(heed_positions_resize(b->model->base.context, stored, 2 * dims->bias_side - 1,
                                   dims->heads, 2 * b->rows - 1, 2 * b->columns - 1,
                                   b->model->roles.rules.bias_positions, resized, error));
    memcpy(resized + to, stored + from, cls * sizeof *resized);
    table = resized;
  }
  for (size_t i = 0; i < to + cls; i++) sum[i] += table[i];
  return HEED_OK;
}

/* The layer's table plus that of all layers, kept by the graph. */
static heed_status make_table(heed_vit_builder *b, uint32_t layer, const float **table,
                              heed_error *error) {
  const heed_vit_dimensions *dims = &b->model->dims;
  const size_t from = (size_t)dims->bias_rows * dims->heads,
               to = ((size_t)(2 * b->rows - 1) * (2 * b->columns - 1) + 3) * dims->heads;
  float *memory = heed_alloc(b->model->base.context, from + 2 * to, sizeof *memory);
  if (!memory) return heed_fail_memory(error, "model: position bias", (from + 2 * to) * 4);
  float *sum = memory + from + to;
  heed_status status = add_table(b, heed_vit_layer_ref(b->model, layer, HEED_ROLE_POSITION_BIAS),
                                 memory, memory + from, sum, error);
  if (status == HEED_OK)
    status = add_table(b, heed_vit_ref(b->model, HEED_ROLE_SHARED_POSITION_BIAS), memory,
                       memory + from, sum, error);
  if (status == HEED_OK) {
    *table = heed_graph_keep(b->graph, sum, to * sizeof *sum);
    if (!*table) status = heed_fail_memory(error, "model: position bias", to * sizeof *sum);
  }
  heed_free(b->model->base.context, memory);
  return status;
}

static heed_status check_bytes(const heed_vit_builder *b, bool shared, heed_error *error) {
  const heed_vit_dimensions *dims = &b->model->dims;
  const uint64_t tokens = 1 + (uint64_t)b->rows * b->columns;
  uint64_t bytes = 0;
  if (heed_u64_mul(tokens, tokens, &bytes) && heed_u64_mul(bytes, 4ull * dims->heads, &bytes) &&
      heed_u64_mul(bytes, shared ? 1 : dims->layers, &bytes) && bytes <= MOST_BYTES)
    return HEED_OK;
  return heed_fail(error, HEED_UNSUPPORTED,
                   "build: the position bias is too large (found %llu bytes for %u x %u patches, "
                   "expected at most %llu)",
                   (unsigned long long)bytes, b->rows, b->columns, MOST_BYTES);
}

heed_status heed_vit_position_bias(heed_vit_builder *b, uint32_t layer, uint32_t queries,
                                   heed_value *bias, heed_error *error) {
  const heed_vit_dimensions *dims = &b->model->dims;
  const bool shared = !heed_vit_layer_ref(b->model, layer, HEED_ROLE_POSITION_BIAS)->tensor;
  const uint32_t tokens = 1 + b->rows * b->columns;
  if (b->desc.shortened) queries = tokens;
  *bias = (heed_value){0};
  if (!dims->bias_rows) return HEED_OK;
  if (layer == 0) HEED_TRY(check_bytes(b, shared, error));
  if (shared && queries == tokens && b->shared_bias.id) {
    *bias = b->shared_bias;
    return HEED_OK;
  }
  position_bias made = {.heads = dims->heads,
                        .rows = b->rows,
                        .columns = b->columns,
                        .queries = queries,
                        .factor = b->desc.temperature == 0.0f ? 1.0f : 1.0f / b->desc.temperature};
  HEED_TRY(make_table(b, layer, &made.table, error));
  void *kept = heed_graph_keep(b->graph, &made, sizeof made);
  const heed_shape shape = b->desc.shortened ? HEED_SHAPE(dims->heads, queries * tokens)
                                             : HEED_SHAPE(1, dims->heads, queries, tokens);
  const heed_constant_desc desc = {
      sizeof desc, NULL, HEED_F32, shape, NULL, kept ? read_bias : NULL, kept};
  *bias = heed_define_constant(b->graph, &desc);
  if (b->desc.shortened) *bias = heed_vit_shorten_bias(b, *bias);
  if (shared && queries == tokens) b->shared_bias = *bias;
  return HEED_OK;
}
