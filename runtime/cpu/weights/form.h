/* A form of weights: how a constant matrix [N, K] is kept as panels, and how rows are multiplied by
 * them. Ops that know all forms, linear and patch embedding, ask the form for what differs; ops
 * that take f32 alone read its panels themselves (cpu/gemm.h). A new form is a file beside this one
 * and a row of form_list.h. */
#ifndef HEED_CPU_WEIGHTS_FORM_H
#define HEED_CPU_WEIGHTS_FORM_H

#include "cpu/cpu_op.h"

struct heed_cpu_product;

/* A constant [N, ...] as a matrix, on its way into panels. */
typedef struct heed_cpu_matrix {
  const heed_cpu_level_table *level;
  const heed_graph *graph;
  uint32_t id;
  uint64_t rows, depth; /* N, K */
} heed_cpu_matrix;

/* Panels have level->panel_columns columns, W; a group is some rows of x, packed. */
struct heed_cpu_form {
  const char *name; /* "int8" */

  /* Whether this level keeps the constant so; of the forms that an op takes, the first one is
   * chosen. NULL: the last one of the list, which takes all. */
  bool (*accepts)(const heed_cpu_level_table *level, const heed_graph *graph, uint32_t id);
  /* Bytes of a panel of W rows of `depth` elements. */
  uint64_t (*panel_bytes)(const heed_cpu_level_table *level, uint64_t depth);
  /* Reads elements [first, first + count) of the constant as pack_panel takes them, at most four
   * bytes each: `element` bytes. */
  size_t element;
  heed_status (*read)(const heed_graph *graph, uint32_t id, uint64_t first, uint64_t count,
                      void *to, heed_error *error);
  /* Packs rows [row, row + count) into one panel, count at most W; from: what was read of them. */
  void (*pack_panel)(const heed_cpu_matrix *matrix, const void *from, uint64_t row, uint32_t count,
                     void *panel);

  /* Rows of a tile: what is packed at a time. */
  uint32_t (*tile_rows)(const heed_cpu_level_table *level);
  /* Bytes of a group of `rows` rows. */
  uint64_t (*group_bytes)(const heed_cpu_level_table *level, uint64_t rows, uint64_t depth);
  /* Bytes of scratch that a product with a panel takes besides its sums; NULL: none. */
  uint64_t (*panel_scratch)(const heed_cpu_level_table *level, uint64_t depth);
  /* Packs rows [tile * tile_rows, ...) of a group of `count` rows into the group; x points at the
   * tile's first row, [.., depth]. */
  void (*pack_tile)(const heed_cpu_level_table *level, const float *x, size_t depth, size_t count,
                    size_t tile, void *group);
  /* Rows [first, first + count), packed as `group`, of the product's columns of panel `panel`.
   * sums: scratch of count rounded up to whole tiles, times W floats, and panel_scratch. */
  void (*product_panel)(const heed_cpu_level_table *level, const struct heed_cpu_product *product,
                        const void *group, size_t first, size_t count, size_t panel, float *sums);
};

/* The form in which a level keeps the constant in a slot of a node; NULL: dense. */
static inline const heed_cpu_form *heed_cpu_form_of(const heed_cpu_level_table *level,
                                                    const heed_plan *plan, const heed_node *node,
                                                    uint32_t slot) {
  const heed_cpu_op *op = level->ops[node->op];
  if (!(op->panels >> slot & 1u)) return NULL;
  for (uint32_t kind = 0; kind < HEED_CPU_FORM_f32; kind++)
    if (op->forms >> kind & 1u &&
        level->forms[kind]->accepts(level, plan->graph, node->input[slot]))
      return level->forms[kind];
  return level->forms[HEED_CPU_FORM_f32];
}

/* The constant whose panels the input in a slot is multiplied by. As a rule that is the input
 * itself. Many rows times the transpose of a matrix that another linear node keeps take that node's
 * panels, turned at each run: so the reverse pass of a long sequence holds no weight twice. */
uint32_t heed_cpu_kept_id(const heed_cpu_level_table *level, const heed_plan *plan,
                          const heed_node *node, uint32_t slot);

#endif
