/* patch_embedding: a convolution of kernel P and stride P, as a product of patches [B patches, Cin
 * P P] and weight panels. A task packs some patches into its scratch and multiplies them by every
 * panel. */
#include <string.h>

#include "cpu/gemm.h"
#include "cpu/weights/form.h"
#include "graph/ops/patch_embedding.h"
#include "heed/ops.h"

#define TASK_ROWS (HEED_TILE_ROWS * (HEED_TILE_ROWS < 4 ? 12 : HEED_TILE_ROWS < 12 ? 6 : 3))

typedef struct job {
  heed_cpu_product product;
  const heed_cpu_step *step;
  const heed_cpu_form *form;
  const float *image;
  size_t channels, height, width, patch, across, patches; /* across: patches in a row of patches */
} job;

/* Row `row` of the patches' matrix: [Cin, P, P] of one patch. */
static void lay_out(const job *j, size_t row, float *to) {
  const size_t at = row % j->patches, top = at / j->across * j->patch,
               left = at % j->across * j->patch;
  const float *image = j->image + row / j->patches * j->channels * j->height * j->width;
  for (size_t c = 0; c < j->channels; c++)
    for (size_t y = 0; y < j->patch; y++, to += j->patch)
      memcpy(to, image + (c * j->height + top + y) * j->width + left, j->patch * sizeof *to);
}

static void run_task(uint64_t task, uint32_t worker, void *user) {
  const job *j = user;
  const size_t depth = j->product.depth;
  float *sums = heed_cpu_worker_scratch(j->step, worker),
        *group = sums + TASK_ROWS * HEED_TILE_COLUMNS, *rows = group + TASK_ROWS * depth;
  const heed_cpu_product *p = &j->product;
  const size_t first = (size_t)task * TASK_ROWS,
               count = p->rows - first < TASK_ROWS ? p->rows - first : TASK_ROWS;
  for (size_t tile = 0; tile * HEED_TILE_ROWS < count; tile++) {
    for (size_t i = tile * HEED_TILE_ROWS; i < (tile + 1) * HEED_TILE_ROWS && i < count; i++)
      lay_out(j, first + i, rows + i % HEED_TILE_ROWS * depth);
    j->form->pack_tile(j->step->level, rows, depth, count, tile, group);
  }
  for (size_t panel = 0; panel * HEED_TILE_COLUMNS < p->columns; panel++)
    j->form->product_panel(j->step->level, p, group, first, count, panel, sums);
}

static void run(const heed_cpu_step *step) {
  const heed_patch_embedding_desc *desc = step->node->desc;
  const uint32_t *image = heed_cpu_shape(step, desc->image.id)->dim,
                 *weight = heed_cpu_shape(step, desc->weight.id)->dim;
  job j = {.step = step,
           .channels = image[1],
           .height = image[2],
           .width = image[3],
           .patch = weight[2]};
  j.across = j.width / j.patch;
  j.patches = j.height / j.patch * j.across;
  j.form = heed_cpu_form_of(step->level, step->plan, step->node, HEED_PATCH_EMBEDDING_INPUT_WEIGHT);
  j.image = heed_cpu_input(step, HEED_PATCH_EMBEDDING_INPUT_IMAGE);
  heed_cpu_product *p = &j.product;
  p->panels = heed_cpu_input(step, HEED_PATCH_EMBEDDING_INPUT_WEIGHT);
  p->bias = heed_cpu_input(step, HEED_PATCH_EMBEDDING_INPUT_BIAS);
  p->y = step->output[0];
  p->depth = j.channels * j.patch * j.patch;
  p->columns = weight[0];
  p->rows = image[0] * j.patches;
  heed_thread_pool_run(step->pool, heed_cpu_divide_up(p->rows, TASK_ROWS), run_task, &j);
}

static void measure(const heed_cpu_level_table *level, const heed_plan *plan, const heed_node *node,
                    heed_cpu_need *need) {
  (void)level;
  const heed_patch_embedding_desc *desc = node->desc;
  const uint32_t *weight = heed_graph_record(plan->graph, desc->weight.id)->shape.dim;
  const uint64_t depth = (uint64_t)weight[1] * weight[2] * weight[3];
  need->worker = (TASK_ROWS * (HEED_TILE_COLUMNS + depth) + HEED_TILE_ROWS * depth) * sizeof(float);
}

const heed_cpu_op HEED_CPU_SYMBOL(heed_cpu_patch_embedding) = {
    .panels = 1u << HEED_PATCH_EMBEDDING_INPUT_WEIGHT,
    /* whose tiles have HEED_TILE_ROWS rows, and take no more room than floats */
    .forms = 1u << HEED_CPU_FORM_f16 | 1u << HEED_CPU_FORM_bf16,
    .measure = measure,
    .run = run};
