/* The chapter of explanations in heed.h: changes of a model's attention, and the maps, statistics
 * and colours of what it was. */
#ifndef HEED_EXPLAIN_H
#define HEED_EXPLAIN_H

#include "heed/model.h"
#include "heed/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------- changes of attention */

/* EXPERIMENTAL: all of this chapter may change.
 *
 * Changes of the attention of a model that was built with `intervene`: heads ablated or scaled,
 * tokens masked, pairs of tokens blocked. One call adds one change. heed_changes_write writes all
 * of them to the session's inputs. */
typedef struct heed_changes heed_changes;
/* Creates an empty set of changes. Reads layers, heads and width of info. tokens: T of the session.
 * Statuses: INVALID_ARGUMENT, OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_changes_create(heed_context *context,
                                                        const heed_model_info *info,
                                                        uint32_t tokens, heed_changes **changes,
                                                        heed_error *error);
HEED_API void heed_changes_destroy(heed_changes *changes);
/* Ablates a head: its mask becomes empty. It outputs zeros, what heed_changes_replace sets, or what
 * empty_row says. */
HEED_NODISCARD HEED_API heed_status heed_changes_ablate(heed_changes *changes, uint32_t layer,
                                                        uint32_t head, heed_error *error);
/* Multiplies the output of a head. */
HEED_NODISCARD HEED_API heed_status heed_changes_gain(heed_changes *changes, uint32_t layer,
                                                      uint32_t head, float gain, heed_error *error);
/* Masks this token as a key of every query. */
HEED_NODISCARD HEED_API heed_status heed_changes_drop(heed_changes *changes, uint32_t token,
                                                      heed_error *error);
/* Blocks the query from attending to the key. */
HEED_NODISCARD HEED_API heed_status heed_changes_cut(heed_changes *changes, uint32_t query,
                                                     uint32_t key, heed_error *error);
/* Mean ablation: the ablated heads of the layer output their mean over the tokens. output [T, C] is
 * layer.i.attention.output of a run without changes. */
HEED_NODISCARD HEED_API heed_status heed_changes_replace(heed_changes *changes, uint32_t layer,
                                                         const float *output, heed_error *error);
/* Resampling ablation: the ablated heads of the layer output these rows instead, output [T, C],
 * each token its own: layer.i.attention.output of another image, or the mean of those of many. The
 * graph must have been built with offset_rows; in layers without such rows the ablated heads output
 * what heed_changes_replace says for every token. Statuses: INVALID_ARGUMENT, OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_changes_resample(heed_changes *changes, uint32_t layer,
                                                          const float *output, heed_error *error);
/* Whether this head's query may attend to this key. */
HEED_API bool heed_changes_allow(const heed_changes *changes, uint32_t layer, uint32_t head,
                                 uint32_t query, uint32_t key);
/* Writes the inputs of the session's graph, the same for every image of a batch. Statuses:
 * INVALID_ARGUMENT (a graph without these inputs or of another shape), OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_changes_write(const heed_changes *changes,
                                                       heed_session *session, heed_error *error);

/* ----------------------------------------------------------------------------------------- maps */

/* In an attention matrix a row is a query and a column is a key. `prefix` tokens (CLS, registers)
 * come before rows x columns patches, so N = prefix + rows * columns tokens. docs/attention.md has
 * definitions and sources. */

/* mean[N, N] = mean over heads of attention[H, N, N]. */
HEED_API void heed_map_head_mean(const float *attention, uint32_t heads, uint32_t tokens,
                                 float *mean);

typedef enum heed_fusion {
  HEED_FUSION_MEAN = 0,
  HEED_FUSION_MIN = 1,
  HEED_FUSION_MAX = 2
} heed_fusion;
typedef struct heed_rollout_desc {
  size_t struct_size;
  uint32_t layers, heads, tokens;
  heed_fusion fusion; /* over heads */
  float residual;     /* r, weight of the identity; 0 = 0.5 */
  /* the layers multiplied; layer_count 0 = all from first_layer on */
  uint32_t first_layer, layer_count;
  /* fraction of each row's keys whose fused weights, the smallest, become 0 before r I is added; 0
   * to less than 1, ties by index */
  float discard;
  /* [layers], each [H, N, N]: read instead of `attention`, which may be NULL then; NULL = that */
  const float *const *maps;
} heed_rollout_desc;
/* Attention rollout (Abnar & Zuidema 2020): the product over layers of (1-r) A + r I, rows
 * normalised over keys. attention [L, H, N, N] -> rollout [N, N]. A row is a token of the last
 * layer, a column an input token. Statuses: INVALID_ARGUMENT, OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_map_rollout(heed_context *context,
                                                     const heed_rollout_desc *desc,
                                                     const float *attention, float *rollout,
                                                     heed_error *error);
/* row [N] = start [N] times that rollout, as a vector through the layers from the last one back: N
 * times less work, and 28 N bytes. A token's unit vector gives that token's row. row may be start.
 * Statuses: INVALID_ARGUMENT, OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_map_rollout_row(heed_context *context,
                                                         const heed_rollout_desc *desc,
                                                         const float *attention, const float *start,
                                                         float *row, heed_error *error);
/* EXPERIMENTAL: may change. The same of a session that kept no weights: those of 64 queries at a
 * time are made again, from the query and key of each layer, which the plan must retain. weights
 * [layers]: each layer's weights value. desc->maps is not read. Statuses: INVALID_ARGUMENT,
 * UNSUPPORTED (an attention with a mask, a causal rule, a window, or another score or norm than
 * softmax(scale q k^T + bias)), OUT_OF_MEMORY, DEVICE_*. */
HEED_NODISCARD HEED_API heed_status heed_session_rollout_row(heed_session *session,
                                                             const heed_rollout_desc *desc,
                                                             const heed_value *weights,
                                                             uint32_t batch, const float *start,
                                                             float *row, heed_error *error);

/* Shannon entropy of one row of n weights, in nats; 0 log 0 = 0. Its maximum is ln n. */
HEED_API double heed_map_entropy(const float *row, uint32_t n);
/* Mean attention distance of one head, in pixels (Dosovitskiy et al. 2021, D.7). For each patch
 * query it is the Euclidean distance on the grid times `patch`, weighted by attention; the result
 * is the mean over patch queries. attention [N, N]. With renormalise, the weights of the patches
 * are first scaled to sum to 1. Without, mass on prefix tokens counts as distance 0. */
HEED_API double heed_map_distance(const float *attention, uint32_t prefix, uint32_t rows,
                                  uint32_t columns, double patch, bool renormalise);
/* DINO's mass mask (Caron et al. 2021): the smallest set of patches with `share` of the patches'
 * mass, ties by index. weights [n] -> mask [n] of 0/1. order is scratch of n uint32_t. Returns how
 * many are set. */
HEED_API uint32_t heed_map_mass_mask(const float *weights, uint32_t n, double share, uint8_t *mask,
                                     uint32_t *order);

/* EXPERIMENTAL: may change. How much of a row [n] lies on a region [n] of tokens (not 0: inside),
 * and the mean of that over the patches of attention [tokens, tokens] that are not inside; 0
 * without any. */
HEED_API double heed_map_share(const float *row, const uint8_t *region, uint32_t n);
HEED_API double heed_map_mean_share(const float *attention, uint32_t tokens, uint32_t prefix,
                                    const uint8_t *region);
/* EXPERIMENTAL: may change. The Jensen-Shannon divergence of two rows [n], each made to sum to 1,
 * in nats: 0 to ln 2. A row of zeros stays one. */
HEED_API double heed_map_divergence(const float *a, const float *b, uint32_t n);
/* EXPERIMENTAL: may change. distances [heads, heads] of maps [heads, queries, tokens]: that
 * divergence, mean over every stride-th query, 0: all. */
HEED_API void heed_map_distances(const float *maps, uint32_t heads, uint32_t queries,
                                 uint32_t tokens, uint32_t stride, double *distances);
/* EXPERIMENTAL: may change. Groups by average linkage (Sokal and Michener 1958) of distances
 * [count, count]: the two nearest groups become one while they are nearer than `limit`, ties to the
 * lower members. group [count]: the number of each one's group, from 0, the largest group first, of
 * equal ones that with the lowest member; *groups: how many there are. It takes count * count
 * doubles meanwhile. Statuses: OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_map_groups(heed_context *context, const double *distances,
                                                    uint32_t count, double limit, uint32_t *group,
                                                    uint32_t *groups, heed_error *error);

/* Statistics of one head over a whole image. */
typedef struct heed_map_statistics {
  double entropy_cls;                     /* of the first row, in nats; 0 without prefix tokens */
  double entropy_patches;                 /* mean over patch queries */
  double distance, distance_renormalised; /* heed_map_distance, in pixels */
  double prefix_mass;                     /* weight on prefix tokens, mean over patch queries */
  double self_mass;                       /* weight on itself, mean over patch queries */
  /* sum of a row's five largest weights (all where it has fewer), mean over patch queries */
  double top5_mass;
} heed_map_statistics;
/* attention [N, N]; patch: side in pixels. */
HEED_API void heed_map_get_statistics(const float *attention, uint32_t prefix, uint32_t rows,
                                      uint32_t columns, double patch,
                                      heed_map_statistics *statistics);
/* EXPERIMENTAL: may change. The same of many heads of one grid. Each row is read once by the widest
 * registers, which is several times as fast. The largest error of a logarithm is 3e-8, and so is
 * that of the entropy of a row that sums to 1. The other numbers differ from
 * heed_map_get_statistics by rounding in double. Each width of registers gives the same bits. One
 * thread uses a scan at a time. Borrows context. Statuses: INVALID_ARGUMENT (no patches),
 * OUT_OF_MEMORY. */
typedef struct heed_map_scan heed_map_scan;
HEED_NODISCARD HEED_API heed_status heed_map_scan_create(heed_context *context, uint32_t prefix,
                                                         uint32_t rows, uint32_t columns,
                                                         double patch, heed_map_scan **scan,
                                                         heed_error *error);
HEED_API void heed_map_scan_destroy(heed_map_scan *scan);
/* attention [N, N]. offsets [2 rows - 1, 2 columns - 1], or NULL: the weight of a patch on the one
 * that lies so many rows and columns further, mean over patch queries; [rows - 1, columns - 1] is
 * the weight on itself. prefix [prefix], or NULL: the weight of patch queries on each token before
 * them, and squares, or NULL: their sum of squared weights on patches, both means. Of weights that
 * are not finite no number is promised, but entropy_patches and distance are not finite then. */
HEED_API void heed_map_scan_head(heed_map_scan *scan, const float *attention,
                                 heed_map_statistics *statistics, double *offsets, double *prefix,
                                 double *squares);

/* Scores behind the weights: rows (a query and all keys) of one head, or with `reverse` columns (a
 * key and all queries). D = depth.
 * scores[tokens] = one[D] . all[tokens, D], the query with every key (or the key with every query);
 * scaled: divided by sqrt(D), mode 0 of ONNX's qk_matmul_output_mode. */
HEED_API void heed_score_products(const float *one, const float *all, uint32_t tokens,
                                  uint32_t depth, bool scaled, float *scores);
/* Scaled scores after temperature and mask, mode 2 of ONNX: divided by temperature, -Inf where the
 * changes mask the key for this head's query. In place. */
HEED_API void heed_score_mask(const heed_changes *changes, uint32_t layer, uint32_t head,
                              uint32_t token, bool reverse, double temperature, uint32_t tokens,
                              float *scores);
/* The weights of a row of scores, or the probabilities of classes from logits: weights[n] = softmax
 * of scores[n], in double. A score of -Inf gives 0, and so does every score where all are. */
HEED_API void heed_score_softmax(const float *scores, uint32_t n, double *weights);
/* Weights times the norm |v| of the key's value (Kobayashi et al. 2020). weights[tokens];
 * values[tokens, D], or with reverse [D] of the one key. */
HEED_API void heed_score_values(const float *weights, const float *values, uint32_t tokens,
                                uint32_t depth, bool reverse, float *scores);
/* mean[tokens] over the heads of scores[heads, tokens] that are not -Inf there; -Inf where all
 * are. */
HEED_API void heed_score_mean(const float *scores, uint32_t heads, uint32_t tokens, float *mean);

/* EXPERIMENTAL: may change. The cosine of two vectors [size], summed in double; NaN where one is 0.
 */
HEED_API float heed_cosine(const float *a, const float *b, uint32_t size);
/* EXPERIMENTAL: may change. An image's embedding [E] beside those of texts [count, E], by the info
 * of the text tower, whose projection is E. logits [count] = exp(logit_scale) cosine + logit_bias.
 * probability [count] may be NULL: the softmax of the logits over the texts, as CLIP has it, or the
 * sigmoid of each where the model has a bias, as SigLIP has it. */
HEED_API void heed_compare(const heed_model_info *text, const float *image, const float *texts,
                           uint32_t count, float *logits, double *probability);

/* What a row of N weights is. */
typedef enum heed_row_kind {
  HEED_ROW_ATTENTION = 0, /* the attention of a query */
  HEED_ROW_COLUMN = 1,    /* the attention that one key receives from each query */
  HEED_ROW_ROLLOUT = 2    /* a token's row of a rollout */
} heed_row_kind;
#define HEED_MAP_ELSEWHERE_SIZE 512
/* A note for a map that shows next to nothing. It is for a row [n] of which patches other than the
 * query's own have less than a tenth. It names which of the `prefix` tokens and the query `token`
 * have the rest:
 * "98.3 % on CLS", "97.0 % on register 1", "99.0 % on itself". Otherwise it is "". A column has a
 * note only if it is empty. names [prefix]: as token_names of heed_model_info. Returns text. */
HEED_API const char *heed_map_elsewhere(const float *row, uint32_t n, uint32_t prefix,
                                        const char *const *names, uint32_t token,
                                        heed_row_kind kind, char text[HEED_MAP_ELSEWHERE_SIZE]);

typedef enum heed_colormap {
  HEED_COLORMAP_CIVIDIS = 0,
  HEED_COLORMAP_VIRIDIS = 1,
  HEED_COLORMAP_MAGMA = 2,
  HEED_COLORMAP_INFERNO = 3,
  HEED_COLORMAP_GREY = 4
} heed_colormap;
/* t from 0 to 1 -> RGB. A t outside is clamped; NaN is (128, 128, 128). */
HEED_API void heed_colormap_rgb(heed_colormap map, double t, uint8_t rgb[3]);
HEED_API const char *heed_colormap_name(heed_colormap map);
/* EXPERIMENTAL: may change. The colours that heed lays over a picture: rgba [n, 4] of weights [n],
 * which are of a row of `tokens`. The scale is linear. It ends at the largest weight, or at
 * min(4, tokens) / tokens where that is more. A colour is as opaque as its weight is large, 0.8 at
 * the end. NaN is grey. */
HEED_API void heed_map_overlay(heed_colormap map, const float *weights, uint32_t n, uint32_t tokens,
                               uint8_t *rgba);

/* ------------------------------------------------------------------------------------- features */

/* EXPERIMENTAL: all of this part may change.
 *
 * What the states of patches look like, and which are alike. states [N, C] are patches alone,
 * without prefix tokens: of last_hidden_state, or of layer.l.output. Sums are double, and the bits
 * the same for any number of threads. docs/explain.md has definitions and sources. */

/* The patches of one picture, row by row. */
typedef struct heed_patches {
  uint32_t rows, columns;
} heed_patches;
/* Principal components of patches. All memory is the caller's; N is the number of all patches. */
typedef struct heed_pca {
  float *mean;       /* [C] */
  float *components; /* [3, C], of length 1; the largest entry, the first of equals, is positive */
  float *variance;   /* [3], over N - 1, descending */
  float *scores;     /* [N, 3]: (state - mean) . component, not whitened */
  uint8_t *foreground; /* [N], 0 or 1 */
  float *colours;      /* [3, C]: components of the foreground's patches alone */
  float *rgb; /* [N, 3]: all patches by colours, each component from 0 to 1; background 0 */
} heed_pca;
/* The components of all patches of `count` pictures together, states [N, C] one picture after the
 * other.
 * The foreground is where the first score is above 0, or where it is below 0: the side of which the
 * smaller share of patches lies on its picture's border, above 0 of equals; with fewer than 5 such
 * patches it is everything. A component without variance is 0, and so is its part of rgb. One whose
 * variance is less than 1e-6 of the first's is not resolved. With a state that is not finite all is
 * NaN, and foreground 1.
 * Statuses: INVALID_ARGUMENT (fewer than 2 patches, or a picture without), OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_patches_pca(heed_context *context, const float *states,
                                                     const heed_patches *pictures, uint32_t count,
                                                     uint32_t channels, const heed_pca *pca,
                                                     heed_error *error);
/* similarity [N, M]: cosines of states [N, C] with others [M, C]; with others NULL of the states
 * with themselves, [N, N]. NaN where a state is 0. Statuses: INVALID_ARGUMENT (nothing to compare),
 * OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_patches_similarity(heed_context *context,
                                                            const float *states, uint32_t count,
                                                            const float *others,
                                                            uint32_t other_count, uint32_t channels,
                                                            float *similarity, heed_error *error);
/* Mutual nearest neighbours, from similarity [N, M]: match[i] = j where j is the most similar to i,
 * and i to j, the first of equals; else -1. match [N]. */
HEED_API void heed_patches_match(const float *similarity, uint32_t count, uint32_t other_count,
                                 int32_t *match);
/* norms [N]: Euclidean norms of states [N, C]. */
HEED_API void heed_patches_norms(const float *states, uint32_t count, uint32_t channels,
                                 float *norms);
/* outlier [N] of 0/1: norms above *bound, their median plus 6 * 1.4826 times the median of the
 * distances from it. NaN is left out, and no outlier; of nothing else *bound is NaN. Statuses:
 * OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_patches_outliers(heed_context *context, const float *norms,
                                                          uint32_t count, uint8_t *outlier,
                                                          float *bound, heed_error *error);
/* k-means of the states over their lengths: cluster [N], from 0; centres [clusters, C] may be NULL.
 * The first centre is the patch farthest from the mean, each other one the patch farthest from all
 * centres before; ties go to the lower index. A state that is 0 or not finite has cluster -1.
 * Statuses: INVALID_ARGUMENT (no cluster, or more than states), OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_patches_cluster(heed_context *context, const float *states,
                                                         uint32_t count, uint32_t channels,
                                                         uint32_t clusters, int32_t *cluster,
                                                         float *centres, heed_error *error);

/* --------------------------------------------------------------------------------- judging a map
 */

/* EXPERIMENTAL: all of this part may change.
 *
 * What does not need the model: a map's order, how far two maps agree, and whether a map lies where
 * something is known to be. docs/explain.md has definitions and sources. */

/* order [n]: the indices of map [n], the largest number first; of equal ones the smaller index
 * comes first, and NaN comes last. */
HEED_API void heed_map_order(const float *map, uint32_t n, uint32_t *order);
/* Spearman's correlation of |a| and |b| [n]: Pearson's of their ranks, equal numbers with the mean
 * of theirs. NaN where all numbers of a map are equal or one is NaN. Statuses: OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_map_spearman(heed_context *context, const float *a,
                                                      const float *b, uint32_t n, double *rho,
                                                      heed_error *error);
/* EXPERIMENTAL: may change. The same of a and b themselves. Statuses: OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_map_rank_correlation(heed_context *context, const float *a,
                                                              const float *b, uint32_t n,
                                                              double *rho, heed_error *error);
#define HEED_POINTING_NONE 255
typedef struct heed_localisation {
  uint8_t
      pointing; /* 1: a largest number lies inside; 0: none does; HEED_POINTING_NONE: no inside */
  double mass;  /* sum inside over the sum of all, signed; NaN where that is not above 0 */
  double rank;  /* the share of the first |inside| numbers that lie inside */
} heed_localisation;
/* A map [n] against a mask [n]: not 0 is inside. Of an empty mask mass and rank are NaN. NaN in the
 * map adds to no sum. Statuses: OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_map_localise(heed_context *context, const float *map,
                                                      const uint8_t *mask, uint32_t n,
                                                      heed_localisation *localisation,
                                                      heed_error *error);
/* Fills missing pixels [height, width] (not 0: missing) of pixels [channels, height, width], in
 * place: each is the mean of its eight neighbours inside the picture, with weights 1/6 beside and
 * 1/12 across, solved together (ROAD without noise) to 1e-10 of the right side. Statuses:
 * INVALID_ARGUMENT (all are missing), OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_pixels_fill(heed_context *context, float *pixels,
                                                     uint32_t channels, uint32_t height,
                                                     uint32_t width, const uint8_t *missing,
                                                     heed_error *error);

/* ------------------------------------------------------------------------------ methods by name */

/* EXPERIMENTAL: all of this chapter may change.
 *
 * What a model's answer rests on, by named methods: one call runs the model on pictures and gives
 * named tensors. docs/explain.md has the formulas. */

/* A tensor by its name, dense and row-major. */
typedef struct heed_named_tensor {
  const char *name;
  heed_dtype dtype; /* F32, U8 or I32 */
  heed_shape shape;
  const void *data;
} heed_named_tensor;

#define HEED_IG_MOST_STEPS 10000
/* Which curves deletion and insertion give: of patches that leave as tokens, as pixels, or both. */
typedef enum heed_curve_kind {
  HEED_CURVES_BOTH = 0,
  HEED_CURVES_TOKENS = 1,
  HEED_CURVES_PIXELS = 2
} heed_curve_kind;

typedef struct heed_explain_desc {
  size_t struct_size;
  const heed_model *model; /* a vision transformer */
  const heed_model *text;  /* its text tower, for input_ids; or NULL */
  heed_backend *backend;
  const char *methods; /* "ledger,lens"; heed_explain_method_name lists them */
  /* The score of a picture: "N" its logit of class N, or of text N where there are input_ids; "N-M"
   * a difference of two; "vector": target.vector . pooler_output; "layer.l.output[t,c]" or
   * "embeddings[t,c]": one number of a state; or a label of a class. NULL: the largest logit of
   * each picture. */
  const char *target;
  bool layer_given; /* features are those after `layer`, else last_hidden_state */
  uint32_t layer;
  uint32_t ig_steps; /* nodes of ig, at most HEED_IG_MOST_STEPS; 0: 50 */
  /* pixel_values F32 [B, channels, height, width] is required; heed_explain_input_name lists the
   * others.
   */
  const heed_named_tensor *inputs;
  uint32_t input_count;
  /* of patch: some of "states,heads,mlps"; "heads.3" is one of their levels, and the others are
   * NaN; NULL: all */
  const char *sites;
  bool source_mean; /* patch puts in the mean over all pictures of source.pixel_values */
  /* Or NULL. Phases: "read", "run", "occlusion", whose units are squares, and "patch", whose units
   * are runs of what follows a site. */
  const heed_hooks *hooks;
  /* of the methods that judge a map */
  uint32_t steps; /* K of deletion and insertion; 0 = 10 */
  heed_curve_kind curves;
  uint32_t flip_pixels; /* pixels a step of flipping; 0 = 1 */
  /* the percentages of road, each from 0 to below 100, [percent_count]; NULL = 1, 3, ... 99 */
  const double *percent;
  uint32_t percent_count;
  uint32_t clusters;                /* of kmeans; 0 = 5 */
  uint32_t square;                  /* patches of a side of the squares of occlusion; 0 = 2 */
  struct heed_explainer *explainer; /* or NULL: nothing is kept for the next call */
  const char *heads;                /* of ablation: "layer.head,..." */
} heed_explain_desc;

/* Keeps the graph, the plan, the session and its memory of an explanation for the next one that has
 * the same model, backend, methods, target and sizes: that takes a run and what its methods
 * compute. Of gradients it keeps the reverse pass, where a target is given and no other method is:
 * then another class has the same target. Nothing is kept of other explanations with gradients, and
 * of those with texts or a second image. One call of heed_explain uses it at a time. It is
 * destroyed before the model and the backend. Statuses: OUT_OF_MEMORY. */
typedef struct heed_explainer heed_explainer;
HEED_NODISCARD HEED_API heed_status heed_explainer_create(heed_context *context,
                                                          heed_explainer **explainer,
                                                          heed_error *error);
HEED_API void heed_explainer_destroy(heed_explainer *explainer);

/* The names of methods and of inputs, in order; NULL after the last. */
HEED_API const char *heed_explain_method_name(uint32_t index);
HEED_API const char *heed_explain_input_name(uint32_t index);

/* The tensors that the methods gave. */
typedef struct heed_explanation heed_explanation;
/* Runs the model on pixel_values and then each method once, in the order of the table. The first
 * tensor is score F32 [B]; a model without classes has none where no method needs it and no target
 * is given. Pictures do not influence one another, and CPU results are the same for
 * any number of threads. Borrows desc until it returns. Statuses: INVALID_ARGUMENT (an unknown
 * method, target or site), UNSUPPORTED (a method that this model has no use for), INVALID_FILE (an
 * input that is missing or of another shape), OUT_OF_MEMORY, CANCELLED, those of a session. */
HEED_NODISCARD HEED_API heed_status heed_explain(heed_context *context,
                                                 const heed_explain_desc *desc,
                                                 heed_explanation **explanation, heed_error *error);
/* The tensors in the order of the methods, valid as long as the explanation; NULL after the last.
 */
HEED_API const heed_named_tensor *heed_explanation_get(const heed_explanation *explanation,
                                                       uint32_t index);
HEED_API void heed_explanation_destroy(heed_explanation *explanation);

/* Maps over the patches, a number each, that are made of a method's tensors: what can be judged.
 * docs/explain.md lists them. The names in order, and the method that each needs; NULL after the
 * last, and for a map that needs none. */
HEED_API const char *heed_patch_map_name(uint32_t index);
HEED_API const char *heed_patch_map_method(uint32_t index);
/* map [rows * columns] of a picture, from an explanation with the tensors of the map's method, or
 * NULL where it needs none. Statuses: INVALID_ARGUMENT (no such map, or tensors are missing). */
HEED_NODISCARD HEED_API heed_status heed_patch_map(const heed_explanation *explanation,
                                                   uint32_t index, uint32_t picture,
                                                   heed_patches grid, float *map,
                                                   heed_error *error);

#ifdef __cplusplus
}
#endif

#endif
