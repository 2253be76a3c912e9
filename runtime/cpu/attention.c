/* attention: softmax(score(q, k) ...) v for every head; meaning in heed.h and
 * graph/attention_rule.h. Heads are laid out in the shared scratch, some at a time; then tasks take
 * rows of one head, in the mode that the plan says: attention_resident.c, attention_streamed.c. */
#include "graph/ops/attention.h"
#include "cpu/attention_block.h"

/* Scratch for laid-out heads at a time; one head at least. */
#define GROUP_BYTES (4u << 20)

/* From so many keys on a tile's row of scores leaves no room beside it in a second cache. */
#define LONG_ROW 2048u

#define MIN(a, b) ((a) < (b) ? (a) : (b))

static size_t round_up(size_t value, size_t to) { return (value + to - 1) / to * to; }

/* Rows of a streamed task: blocks shared out evenly. */
static size_t streamed_rows(size_t queries) {
  const size_t blocks = heed_cpu_parts(queries, HEED_ATTENTION_ROWS),
               tasks = heed_cpu_parts(blocks, HEED_ATTENTION_BLOCKS);
  return heed_cpu_parts(blocks, tasks) * HEED_ATTENTION_ROWS;
}

static void plan_layout(const heed_attention_sizes *s, bool streamed,
                        heed_cpu_attention_layout *lay) {
  const size_t keys = round_up(s->keys, HEED_TILE_COLUMNS),
               at_a_time = streamed ? HEED_ATTENTION_TILE : keys;
  lay->key_panels = keys * s->depth;
  lay->value_panel = s->value_depth % HEED_TILE_COLUMNS ? (size_t)s->keys * HEED_TILE_COLUMNS : 0;
  lay->flags = heed_cpu_parts(s->keys, HEED_ATTENTION_TILE);
  lay->head = round_up(lay->key_panels + lay->value_panel + lay->flags, 16);
  lay->row = at_a_time + HEED_CPU_ROW_PAD;
  lay->sums = round_up(s->value_depth, HEED_TILE_COLUMNS);
  const size_t out =
      streamed ? streamed_rows(s->queries) * lay->sums : HEED_ATTENTION_ROWS * HEED_TILE_COLUMNS;
  lay->worker = HEED_ATTENTION_ROWS * lay->row + out + at_a_time / sizeof(float) + 1;
  const size_t fit = GROUP_BYTES / sizeof(float) / lay->head, all = (size_t)s->batch * s->key_heads;
  lay->heads = fit < 1 ? 1 : MIN(fit, all);
}

static heed_attention_mode mode(const heed_plan *plan, const heed_node *node) {
  const heed_attention_desc *desc = node->desc;
  heed_attention_sizes sizes;
  /* A threshold is found with the whole row at hand. */
  if (desc->norm != HEED_NORM_SOFTMAX) return HEED_ATTENTION_MODE_RESIDENT;
  if (plan->attention != HEED_ATTENTION_MODE_AUTO) return plan->attention;
  heed_attention_get_sizes(plan->graph, desc, &sizes);
  return sizes.keys < LONG_ROW ? HEED_ATTENTION_MODE_RESIDENT : HEED_ATTENTION_MODE_STREAMED;
}

static bool is_streamed(const heed_plan *plan, const heed_node *node) {
  return heed_plan_mode(plan, node) == HEED_ATTENTION_MODE_STREAMED;
}

static void run(const heed_cpu_step *step) {
  const heed_attention_desc *desc = step->node->desc;
  const bool streamed = is_streamed(step->plan, step->node);
  heed_cpu_attention_job j = {.step = step,
                              .desc = desc,
                              .output = step->output[HEED_ATTENTION_RESULT_OUTPUT],
                              .weights = step->output[HEED_ATTENTION_RESULT_WEIGHTS],
                              .logits = step->output[HEED_ATTENTION_RESULT_LOGITS]};
  j.query = heed_cpu_input(step, HEED_ATTENTION_INPUT_QUERY);
  j.key = heed_cpu_input(step, HEED_ATTENTION_INPUT_KEY);
  j.value = heed_cpu_input(step, HEED_ATTENTION_INPUT_VALUE);
  j.mask = heed_cpu_input(step, HEED_ATTENTION_INPUT_MASK);
  j.key_padding = heed_cpu_input(step, HEED_ATTENTION_INPUT_KEY_PADDING);
  j.query_padding = heed_cpu_input(step, HEED_ATTENTION_INPUT_QUERY_PADDING);
  j.bias = heed_cpu_input(step, HEED_ATTENTION_INPUT_BIAS);
  j.va = heed_cpu_input(step, HEED_ATTENTION_INPUT_VA);
  j.hides = heed_attention_hides(desc);
  heed_attention_get_sizes(step->plan->graph, desc, &j.s);
  plan_layout(&j.s, streamed, &j.lay);
  j.task_rows = streamed ? streamed_rows(j.s.queries) : HEED_ATTENTION_ROWS;
  j.tasks = heed_cpu_parts(j.s.queries, j.task_rows);
  const size_t all = (size_t)j.s.batch * j.s.key_heads;
  for (j.first_head = 0; j.first_head < all; j.first_head += j.lay.heads) {
    const size_t heads = MIN(all - j.first_head, j.lay.heads);
    heed_thread_pool_run(step->pool, heads, heed_cpu_attention_lay_out, &j);
    heed_thread_pool_run(step->pool, (uint64_t)heads * (j.s.heads / j.s.key_heads) * j.tasks,
                         streamed ? heed_cpu_attention_streamed : heed_cpu_attention_resident, &j);
  }
}

/* Whether the layout can be worked out in size_t. */
static bool is_addressable(const heed_attention_sizes *s) {
  const uint64_t keys = (uint64_t)s->keys + HEED_TILE_COLUMNS,
                 head = keys * ((uint64_t)s->depth + HEED_TILE_COLUMNS + 1) + 32;
  const uint64_t sums = (uint64_t)HEED_ATTENTION_BLOCKS * HEED_ATTENTION_ROWS *
                        ((uint64_t)s->value_depth + HEED_TILE_COLUMNS);
  return keys * (2 * HEED_ATTENTION_ROWS * sizeof(float)) < SIZE_MAX / 4 &&
         sums * sizeof(float) < SIZE_MAX / 4 && head < SIZE_MAX / (2 * sizeof(float));
}

static void measure(const heed_cpu_level_table *level, const heed_plan *plan, const heed_node *node,
                    heed_cpu_need *need) {
  (void)level;
  heed_attention_sizes s;
  heed_cpu_attention_layout lay;
  heed_attention_get_sizes(plan->graph, node->desc, &s);
  if (!is_addressable(&s)) {
    need->shared = UINT64_MAX;
    return;
  }
  plan_layout(&s, is_streamed(plan, node), &lay);
  need->shared = (uint64_t)lay.heads * lay.head * sizeof(float);
  need->worker = (uint64_t)lay.worker * sizeof(float);
}

const heed_cpu_op HEED_CPU_SYMBOL(heed_cpu_attention) = {
    .measure = measure, .run = run, .mode = mode};
