/* rotary: each pair (a, b) of a token becomes (a cos - b sin, b cos + a sin); the rest is copied.
 * Both layouts round alike: products, then their sum, never fused. */
#include <string.h>

#include "cpu/gemm.h"
#include "graph/ops/rotary.h"
#include "heed/ops.h"

typedef struct job {
  const float *x, *cosines, *sines;
  float *y;
  size_t depth, pairs, tokens, first, tables; /* tables: one for all heads, or one a head */
  bool interleaved;
  uint64_t rows, rows_per_task;
} job;

/* Pair i is elements i and i + pairs, or 2i and 2i + 1. Cosines c and sines s of this token. */
static void rotate_row(const job *j, const float *x, const float *c, const float *s, float *y) {
  const size_t step = j->interleaved ? 2 : 1, gap = j->interleaved ? 1 : j->pairs;
  size_t i = 0;
  for (; step == 1 && i + HEED_SIMD_WIDTH <= j->pairs; i += HEED_SIMD_WIDTH) {
    const f32xN a = f32_load(x + i), b = f32_load(x + i + gap), cosine = f32_load(c + i),
                sine = f32_load(s + i);
    f32_store(y + i, f32_sub(f32_mul(a, cosine), f32_mul(b, sine)));
    f32_store(y + i + gap, f32_add(f32_mul(b, cosine), f32_mul(a, sine)));
  }
  for (; i < j->pairs; i++) {
    const float a = x[i * step], b = x[i * step + gap];
    y[i * step] = a * c[i] - b * s[i];
    y[i * step + gap] = b * c[i] + a * s[i];
  }
  memcpy(y + 2 * j->pairs, x + 2 * j->pairs, (j->depth - 2 * j->pairs) * sizeof *y);
}

static void run_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  (void)worker;
  const uint64_t first = task * j->rows_per_task,
                 end = j->rows - first < j->rows_per_task ? j->rows : first + j->rows_per_task;
  for (size_t row = (size_t)first; row < end; row++) {
    const size_t token = row % j->tokens, table = row / j->tokens % j->tables;
    const float *x = j->x + row * j->depth;
    float *y = j->y + row * j->depth;
    if (token < j->first) {
      memcpy(y, x, j->depth * sizeof *y);
      continue;
    }
    const size_t at = (table * (j->tokens - j->first) + token - j->first) * j->pairs;
    rotate_row(j, x, j->cosines + at, j->sines + at, y);
  }
}

static void run(const heed_cpu_step *step) {
  const heed_rotary_desc *desc = step->node->desc;
  const heed_shape *x = heed_cpu_shape(step, desc->x.id),
                   *table = heed_cpu_shape(step, desc->cos.id);
  job j = {.x = heed_cpu_input(step, HEED_ROTARY_INPUT_X),
           .cosines = heed_cpu_input(step, HEED_ROTARY_INPUT_COS),
           .sines = heed_cpu_input(step, HEED_ROTARY_INPUT_SIN),
           .y = step->output[0],
           .depth = x->dim[3],
           .pairs = table->dim[table->rank - 1],
           .tokens = x->dim[2],
           .first = desc->first,
           .tables = table->rank == 3 ? table->dim[0] : 1,
           .interleaved = desc->interleaved};
  j.rows = heed_shape_count(x) / j.depth;
  j.rows_per_task = j.depth < HEED_CPU_GRAIN ? HEED_CPU_GRAIN / j.depth : 1;
  heed_thread_pool_run(step->pool, heed_cpu_divide_up(j.rows, j.rows_per_task), run_task, &j);
}

const heed_cpu_op HEED_CPU_SYMBOL(heed_cpu_rotary) = {.run = run};
