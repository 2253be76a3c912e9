/* Building the graph of a ViT: what its parts share. */
#ifndef HEED_MODEL_VIT_BUILDER_H
#define HEED_MODEL_VIT_BUILDER_H

#include "graph/graph.h"
#include "model/vit/vit.h"

typedef struct heed_vit_builder {
  const heed_vit *model;
  heed_build_desc desc;
  heed_graph *graph;
  heed_vit_dimensions dims;  /* of the layer; where there are stages, others than the model's */
  uint32_t rows, columns;    /* grid of patches; of a text 1 and its tokens */
  uint32_t steps;            /* such grids, one after the other in time; 1 but in videos */
  uint32_t patches;          /* of the sequence: all of the grid, unless it is shortened */
  heed_value token_mask;     /* or none */
  heed_value places, pairs;  /* of the tokens of a shortened sequence, or none */
  heed_value cosines, sines; /* of rotary positions, or none */
  heed_value partners;       /* of rotations by element: with which other each one is rotated */
  heed_value shared_bias;    /* of all layers, where they share it */
  heed_value own_places[2];  /* of keys without and with windows, which say theirs */
  heed_value window_bias;    /* of those with windows */
  uint32_t read_rows;        /* tokens that the last layer works out; 0 = all */
} heed_vit_builder;

/* The patches of the whole picture, of a video in all of its frames. */
static inline uint32_t heed_vit_all_patches(const heed_vit_builder *b) {
  return b->steps * b->rows * b->columns;
}

/* The tokens of the sequence. */
static inline uint32_t heed_vit_tokens(const heed_vit_builder *b) {
  return b->model->dims.prefix_tokens + b->patches;
}

/* Each adds to the graph, which keeps the first error. */

/* The constant of a weight, times a factor, its rows times those of a vector (NULL, or an absent
 * one: as they are); 0 when all of its parts are absent. */
heed_value heed_vit_define(heed_vit_builder *b, const heed_weight *weight, heed_shape shape,
                           float factor, const heed_role_ref *row_scale);
heed_value heed_vit_define_one(heed_vit_builder *b, const heed_role_ref *ref, heed_shape shape);
/* A constant whose numbers the graph keeps. */
heed_value heed_vit_define_data(heed_vit_builder *b, const float *data, heed_shape shape);
/* Reads a small tensor whole into memory of the graph; NULL in *data when it is absent. */
heed_status heed_vit_keep(heed_vit_builder *b, const heed_role_ref *ref, float **data,
                          heed_error *error);
/* Names a value "layer.<layer>.<what>". */
void heed_vit_name(heed_vit_builder *b, heed_value value, uint32_t layer, const char *what);
/* Layer norm over the last axis, of that width. */
heed_value heed_vit_norm(heed_vit_builder *b, heed_value x, const heed_role_ref *refs,
                         uint32_t width);
/* The same with an epsilon of its own. */
heed_value heed_vit_norm_by(heed_vit_builder *b, heed_value x, const heed_role_ref *refs,
                            uint32_t width, float epsilon);
/* A linear map with its rows scaled (layer scale) and a residual. */
heed_value heed_vit_project(heed_vit_builder *b, heed_value x, const heed_role_ref *refs,
                            uint32_t from, uint32_t to, heed_activation activation,
                            heed_value residual, const heed_role_ref *row_scale);

/* Makes the tables of a layer's rotary positions, which all layers share unless the model has
 * frequencies of its own. */
heed_status heed_vit_turn(heed_vit_builder *b, uint32_t layer, heed_error *error);
/* Rotates the patches of [B, H, T, D] by them; x itself where there are none. */
heed_value heed_vit_rotate(heed_vit_builder *b, heed_value x);

/* Rotations by element, x cos + partner sin, the sine with the sign that the element takes it with:
 * of a sequence that some patches have left, and of pairs that are turned by two angles. */
typedef struct heed_vit_turns {
  float *cosines, *sines; /* [heads, all tokens, D], the graph's */
  int32_t *partners;      /* [D] */
  uint32_t heads, tokens, depth;
} heed_vit_turns;
/* Room for them; they become constants. */
heed_status heed_vit_keep_turns(heed_vit_builder *b, uint32_t heads, uint32_t tokens,
                                heed_vit_turns *turns, heed_error *error);
void heed_vit_define_turns(heed_vit_builder *b, const heed_vit_turns *turns);
/* Those of V-JEPA 2, of time, row and column. */
heed_status heed_vit_turn_video(heed_vit_builder *b, heed_error *error);
/* Rotates x [n B, H, T, D], n videos' worth of heads: query and key may lie one after the other. */
heed_value heed_vit_rotate_elements(heed_vit_builder *b, heed_value x);

/* Of a sequence that some patches have left (heed_build_desc.shortened): shorten.c. */

/* Its states before the first layer, which are an input. */
heed_value heed_vit_define_shortened(heed_vit_builder *b);
/* The rotary tables of its tokens, from those of the grid [heads, rows * columns, pairs]. */
heed_status heed_vit_shorten_turn(heed_vit_builder *b, const float *cosines, const float *sines,
                                  uint32_t heads, uint32_t pairs, heed_error *error);
/* The rows of its tokens of a table [heads, all tokens, D]. */
heed_value heed_vit_shorten_table(heed_vit_builder *b, heed_value table);
/* The position bias of its tokens, [B, H, T, T], from that of all pairs, [H, all * all]. */
heed_value heed_vit_shorten_bias(heed_vit_builder *b, heed_value bias);

/* Of layers in stages: stage.c, stage_window.c. */

/* Sets the sizes of a layer and, where it begins a stage, merges the patches of the one before. */
void heed_vit_begin_layer(heed_vit_builder *b, heed_value *x, uint32_t layer);
/* Rows of x [B, T, C] by indices, whose axes take the place of T; one that is out of range gives
 * zeros. The graph keeps `from`. */
heed_value heed_vit_gather(heed_vit_builder *b, heed_value x, const int32_t *from,
                           heed_shape shape);
/* The windows of a layer; count 0: its attention has none. */
typedef struct heed_vit_windows {
  uint32_t side, shift;
  uint32_t down, across; /* how many, of a grid that is filled up with zeros */
} heed_vit_windows;
heed_status heed_vit_find_windows(const heed_vit *model, uint32_t layer, uint32_t rows,
                                  uint32_t columns, heed_vit_windows *windows, heed_error *error);
/* The tokens [B, T, C] by windows, [B down across, side side, C], and back. */
heed_value heed_vit_enter_windows(heed_vit_builder *b, heed_value x,
                                  const heed_vit_windows *windows);
heed_value heed_vit_leave_windows(heed_vit_builder *b, heed_value x,
                                  const heed_vit_windows *windows);
/* What relative positions and the seam of shifted windows add to the scores: [1 or B down across,
 * H, n, n]. */
heed_status heed_vit_stage_bias(heed_vit_builder *b, uint32_t layer,
                                const heed_vit_windows *windows, heed_value *bias,
                                heed_error *error);

/* Relative rows and columns that queries meet (relative.c): queries [n B, H, T, D] with what they
 * give for each row and column of their grid, and keys with a 1 for their own, each [n B, H, T, D +
 * rows + columns]. */
heed_value heed_vit_meet_distances(heed_vit_builder *b, heed_value queries, uint32_t layer,
                                   const heed_vit_windows *windows);
heed_value heed_vit_say_places(heed_vit_builder *b, heed_value keys,
                               const heed_vit_windows *windows);

/* The parts, in the order of the data. */
heed_status heed_vit_embed(heed_vit_builder *b, heed_value *x, heed_error *error);
heed_status heed_vit_add_layer(heed_vit_builder *b, heed_value *x, uint32_t layer,
                               heed_error *error);
/* What relative positions add to the scores of the first `queries` tokens, [1, H, queries, T], or
 * none. */
heed_status heed_vit_position_bias(heed_vit_builder *b, uint32_t layer, uint32_t queries,
                                   heed_value *bias, heed_error *error);
/* What keeps a layer's attention inside its windows, [1, 1, T, T] of 0 and -Inf, or none. */
heed_status heed_vit_window_bias(heed_vit_builder *b, uint32_t layer, heed_value *bias,
                                 heed_error *error);
/* The pooling attention and its MLP over the final states: [B, 1, C]. */
heed_status heed_vit_pool_attention(heed_vit_builder *b, heed_value states, heed_value *pooled,
                                    heed_error *error);
heed_status heed_vit_add_heads(heed_vit_builder *b, heed_value x, heed_error *error);
/* The first and the last part of a text tower. */
heed_status heed_vit_embed_text(heed_vit_builder *b, heed_value *x, heed_error *error);
void heed_vit_add_text_heads(heed_vit_builder *b, heed_value x);

#endif
