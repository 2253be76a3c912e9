/* A ViT as a graph (Dosovitskiy et al. 2021; DeiT: Touvron et al. 2021; registers: Darcet et al.
 * 2024): embeddings, layers, heads. What a model has is asked of its tensors and of its rules. */
#include <math.h>

#include "base/status.h"
#include "base/tensor.h"
#include "heed/ops.h"
#include "model/vit/builder.h"

#define MOST_PATCHES (1u << 24)

static heed_status build(heed_vit_builder *b, heed_error *error) {
  const heed_vit *model = b->model;
  const heed_rules *rules = &model->roles.rules;
  const bool pools = model->dims.classes || rules->pools || rules->pooled_without_classes,
             pooled = pools || heed_vit_ref(model, HEED_ROLE_POOLER_WEIGHT)->tensor ||
                      rules->norm_pooled || rules->cls_pooled,
             first = (!pools || rules->pool == HEED_POOL_CLS) && !model->dims.pool_heads;
  if (b->desc.classes_only && !b->desc.intervene &&
      heed_vit_ref(model, HEED_ROLE_CLS_TOKEN)->tensor && pooled && first)
    b->read_rows = heed_vit_ref(model, HEED_ROLE_DISTILLATION_CLASSIFIER_WEIGHT)->tensor ? 2 : 1;
  heed_value x;
  const bool text = heed_is_text(model->roles.tower);
  if (b->desc.shortened)
    x = heed_vit_define_shortened(b);
  else
    HEED_TRY((text ? heed_vit_embed_text : heed_vit_embed)(b, &x, error));
  const heed_shape tokens = HEED_SHAPE(b->desc.batch, heed_vit_tokens(b));
  if (b->desc.intervene)
    b->token_mask = heed_define_input(b->graph, "token_mask", HEED_U8, &tokens);
  for (uint32_t i = 0; i < b->model->dims.layers; i++)
    HEED_TRY(heed_vit_add_layer(b, &x, i, error));
  heed_graph_stage(b->graph, b->model->dims.layers + 1);
  if (text)
    heed_vit_add_text_heads(b, x);
  else
    HEED_TRY(heed_vit_add_heads(b, x, error));
  return heed_graph_status(b->graph, error);
}

/* The time steps of a video. */
static heed_status choose_frames(heed_vit_builder *b, heed_error *error) {
  const heed_vit_dimensions *dims = &b->model->dims;
  b->steps = 1;
  if (!dims->frames && b->desc.frames)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "build: not a model of videos (found %u frames, expected 0)", b->desc.frames);
  if (!dims->frames) return HEED_OK;
  if (!b->desc.frames) b->desc.frames = dims->frames;
  b->steps = b->desc.frames / dims->tubelet;
  if (b->desc.frames % dims->tubelet == 0) return HEED_OK;
  return heed_fail(error, HEED_INVALID_ARGUMENT,
                   "build: wrong number of frames (found %u, expected a multiple of %u)",
                   b->desc.frames, dims->tubelet);
}

/* The tokens: a grid of patches, or a text as one row. */
static heed_status choose_grid(heed_vit_builder *b, heed_error *error) {
  const heed_vit_dimensions *dims = &b->model->dims;
  const bool text = heed_is_text(b->model->roles.tower);
  if (b->desc.part != HEED_PART_WHOLE || (b->desc.source_length && !text) || b->desc.target_length)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "build: a vision transformer has no parts and no lengths (found %d, %u "
                     "and %u, expected 0)",
                     (int)b->desc.part, b->desc.source_length, b->desc.target_length);
  HEED_TRY(choose_frames(b, error));
  b->rows = 1;
  b->columns = b->desc.source_length ? b->desc.source_length : dims->position_rows;
  if (text && b->columns > dims->position_rows)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "build: text too long (found %u tokens, expected at most %u)", b->columns,
                     dims->position_rows);
  if (text) return HEED_OK;
  if (!b->desc.height) b->desc.height = dims->image_size;
  if (!b->desc.width) b->desc.width = dims->image_size;
  b->rows = b->desc.height / dims->patch;
  b->columns = b->desc.width / dims->patch;
  const uint64_t patches = (uint64_t)b->rows * b->columns;
  if (patches == 0 || patches > MOST_PATCHES || patches * b->steps > MOST_PATCHES)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "build: wrong image size (found %u x %u patches%s, expected 1 to %u)", b->rows,
                     b->columns, b->steps > 1 ? " a time step" : "", MOST_PATCHES);
  return HEED_OK;
}

/* What windows that shift have no use for yet, and pixels that no whole patch has: the published
 * code fills them up to one. */
static heed_status check_stages(const heed_vit_builder *b, heed_error *error) {
  const char *asked = b->desc.intervene ? "changes of the attention" : b->desc.rows ? "rows" : NULL;
  const uint32_t patch = b->model->dims.patch;
  if (!b->model->dims.stages) return HEED_OK;
  if (b->desc.height % patch || b->desc.width % patch)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "build: sides are not multiples of the patch (found height %u, width %u, "
                     "expected multiples of %u pixels)",
                     b->desc.height, b->desc.width, patch);
  if (!asked) return HEED_OK;
  return heed_fail(error, HEED_UNSUPPORTED,
                   "build: %s of a model with stages are not supported (found %u stages)", asked,
                   b->model->dims.stages);
}

/* Which patches stay in the sequence. */
static heed_status choose_patches(heed_vit_builder *b, heed_error *error) {
  const uint32_t all = heed_vit_all_patches(b), fewest = b->model->base.info.fewest_patches;
  b->patches = b->desc.shortened ? b->desc.patches : all;
  if (!b->desc.shortened && !b->desc.patches) return HEED_OK;
  if (!b->desc.shortened || b->desc.intervene || heed_is_text(b->model->roles.tower))
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "build: a shortened sequence is of an image, and without changes (found "
                     "patches %u%s, expected shortened and no intervene)",
                     b->desc.patches, b->desc.intervene ? ", intervene" : "");
  if (b->model->dims.window || b->model->dims.stages)
    return heed_fail(
        error, HEED_UNSUPPORTED,
        "build: a sequence of a model with windows cannot be shortened (found windows "
        "of %u patches)",
        b->model->dims.stages ? b->model->dims.stage[0].window : b->model->dims.window);
  if (b->patches < fewest || b->patches > all)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "build: wrong number of patches (found %u, expected %u to %u)", b->patches,
                     fewest, all);
  return HEED_OK;
}

heed_status heed_vit_build(const heed_model *base, const heed_build_desc *desc, heed_graph **graph,
                           heed_error *error) {
  const heed_vit *model = (const heed_vit *)base;
  heed_vit_builder b = {.model = model, .desc = *desc};
  heed_vit_layer_dimensions(&model->dims, 0, &b.dims);
  HEED_TRY(choose_grid(&b, error));
  HEED_TRY(choose_patches(&b, error));
  HEED_TRY(check_stages(&b, error));
  if (!(b.desc.temperature >= 0.0f) || isinf(b.desc.temperature))
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "build: invalid temperature (found %g, expected more than 0)",
                     (double)b.desc.temperature);
  HEED_TRY(heed_graph_create(base->context, &b.graph, error));
  const heed_status status = build(&b, error);
  if (status != HEED_OK) {
    heed_graph_destroy(b.graph);
    return status;
  }
  *graph = b.graph;
  return HEED_OK;
}
