/* heed run, in parts: run.c options and flow, pictures.c one picture after another,
 * derived_maps.c columns, scores and rollout, explained.c states of patches, explained_score.c what
 * the answer rests on, report.c text and JSON, draw.c pictures, outputs.c names of files. */
#ifndef HEED_CLI_RUN_PARTS_H
#define HEED_CLI_RUN_PARTS_H

#include "changes.h"
#include "heed/native.h"
#include "session/features.h"
#include "session/scene_input.h"

#define RUN_MOST_TOP 1000 /* of --top */

/* Which maps are shown and drawn, of heed run and heed maps; `tokens`: what may be a query. */
#define RUN_MAP_OPTIONS(options, tokens)                                                          \
  {"--layer", CLI_TEXT, &(options).layer, "L|last|all|pool",                                      \
   "layer to show, all, or the pooling attention (default: last)"},                               \
      {"--head", CLI_TEXT, &(options).head, "H|mean|all",                                         \
       "head to show, mean or all (default: all)"},                                               \
      {"--query", CLI_TEXT, &(options).query, tokens,                                             \
       "the token whose attention is shown: a patch, or cls, register 2 ... (default: cls, or "   \
       "the centre patch without one)"},                                                          \
      {"--maps", CLI_FILE, &(options).maps, RUN_FIGURE_NAME,                                      \
       "draw the mean map over the image beside the grid of maps"},                               \
      {"--rollout", CLI_FILE, &(options).rollout, RUN_FIGURE_NAME,                                \
       "draw the attention rollout of the query"},                                                \
      {"--plain", CLI_FLAG, &(options).plain, NULL,                                               \
       "draw --maps and --rollout as bare panels: no words, bars or margins"},                    \
      {"--scale", CLI_TEXT, &(options).scale, "auto|uniform|share|log|own",                       \
       "scale of --maps and --rollout: times uniform, % of the row, logarithmic, each map's own " \
       "(default: auto = uniform, or log for a grid with an outlier)"},                           \
      {"--end", CLI_TEXT, &(options).end, "E",                                                    \
       "end that scale at E times uniform, 1 to the number of tokens, so that figures compare "   \
       "(default: the largest weight, or 4)"},                                                    \
  {                                                                                               \
    "--width", CLI_NUMBER, &(options).width, "MM",                                                \
        "width of --maps and --rollout in millimetres, 60 to 1000 (default: 1600 pixels)"         \
  }
#define RUN_FIGURE_NAME "OUT.png|.svg|.pdf"

/* How the rollout is made, as option values; NULL = as heed_rollout_desc has it. */
typedef struct run_rollout_options {
  const char *fusion, *residual, *discard, *layers;
} run_rollout_options;

#define RUN_ROLLOUT_OPTIONS(how)                                                     \
  {"--fusion", CLI_TEXT, &(how).fusion, "mean|min|max",                              \
   "how to fuse heads for rollout (default: mean)"},                                 \
      {"--residual", CLI_TEXT, &(how).residual, "R",                                 \
       "weight of the identity in rollout, 0 to 1 (default: 0.5)"},                  \
      {"--discard", CLI_TEXT, &(how).discard, "FRACTION",                            \
       "zero this fraction of each row's smallest weights in rollout (default: 0)"}, \
  {                                                                                  \
    "--layers", CLI_TEXT, &(how).layers, "FIRST-LAST",                               \
        "layers to multiply in rollout (default: all)"                               \
  }

#define RUN_POOL_TAP "pool.attention.weights"

/* Which options narrow the files to what is shown: then nothing else is kept or written. */
typedef struct run_narrow {
  bool layer, head, query;
} run_narrow;

/* What heads give on the images of --replace-from, for pixel_values of a size. */
typedef struct run_resampled {
  uint32_t height, width, images;
  size_t layer_size; /* T C */
  double *mean;      /* [L, T, C]; NULL: not known yet */
} run_resampled;

/* The components of the patches of all images of --joint. */
typedef struct run_joint {
  bool wanted;
  const char *const *pictures; /* [count] */
  uint32_t count;
  size_t *first; /* [count]: where a picture's patches begin; SIZE_MAX: it was left out */
  float *numbers;
  heed_pca pca; /* in `numbers`, and its foreground */
} run_joint;

/* Of several pictures, a stem each: its file's name without folder and end, numbered where another
 * before has it. NULL of one. */
typedef struct run_stems {
  char **stem;
} run_stems;

/* The pictures of a run; borrowed. One of them may be NULL: the built-in one. */
typedef struct run_batch {
  const char *const *pictures;
  uint32_t count;
  run_stems stems;
} run_batch;

typedef struct run_options {
  cli_choice choice;
  const char *model; /* path; NULL = the demo model */
  const char *file;  /* of the model's folder */
  const char *way;   /* of an ONNX file */
  const char *list;  /* of pictures: a file, or "-" */
  const char *scene, *fit, *size, *layer, *head, *query, *maps, *rollout, *json, *save, *score,
      *scale, *end;
  bool reverse, plain;
  const char *sheet; /* figure of all pictures */
  run_rollout_options rollout_how;
  cli_changes changes;
  run_resampled resampled;
  run_narrow narrow;
  const char *explain, *explained; /* methods of explained.h, and the file of their figures */
  const char *target, *patch_from; /* of --explain: the score, and another picture */
  const char *save_only;           /* names of values that are saved instead of maps, or NULL */
  cli_features features;           /* these */
  bool remake; /* the rollout makes weights again from queries and keys, which are tapped */
  uint32_t most_images, most_patches;
  heed_image_limits limits;
  uint32_t clusters; /* of --explain kmeans */
  run_joint joint;
  uint32_t top, width;   /* width: of figures in millimetres, 0: not said */
  const run_batch *clip; /* the frames of a video; NULL: the model takes pictures */
} run_options;

typedef struct run_explained run_explained; /* of explained.h */

/* One picture's way through the model. Arrays are malloc'ed. */
typedef struct run_result {
  const char *picture; /* path or name */
  bool built_in;       /* the picture inside the program */
  const char *note;    /* a line to be printed below the first, or NULL */
  const char *stem;    /* of several pictures: what the names of this one's files have in them */
  char scene[32];      /* "scene 7": what `picture` points to for a seed */
  const char *from;    /* where saved maps are from, as their file says it, or NULL */
  scene_twins twins;   /* of a scene */
  heed_picture image;
  heed_region region;
  bool whole;                         /* fitted whole, with padding (--fit whole) */
  uint32_t batch_height, batch_width; /* of pixel_values */
  uint32_t rows, columns, tokens;     /* grid of patches; N */
  uint32_t patch;                     /* the side of one in pixels of the model */
  uint32_t frames, across;            /* of a video: its grids in time, those in a row of figures */
  uint32_t clip_frames;               /* the same: of its files, of which some were taken */
  uint32_t frame_width, frame_height; /* the same: of its files, where the model sees `seen` */
  heed_region seen;
  float *pixels; /* [C, H, W] */
  float *logits; /* [classes] or NULL */
  /* [L], each [H, R, N]: R = N when the whole maps were wanted, else 1 (the query's row). In the
   * session, until its next run, or in `copies`, [L], NULL for the others. */
  const float **attention;
  float **copies;
  uint32_t attention_rows, attention_layers; /* R, L */
  uint32_t first_kept, kept; /* layers whose maps are there; of the others attention is NULL */
  float **values;            /* of --save-only, a feature each, or NULL */
  float *columns_of_query;   /* [L, H, N] with --reverse, or NULL */
  /* [L, H, N] of the query's row or column with --score, or NULL */
  float *scores;
  float *pool;    /* [heads, N] of the pooling attention, or NULL */
  float *rollout; /* [N, N] where it is saved, or NULL */
  /* [N] of the query, and of the probe where there is one, or NULL */
  float *rollout_row, *pool_rollout;
  char rollout_words[128];  /* how it was made */
  run_explained *explained; /* of --explain, or NULL */
  cli_change_inputs changes;
  double milliseconds; /* of a run of this size, without loading */
} run_result;

/* What --layer, --head and --query say once the model and picture are known. */
typedef struct run_selection {
  uint32_t first_layer, layer_count;
  uint32_t first_head, head_count;
  bool head_mean;
  bool pool;                       /* the pooling attention, whose query is the probe */
  heed_scale_kind scale;           /* of the pictures */
  double end;                      /* of that scale, in times uniform; 0: not given */
  uint32_t query;                  /* token */
  int32_t query_row, query_column; /* -1: a token before the patches */
  int32_t query_frame;             /* -1: there is one grid in time */
} run_selection;

/* Reads a picture (NULL: the built-in one) and prepares its pixels: result's image, pixels, sizes
 * and region, which the caller frees. */
heed_status run_load_picture(cli_state *cli, const cli_pipeline *pipeline,
                             const run_options *options, const char *path, run_result *result);

/* Notes --layer, --head and --query as the user gave them; "all", and "mean" of heads, leave all.
 */
void run_set_narrow(run_options *options);
/* Whether the rollout is asked for: by its figure, or by a file of all that there is. */
bool run_wants_rollout(const run_options *options);
/* The layers whose maps a run of this model keeps. */
void run_kept_layers(const run_options *options, const heed_model_info *info, uint32_t *first,
                     uint32_t *count);

heed_status run_make_stems(cli_state *cli, run_batch *batch);
void run_free_stems(run_batch *batch);
/* Refuses outputs that are one file, or an input. Statuses: INVALID_ARGUMENT, IO, OUT_OF_MEMORY. */
heed_status run_check_paths(cli_state *cli, const run_options *options, const run_batch *batch);
/* All pictures through the model, in their order: each is written and printed when it has its
 * results. Of several, those that cannot be read or decoded give their sentence on stderr and are
 * counted in *failed; everything else that goes wrong ends the run with its status. --json is whole
 * or, where the run ends early, as it was. */
heed_status run_pictures(cli_state *cli, cli_pipeline *pipeline, run_options *options,
                         const run_batch *batch, uint32_t *failed);
/* All that --maps, --rollout and --save ask for of one picture; says what was written. */
heed_status run_write_outputs(cli_state *cli, const cli_pipeline *pipeline,
                              const run_options *options, const run_result *result,
                              const run_selection *selection);

/* Of a model with stages the layer that is shown, else 0. */
uint32_t run_layer(const run_options *options, const heed_model_info *info);
/* Refuses what such a model cannot do, and takes the layer's heads for the model's. Statuses:
 * UNSUPPORTED, INVALID_ARGUMENT. */
heed_status run_choose_stage(cli_state *cli, cli_pipeline *pipeline, run_options *options);
/* That layer's map over all of its tokens, 0 outside of a query's window. */
heed_status run_read_windows(cli_state *cli, const cli_pipeline *pipeline,
                             const run_options *options, const run_selection *selection,
                             run_result *result);
/* Sets result->across by its frames: as near to a square as they divide. */
void run_set_across(run_result *result);
/* The row and the column of a patch in a figure, where time steps lie side by side. */
void run_cell(const run_result *result, uint32_t patch, uint32_t *row, uint32_t *column);

/* The query's row of one head's map [N]; with --reverse its column. */
const float *run_row(const run_result *result, const run_selection *selection, uint32_t heads,
                     uint32_t layer, uint32_t head);
/* "CLS", "register 2", "patch (3, 5)", of a video "patch (1, 3, 5)", or "the probe". */
void run_query_text(const heed_model_info *info, const run_selection *selection, char text[48]);
/* All tokens before the patches: "CLS", "CLS and registers" ...; NULL where there are none. */
const char *run_prefix_text(const heed_model_info *info);
/* "CLS, register 1": malloc'ed; NULL without memory. */
char *run_prefix_names(const heed_model_info *info);
/* As heed_top of the classes, where each may stand by itself. */
uint32_t run_top(const cli_pipeline *pipeline, const float *logits, uint32_t most, uint32_t *index,
                 double *probability);
/* --query; NULL is CLS, or the centre patch where there is none. Statuses: INVALID_ARGUMENT. */
heed_status run_choose_query(cli_state *cli, const char *query, const heed_model_info *info,
                             const run_result *result, run_selection *selection);

/* Whether --score can be answered. Statuses: INVALID_ARGUMENT. */
heed_status run_check_shown(cli_state *cli, const run_options *options);
/* The values of each layer that --score wants tapped beside the weights: how many. */
uint32_t run_score_taps(const run_options *options, const char *taps[2]);
/* The query's columns and scores, from whole maps and the session that has run. */
heed_status run_read_shown(cli_state *cli, const cli_pipeline *pipeline, const run_options *options,
                           const run_selection *selection, run_result *result);
/* What the options of the rollout mean for a model. Statuses: INVALID_ARGUMENT. */
heed_status run_rollout_desc(cli_state *cli, const run_rollout_options *options,
                             const heed_model_info *info, uint32_t tokens, heed_rollout_desc *desc);
/* The rollout of the query and of the probe, whose own is the mean of its heads times the rollout
 * of their tokens; with save also that of all tokens. */
heed_status run_read_rollout(cli_state *cli, const cli_pipeline *pipeline,
                             const run_options *options, const run_selection *selection,
                             run_result *result);

/* Lists for the maps of so many layers, all NULL. */
heed_status run_make_maps(cli_state *cli, uint32_t layers, run_result *result);
/* Room for a layer's map [H, R, N], zeros; NULL without memory. */
float *run_copy_map(run_result *result, uint32_t layer, uint32_t heads);
void run_free_maps(run_result *result);

/* What --layer, --head and --query of the options mean for this result. Statuses:
 * INVALID_ARGUMENT. */
heed_status run_select(cli_state *cli, const run_options *options, const heed_model_info *info,
                       const run_result *result, run_selection *selection);
/* --scale; NULL is AUTO. Statuses: INVALID_ARGUMENT. */
heed_status run_scale(cli_state *cli, const char *text, heed_scale_kind *scale);
/* A line for each head of the selection. */
void run_print_heads(FILE *to, const heed_model_info *info, const run_result *result,
                     const run_selection *selection);

void run_print(FILE *to, const cli_pipeline *pipeline, const run_options *options,
               const run_result *result, const run_selection *selection);
/* --json, one picture at a time: a document with the list "results", or lines where the name ends
 * in .jsonl. malloc'ed; NULL without memory. */
typedef struct run_json run_json;
run_json *run_json_create(FILE *to, const char *path);
heed_status run_json_add(cli_state *cli, run_json *report, const cli_pipeline *pipeline,
                         const run_options *options, const run_result *result,
                         const run_selection *selection);
/* {"image": {"path": ...}, "error": "sentence"} in the picture's place. */
heed_status run_json_add_failure(cli_state *cli, run_json *report, const cli_pipeline *pipeline,
                                 const run_options *options, const char *path,
                                 const char *sentence);
heed_status run_json_end(cli_state *cli, run_json *report, const cli_pipeline *pipeline,
                         const run_options *options);
/* Writes to a temporary name and renames, as all of these. */
heed_status run_write_json(cli_state *cli, const cli_pipeline *pipeline, const run_options *options,
                           const run_result *result, const run_selection *selection);
heed_status run_save_tensors(cli_state *cli, const cli_pipeline *pipeline,
                             const run_options *options, const run_result *result,
                             const run_selection *selection, const char *path);
/* Whether the figures that are asked for can be written. Statuses: INVALID_ARGUMENT, UNSUPPORTED.
 */
heed_status run_check_figures(cli_state *cli, const run_options *options);
/* Adds the picture with the mean of its selected maps. */
heed_status run_add_to_sheet(cli_state *cli, heed_sheet *sheet, const cli_pipeline *pipeline,
                             const run_result *result, const run_selection *selection);
/* Writes --sheet, and says so. */
heed_status run_write_sheet(cli_state *cli, const heed_sheet *sheet, const cli_pipeline *pipeline,
                            const run_options *options);
heed_status run_draw_maps(cli_state *cli, const cli_pipeline *pipeline, const run_options *options,
                          const run_result *result, const run_selection *selection,
                          const char *path);
heed_status run_draw_rollout(cli_state *cli, const cli_pipeline *pipeline,
                             const run_options *options, const run_result *result,
                             const run_selection *selection, const char *path);

#endif
