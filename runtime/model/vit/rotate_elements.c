/* Rotations whose elements have angles of their own: op rotary turns both of a pair by one. Source:
 * facebookresearch/vjepa2's modules.py, rotate_queries_or_keys, whose authors say that its angles
 * are tiled by an oversight which the published weights were trained with. */
#include <math.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "heed/ops.h"
#include "model/vit/builder.h"

heed_status heed_vit_keep_turns(heed_vit_builder *b, uint32_t heads, uint32_t tokens,
                                heed_vit_turns *turns, heed_error *error) {
  const heed_vit_dimensions *dims = &b->model->dims;
  const uint32_t depth = dims->attention_width / dims->heads;
  size_t size; /* of a table in bytes */
  if (!heed_size_mul(heads, tokens, &size) || !heed_size_mul(size, depth * sizeof(float), &size) ||
      size > SIZE_MAX / 2)
    return heed_fail_memory(error, "model: rotary positions", SIZE_MAX);
  *turns = (heed_vit_turns){heed_graph_keep(b->graph, NULL, size),
                            heed_graph_keep(b->graph, NULL, size),
                            heed_graph_keep(b->graph, NULL, depth * sizeof(int32_t)),
                            heads,
                            tokens,
                            depth};
  return turns->cosines && turns->sines && turns->partners
             ? HEED_OK
             : heed_fail_memory(error, "model: rotary positions", 2 * size);
}

static heed_value define_table(heed_vit_builder *b, const heed_vit_turns *turns,
                               const float *data) {
  const heed_value table =
      heed_vit_define_data(b, data, HEED_SHAPE(turns->heads, turns->tokens, turns->depth));
  return b->desc.shortened ? heed_vit_shorten_table(b, table) : table;
}

void heed_vit_define_turns(heed_vit_builder *b, const heed_vit_turns *turns) {
  const heed_constant_desc partners = {.struct_size = sizeof partners,
                                       .dtype = HEED_I32,
                                       .shape = HEED_SHAPE(turns->depth),
                                       .data = turns->partners};
  b->partners = heed_define_constant(b->graph, &partners);
  b->cosines = define_table(b, turns, turns->cosines);
  b->sines = define_table(b, turns, turns->sines);
}

heed_value heed_vit_rotate_elements(heed_vit_builder *b, heed_value x) {
  if (!x.id) return x; /* the graph has failed */
  const heed_shape whole = heed_graph_record(b->graph, x.id)->shape;
  const heed_shape apart = HEED_SHAPE(whole.dim[0] / b->desc.batch, b->desc.batch, whole.dim[1],
                                      whole.dim[2], whole.dim[3]);
  const heed_value parts = heed_define_view(b->graph, x, 0, &apart);
  const heed_gather_desc gather = {sizeof gather, parts, b->partners, 4, false};
  const heed_multiply_desc straight = {sizeof straight, parts, b->cosines},
                           crossed = {sizeof crossed, heed_define_gather(b->graph, &gather),
                                      b->sines};
  const heed_add_desc add = {sizeof add, heed_define_multiply(b->graph, &straight),
                             heed_define_multiply(b->graph, &crossed)};
  return heed_define_view(b->graph, heed_define_add(b->graph, &add), 0, &whole);
}

/* Element `e` of all tokens: `third` of them belong to an axis, of which element j has frequency
 * base^(-(j mod half) / half); pairs are 2j and 2j + 1. */
static void fill_element(const heed_vit_builder *b, const heed_vit_turns *to, uint32_t e,
                         uint32_t third) {
  const uint32_t half = third / 2, axis = third ? e / third : 3, plane = b->rows * b->columns;
  const double frequency = axis < 3 ? pow((double)b->model->roles.rules.rotation.base,
                                          -(double)(e % third % half) / half)
                                    : 0.0;
  to->partners[e] = (int32_t)(axis < 3 ? e ^ 1u : e);
  for (uint32_t t = 0; t < to->tokens; t++) {
    const uint32_t at[] = {t / plane, t % plane / b->columns, t % b->columns, 0};
    const double angle = at[axis < 3 ? axis : 3] * frequency;
    to->cosines[(size_t)t * to->depth + e] = (float)cos(angle);
    to->sines[(size_t)t * to->depth + e] = (float)(e % 2 ? sin(angle) : -sin(angle));
  }
}

heed_status heed_vit_turn_video(heed_vit_builder *b, heed_error *error) {
  heed_vit_turns made;
  HEED_TRY(heed_vit_keep_turns(b, 1, heed_vit_all_patches(b), &made, error));
  for (uint32_t e = 0; e < made.depth; e++) fill_element(b, &made, e, made.depth / 6 * 2);
  heed_vit_define_turns(b, &made);
  return HEED_OK;
}
