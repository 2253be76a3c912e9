/* The loop over time that lstm and gru share: of every token 1 gates [B, G H] = h weight_hh^T +
 * bias_hh, panels of the weight side by side on the workers 2 the cell, element by element. */
#ifndef HEED_CPU_RECURRENT_H
#define HEED_CPU_RECURRENT_H

#include <string.h>

#include "cpu/gemm.h"
#include "cpu/simd/maths.h"
#include "graph/recurrent_rule.h"
#include "heed/ops.h"

/* Products smaller than this many multiply-adds are not worth waking workers for. */
#define HEED_RECURRENT_ALONE 100000u

typedef struct heed_cpu_recurrence {
  heed_recurrent_sizes s;
  const float *x;             /* [B, T, G H]: what the input gives the gates */
  float *y;                   /* [B, T, H] */
  float *h, *c;               /* [B, H]: the state */
  float *gates;               /* [B, G H]: what h gives them */
  const float *panels, *bias; /* of weight_hh; bias_hh or NULL */
  const heed_cpu_step *step;
} heed_cpu_recurrence;

/* The cell for `count` (at most one vector) hidden elements: x and gates point at the first gate's,
 * gates lie `hidden` apart. */
typedef f32xN (*heed_cpu_cell)(const float *x, const float *gates, size_t hidden, f32xN h, f32xN *c,
                               uint32_t count);

static inline void heed_recurrent_panel(uint64_t task, uint32_t worker, void *user) {
  const heed_cpu_recurrence *r = user;
  const size_t hidden = r->s.hidden, width = hidden * r->s.gates,
               column = (size_t)task * HEED_TILE_COLUMNS, rows = r->s.batch;
  float *tile = heed_cpu_worker_scratch(r->step, worker);
  for (size_t row = 0; row < rows; row += HEED_TILE_ROWS) {
    const size_t m = rows - row < HEED_TILE_ROWS ? rows - row : HEED_TILE_ROWS;
    heed_cpu_tile((uint32_t)m, r->h + row * hidden, hidden, r->panels + column * hidden,
                  HEED_TILE_COLUMNS, hidden, tile, HEED_TILE_COLUMNS, false);
    for (size_t i = 0; i < m * HEED_TILE_COLUMNS; i += HEED_SIMD_WIDTH) {
      const size_t at = column + i % HEED_TILE_COLUMNS, left = at < width ? width - at : 0;
      const uint32_t count = left < HEED_SIMD_WIDTH ? (uint32_t)left : HEED_SIMD_WIDTH;
      if (!count) continue;
      const f32xN sum = f32_load(tile + i);
      f32_store_tail(r->gates + (row + i / HEED_TILE_COLUMNS) * width + at,
                     r->bias ? f32_add(sum, f32_load_tail(r->bias + at, count)) : sum, count);
    }
  }
}

static inline void heed_recurrent_gates(heed_cpu_recurrence *r) {
  const uint64_t panels = heed_cpu_divide_up((uint64_t)r->s.hidden * r->s.gates, HEED_TILE_COLUMNS);
  if ((uint64_t)r->s.batch * r->s.hidden * r->s.hidden * r->s.gates >= HEED_RECURRENT_ALONE) {
    heed_thread_pool_run(r->step->pool, panels, heed_recurrent_panel, r);
    return;
  }
  for (uint64_t panel = 0; panel < panels; panel++) heed_recurrent_panel(panel, 0, r);
}

static inline void heed_recurrent_row(heed_cpu_recurrence *r, heed_cpu_cell cell, size_t b,
                                      size_t t) {
  const size_t hidden = r->s.hidden, width = hidden * r->s.gates;
  const float *x = r->x + (b * r->s.tokens + t) * width, *gates = r->gates + b * width;
  float *y = r->y + (b * r->s.tokens + t) * hidden, *h = r->h + b * hidden, *c = r->c + b * hidden;
  for (size_t i = 0; i < hidden; i += HEED_SIMD_WIDTH) {
    const uint32_t count = hidden - i < HEED_SIMD_WIDTH ? (uint32_t)(hidden - i) : HEED_SIMD_WIDTH;
    f32xN memory = f32_load_tail(c + i, count);
    const f32xN next = cell(x + i, gates + i, hidden, f32_load_tail(h + i, count), &memory, count);
    f32_store_tail(c + i, memory, count);
    f32_store_tail(h + i, next, count);
    f32_store_tail(y + i, next, count);
  }
}

static inline f32xN heed_recurrent_gate(const float *x, const float *gates, size_t at,
                                        uint32_t count) {
  return f32_add(f32_load_tail(x + at, count), f32_load_tail(gates + at, count));
}

static inline void heed_recurrent_start(float *state, const float *given, size_t count) {
  if (given)
    memcpy(state, given, count * sizeof *state);
  else
    memset(state, 0, count * sizeof *state);
}

static inline void heed_recurrent_measure(const heed_cpu_level_table *level, const heed_plan *plan,
                                          const heed_node *node, heed_cpu_need *need) {
  (void)level;
  heed_recurrent_sizes s;
  heed_recurrent_get_sizes(plan->graph, node, &s);
  need->shared = (uint64_t)s.batch * s.hidden * (s.gates + 2) * sizeof(float);
  need->worker = HEED_TILE_ROWS * HEED_TILE_COLUMNS * sizeof(float);
}

static inline void heed_recurrent_run(const heed_cpu_step *step, heed_cpu_cell cell) {
  const heed_recurrent_desc *desc = step->node->desc;
  heed_cpu_recurrence r = {
      .step = step, .y = step->output[HEED_RECURRENT_RESULT_Y], .h = (float *)(void *)step->shared};
  heed_recurrent_get_sizes(step->plan->graph, step->node, &r.s);
  const size_t count = (size_t)r.s.batch * r.s.hidden;
  r.c = r.h + count;
  r.gates = r.c + count;
  r.x = heed_cpu_input(step, HEED_RECURRENT_INPUT_X);
  r.panels = heed_cpu_input(step, HEED_RECURRENT_INPUT_WEIGHT_HH);
  r.bias = heed_cpu_input(step, HEED_RECURRENT_INPUT_BIAS_HH);
  heed_recurrent_start(r.h, heed_cpu_input(step, HEED_RECURRENT_INPUT_H), count);
  heed_recurrent_start(r.c, heed_cpu_input(step, HEED_RECURRENT_INPUT_C), count);
  for (size_t t = 0; t < r.s.tokens; t++) {
    heed_recurrent_gates(&r);
    for (size_t b = 0; b < r.s.batch; b++)
      heed_recurrent_row(&r, cell, b, desc->reverse ? r.s.tokens - 1 - t : t);
  }
  void *last_h = step->output[HEED_RECURRENT_RESULT_H],
       *last_c = step->output[HEED_RECURRENT_RESULT_C];
  if (last_h) memcpy(last_h, r.h, count * sizeof(float));
  if (last_c) memcpy(last_c, r.c, count * sizeof(float));
}

#endif
