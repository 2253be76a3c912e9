/* The methods of heed run --explain: those of explained.c are of the patches' states, those of
 * explained_score.c of the score. */
#ifndef HEED_CLI_RUN_EXPLAINED_METHODS_H
#define HEED_CLI_RUN_EXPLAINED_METHODS_H

#include "explained_figure.h"
#include "parts.h"
#include "terminal/json_out.h"

struct run_explained {
  float *states; /* [T, C] */
  uint32_t patches, channels, layers, heads, prefix;
  heed_patches grid;
  heed_pca pca;
  const run_joint *joint; /* of the components; NULL: of this image alone */
  size_t joint_first;     /* its patches there */
  float *numbers;         /* those of pca, one after the other */
  float *similarity;      /* [patches] with the query's token, or NULL */
  int32_t *cluster;       /* [patches], of kmeans, or NULL */
  uint32_t clusters;
  heed_explanation *explanation; /* of the methods of the score, or NULL */
  char target[160];              /* what the score is, in words */
};

/* An entry of the table in explained.c. A figure has rows x columns of panels. */
typedef struct run_explained_method {
  const char *name;
  /* NULL: heed_explain gives its tensors. */
  heed_status (*make)(cli_state *cli, const float *patches, const run_selection *selection,
                      run_explained *to);
  void (*json)(json_out *json, const run_explained *explained);
  /* NULL: one panel */
  void (*panels)(const run_explained *explained, uint32_t *rows, uint32_t *columns);
  /* rgb [rows, columns, patches, 3] */
  void (*colour)(const run_explained *explained, float *rgb);
  void (*words)(const run_explained *explained, const char *query,
                char title[RUN_EXPLAINED_TITLE_SIZE], char caption[RUN_EXPLAINED_CAPTION_SIZE]);
  bool of_query; /* its figure marks the query */
  bool levels;   /* columns are levels: the embeddings, then layers */
} run_explained_method;

/* Of explained_score.c, explained_groups.c and explained_gradients.c. */
extern const run_explained_method run_explained_kmeans, run_explained_outliers,
    run_explained_ledger, run_explained_lens, run_explained_norms, run_explained_patch,
    run_explained_gradcam, run_explained_relevancy, run_explained_gradient_rollout,
    run_explained_attnlrp, run_explained_cplrp, run_explained_inputxgrad, run_explained_ig,
    run_explained_smoothgrad;

/* A tensor of the explanation; NULL: there is none. */
const heed_named_tensor *run_explained_tensor(const run_explained *explained, const char *name);
/* -1 to 1: blue below 0, white at 0, red above. */
void run_explained_colour(float value, float rgb[3]);

/* Runs heed_explain with these methods on the result's pixels. Statuses: those of heed_explain, and
 * of --patch-from. */
heed_status run_explain_score(cli_state *cli, const cli_pipeline *pipeline,
                              const run_options *options, const run_result *result,
                              const char *methods, run_explained *to);

#endif
