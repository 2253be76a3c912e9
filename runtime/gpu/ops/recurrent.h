/* lstm and gru on a GPU: one dispatch a token; h before it is read from y, c lies in the
 * scratch. */
#ifndef HEED_GPU_OPS_RECURRENT_H
#define HEED_GPU_OPS_RECURRENT_H

#include "gpu/self_check_graph.h"
#include "gpu/split_values.h"
#include "graph/recurrent_rule.h"
#include "heed/ops.h"
#include "params/lstm.h"
#include "params/recurrent_flags.h"

#define HEED_GPU_RECURRENT_PANEL 32u

static inline void heed_gpu_recurrent_bind(heed_gpu_builder *builder, heed_gpu_dispatch *dispatch,
                                           const heed_node *node, const heed_recurrent_sizes *s,
                                           uint32_t step, heed_lstm_params *params) {
  const heed_recurrent_desc *desc = node->desc;
  const bool first = step == 0, last = step + 1 == s->tokens, cell = s->gates == 4;
  const uint64_t state = (uint64_t)s->batch * s->hidden * sizeof(float);
  const uint32_t before = desc->reverse ? params->token + 1 : params->token - 1;
  params->x_origin = heed_gpu_read(builder, dispatch, 0, desc->x.id);
  const uint32_t rows = s->gates * s->hidden;
  const heed_gpu_panels panels = {rows,  s->hidden, HEED_GPU_RECURRENT_PANEL,
                                  false, 0,         heed_gpu_divide(rows, HEED_GPU_RECURRENT_PANEL),
                                  0};
  heed_gpu_read_panels(builder, dispatch, 1, desc->weight_hh.id, &panels);
  params->bias_origin = heed_gpu_read(builder, dispatch, 2, desc->bias_hh.id);
  params->h_origin = heed_gpu_read(builder, dispatch, 3, first ? desc->h.id : node->output[0]) +
                     (first ? 0 : before * s->hidden);
  params->h_stride = first ? s->hidden : s->tokens * s->hidden;
  if (first || !cell)
    params->c_origin = heed_gpu_read(builder, dispatch, 4, desc->c.id);
  else
    heed_gpu_scratch(builder, dispatch, 4, 0, state, false);
  params->y_origin = heed_gpu_write(builder, dispatch, 5, node->output[0]);
  if (!cell)
    heed_gpu_write(builder, dispatch, 6, 0);
  else if (last && heed_plan_wants(builder->plan, node->output[HEED_RECURRENT_RESULT_C]))
    params->cell_origin =
        heed_gpu_write(builder, dispatch, 6, node->output[HEED_RECURRENT_RESULT_C]);
  else
    heed_gpu_scratch(builder, dispatch, 6, 0, state, true);
  const bool stores = last && heed_plan_wants(builder->plan, node->output[HEED_RECURRENT_RESULT_H]);
  params->after_origin =
      heed_gpu_write(builder, dispatch, 7, stores ? node->output[HEED_RECURRENT_RESULT_H] : 0);
  params->flags = (!first || desc->h.id ? HEED_RECURRENT_H : 0) |
                  (!first || desc->c.id ? HEED_RECURRENT_C : 0) |
                  (desc->bias_hh.id ? HEED_RECURRENT_BIAS : 0) | (stores ? HEED_RECURRENT_LAST : 0);
}

static inline void heed_gpu_recurrent_build(heed_gpu_builder *builder, const heed_node *node,
                                            heed_gpu_shader shader) {
  const heed_recurrent_desc *desc = node->desc;
  heed_recurrent_sizes s;
  heed_recurrent_get_sizes(builder->plan->graph, node, &s);
  s.batch = heed_gpu_shape(builder, desc->x.id)->dim[0];
  const uint32_t width = heed_gpu_width(builder);
  uint32_t groups[2];
  heed_gpu_spread(builder, (uint64_t)s.batch * s.hidden, width, groups);
  for (uint32_t step = 0; step < s.tokens && builder->status == HEED_OK; step++) {
    heed_gpu_dispatch dispatch = {.shader = shader};
    heed_lstm_params params = {.count = s.batch * s.hidden,
                               .tokens = s.tokens,
                               .token = desc->reverse ? s.tokens - 1 - step : step,
                               .hidden = s.hidden};
    heed_gpu_recurrent_bind(builder, &dispatch, node, &s, step, &params);
    HEED_GPU_DISPATCH(builder, &dispatch, &params, groups[0], groups[1], 1, width,
                      HEED_GPU_RECURRENT_PANEL);
  }
}

#define HEED_GPU_RECURRENT_WHOLE \
  (1u << HEED_RECURRENT_INPUT_WEIGHT_HH | 1u << HEED_RECURRENT_INPUT_BIAS_HH)

/* The self-check's case, without a cell. */
static inline heed_recurrent_desc heed_gpu_recurrent_check(heed_gpu_check_graph *c,
                                                           uint32_t gates) {
  return (heed_recurrent_desc){
      .struct_size = sizeof(heed_recurrent_desc),
      .x = c->tokens,
      .weight_ih =
          heed_gpu_check_constant(c, HEED_SHAPE(gates * HEED_GPU_CHECK_HIDDEN, HEED_GPU_CHECK_ODD)),
      .weight_hh = heed_gpu_check_constant(
          c, HEED_SHAPE(gates * HEED_GPU_CHECK_HIDDEN, HEED_GPU_CHECK_HIDDEN)),
      .bias_ih = heed_gpu_check_constant(c, HEED_SHAPE(gates * HEED_GPU_CHECK_HIDDEN)),
      .bias_hh = heed_gpu_check_constant(c, HEED_SHAPE(gates * HEED_GPU_CHECK_HIDDEN)),
      .h = heed_gpu_check_constant(c, HEED_SHAPE(HEED_GPU_CHECK_BATCH, HEED_GPU_CHECK_HIDDEN))};
}

#endif
