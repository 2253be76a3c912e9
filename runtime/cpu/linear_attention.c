/* linear_attention over features q, k [B H, T, D] and v [B H, T, Dv]. Tokens go in chunks of CHUNK:
 *   1 of every chunk the state S [D, Dv] = sum of k v^T and z [D] = sum of k
 *   2 states added up: before each chunk (causal), or all of them
 *   3 every row of queries: q S / q z, and when causal the pairs inside the chunk, row by row up to
 *   the diagonal, so that what comes
 *     later is never touched
 * The recurrent form keeps one state and goes token by token. Heads go in groups whose states fit
 * STATE_FLOATS. */
#include <string.h>

#include "cpu/gemm.h"
#include "graph/ops/linear_attention.h"
#include "heed/ops.h"

#define CHUNK (64u / W * W) /* whole panels */
#define STATE_FLOATS ((size_t)2 << 20)
#define W HEED_TILE_COLUMNS

typedef struct job {
  const heed_cpu_step *step;
  const float *q, *k, *v; /* of the group's first head */
  float *y, *states;
  size_t queries, keys, depth, value_depth;
  size_t padded;               /* Dv in whole panels */
  size_t state;                /* floats of a state: S [D, padded], then z [D] */
  size_t chunks, query_chunks; /* a head */
  bool causal;
} job;

/* Scratch of a worker. */
typedef struct tiles {
  float *keys;   /* [D, CHUNK]: the chunk's keys, transposed, zeros past the last */
  float *values; /* [padded / W][CHUNK][W] */
  float *scores; /* [CHUNK, CHUNK] */
  float *sums;   /* [CHUNK, padded] */
} tiles;

static size_t padded_depth(size_t depth) { return heed_cpu_parts(depth, W) * W; }

static tiles worker_tiles(const job *j, uint32_t worker) {
  tiles t;
  t.keys = heed_cpu_worker_scratch(j->step, worker);
  t.values = t.keys + j->depth * CHUNK;
  t.scores = t.values + j->padded * CHUNK;
  t.sums = t.scores + CHUNK * CHUNK;
  return t;
}

static size_t rows_of(size_t all, size_t chunk) {
  return all - chunk * CHUNK < CHUNK ? all - chunk * CHUNK : CHUNK;
}

static void load_chunk(const job *j, size_t head, size_t chunk, const tiles *t) {
  const size_t rows = rows_of(j->keys, chunk), first = head * j->keys + chunk * CHUNK;
  const float *k = j->k + first * j->depth, *v = j->v + first * j->value_depth;
  for (size_t d = 0; d < j->depth; d++)
    for (size_t s = 0; s < CHUNK; s++)
      t->keys[d * CHUNK + s] = s < rows ? k[s * j->depth + d] : 0.0f;
  for (size_t column = 0; column < j->padded; column += W) {
    const size_t left = j->value_depth - column, count = left < W ? left : W;
    float *panel = t->values + column * CHUNK;
    for (size_t s = 0; s < rows; s++, panel += W) {
      memcpy(panel, v + s * j->value_depth + column, count * sizeof *panel);
      memset(panel + count, 0, (W - count) * sizeof *panel);
    }
  }
}

/* out [rows, columns in panels] = (add ? out : 0) + x [rows, k] times panels that begin panel_step
 * apart. */
static void product(const float *x, size_t x_stride, size_t rows, size_t k, const float *panels,
                    size_t panel_step, size_t panel_stride, float *out, size_t out_stride,
                    size_t columns, bool add) {
  for (size_t column = 0; column < columns; column += W, panels += panel_step)
    for (size_t row = 0; row < rows; row += HEED_TILE_ROWS) {
      const size_t m = rows - row < HEED_TILE_ROWS ? rows - row : HEED_TILE_ROWS;
      heed_cpu_tile((uint32_t)m, x + row * x_stride, x_stride, panels, panel_stride, k,
                    out + row * out_stride + column, out_stride, add);
    }
}

static void make_state(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  const tiles t = worker_tiles(j, worker);
  const size_t head = (size_t)task / j->chunks, chunk = (size_t)task % j->chunks;
  float *state = j->states + (size_t)task * j->state, *z = state + j->depth * j->padded;
  load_chunk(j, head, chunk, &t);
  product(t.keys, CHUNK, j->depth, rows_of(j->keys, chunk), t.values, CHUNK * W, W, state,
          j->padded, j->padded, false);
  for (size_t d = 0; d < j->depth; d++) {
    float sum = 0.0f;
    for (size_t s = 0; s < CHUNK; s++) sum += t.keys[d * CHUNK + s];
    z[d] = sum;
  }
}

/* One head: state c becomes the sum of the states before it; when not causal state 0 becomes the
 * sum of all. */
static void add_states(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  (void)worker;
  float *states = j->states + (size_t)task * j->chunks * j->state;
  for (size_t i = 0; i < j->state; i++) {
    float sum = 0.0f;
    for (size_t c = 0; c < j->chunks; c++) {
      float *at = states + c * j->state + i;
      const float own = *at;
      *at = sum;
      sum += own;
    }
    if (!j->causal) states[i] = sum;
  }
}

/* The pairs inside a chunk: adds to sums and returns through totals what it adds to the
 * divisors. */
static void add_diagonal(const job *j, const float *q, size_t rows, const tiles *t, float *totals) {
  product(q, j->depth, rows, j->depth, t->keys, W, CHUNK, t->scores, CHUNK, CHUNK, false);
  for (size_t row = 0; row < rows; row++) {
    const float *scores = t->scores + row * CHUNK;
    product(scores, CHUNK, 1, row + 1, t->values, CHUNK * W, W, t->sums + row * j->padded,
            j->padded, j->padded, true);
    for (size_t s = 0; s <= row; s++) totals[row] += scores[s];
  }
}

/* A row whose divisor is 0 (all features underflowed) gives zeros. */
static void divide_row(const float *sums, float total, float *y, size_t count) {
  const float factor = total == 0.0f ? 0.0f : 1.0f / total;
  for (size_t i = 0; i < count; i++) y[i] = sums[i] * factor;
}

static void run_rows(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  const tiles t = worker_tiles(j, worker);
  const size_t head = (size_t)task / j->query_chunks, chunk = (size_t)task % j->query_chunks,
               rows = rows_of(j->queries, chunk);
  const size_t first = head * j->queries + chunk * CHUNK;
  const float *q = j->q + first * j->depth,
              *state = j->states + (head * j->chunks + (j->causal ? chunk : 0)) * j->state,
              *z = state + j->depth * j->padded;
  float totals[CHUNK];
  product(q, j->depth, rows, j->depth, state, W, j->padded, t.sums, j->padded, j->padded, false);
  for (size_t row = 0; row < rows; row++) {
    totals[row] = 0.0f;
    for (size_t d = 0; d < j->depth; d++) totals[row] += q[row * j->depth + d] * z[d];
  }
  if (j->causal) {
    load_chunk(j, head, chunk, &t);
    add_diagonal(j, q, rows, &t, totals);
  }
  for (size_t row = 0; row < rows; row++)
    divide_row(t.sums + row * j->padded, totals[row], j->y + (first + row) * j->value_depth,
               j->value_depth);
}

/* One head, token by token; its state lies at the group's place for it. */
static void run_recurrent(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  const tiles t = worker_tiles(j, worker);
  float *state = j->states + (size_t)task * j->state, *z = state + j->depth * j->padded;
  memset(state, 0, j->state * sizeof *state);
  memset(t.values, 0, j->padded * sizeof *t.values);
  for (size_t i = 0; i < j->queries; i++) {
    const size_t row = (size_t)task * j->queries + i;
    const float *q = j->q + row * j->depth, *k = j->k + row * j->depth;
    float total = 0.0f;
    memcpy(t.values, j->v + row * j->value_depth, j->value_depth * sizeof *t.values);
    for (size_t d = 0; d < j->depth; d++) {
      const f32xN feature = f32_set1(k[d]);
      float *at = state + d * j->padded;
      for (size_t n = 0; n < j->padded; n += HEED_SIMD_WIDTH)
        f32_store(at + n, f32_fma(feature, f32_load(t.values + n), f32_load(at + n)));
      z[d] += k[d];
      total += q[d] * z[d];
    }
    product(q, j->depth, 1, j->depth, state, W, j->padded, t.sums, j->padded, j->padded, false);
    divide_row(t.sums, total, j->y + row * j->value_depth, j->value_depth);
  }
}

/* Heads whose states fit together; at least one. */
static size_t group_heads(size_t heads, size_t head_floats) {
  const size_t fit = STATE_FLOATS / head_floats;
  return fit < 1 ? 1 : fit < heads ? fit : heads;
}

static job make_job(const heed_plan *plan, const heed_node *node) {
  const heed_linear_attention_desc *desc = node->desc;
  const uint32_t *q = heed_graph_record(plan->graph, desc->query.id)->shape.dim,
                 *v = heed_graph_record(plan->graph, desc->value.id)->shape.dim;
  job j = {
      .queries = q[2], .keys = v[2], .depth = q[3], .value_depth = v[3], .causal = desc->causal};
  j.padded = padded_depth(j.value_depth);
  j.state = j.depth * (j.padded + 1);
  j.chunks = desc->recurrent ? 1 : heed_cpu_parts(j.keys, CHUNK);
  j.query_chunks = heed_cpu_parts(j.queries, CHUNK);
  return j;
}

static size_t head_count(const heed_plan *plan, const heed_node *node) {
  const uint32_t *q =
      heed_graph_record(plan->graph, ((const heed_linear_attention_desc *)node->desc)->query.id)
          ->shape.dim;
  return (size_t)q[0] * q[1];
}

static void measure(const heed_cpu_level_table *level, const heed_plan *plan, const heed_node *node,
                    heed_cpu_need *need) {
  (void)level;
  const job j = make_job(plan, node);
  need->shared = (uint64_t)group_heads(head_count(plan, node), j.chunks * j.state) * j.chunks *
                 j.state * sizeof(float);
  need->worker = (uint64_t)CHUNK * (j.depth + 2 * j.padded + CHUNK) * sizeof(float);
}

static void run(const heed_cpu_step *step) {
  const heed_linear_attention_desc *desc = step->node->desc;
  job j = make_job(step->plan, step->node);
  const size_t heads = head_count(step->plan, step->node),
               group = group_heads(heads, j.chunks * j.state);
  j.step = step;
  j.states = (float *)(void *)step->shared;
  for (size_t head = 0; head < heads; head += group) {
    const size_t count = heads - head < group ? heads - head : group;
    j.q = (const float *)heed_cpu_input(step, HEED_LINEAR_ATTENTION_INPUT_QUERY) +
          head * j.queries * j.depth;
    j.k = (const float *)heed_cpu_input(step, HEED_LINEAR_ATTENTION_INPUT_KEY) +
          head * j.keys * j.depth;
    j.v = (const float *)heed_cpu_input(step, HEED_LINEAR_ATTENTION_INPUT_VALUE) +
          head * j.keys * j.value_depth;
    j.y = (float *)step->output[0] + head * j.queries * j.value_depth;
    if (desc->recurrent) {
      heed_thread_pool_run(step->pool, count, run_recurrent, &j);
      continue;
    }
    heed_thread_pool_run(step->pool, count * j.chunks, make_state, &j);
    heed_thread_pool_run(step->pool, count, add_states, &j);
    heed_thread_pool_run(step->pool, count * j.query_chunks, run_rows, &j);
  }
}

const heed_cpu_op HEED_CPU_SYMBOL(heed_cpu_linear_attention) = {.measure = measure, .run = run};
