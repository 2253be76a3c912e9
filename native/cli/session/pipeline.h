/* The way from a model's files to a session that has run, with the fall-back to the CPU that
 * --backend auto promises. */
#ifndef HEED_CLI_SESSION_PIPELINE_H
#define HEED_CLI_SESSION_PIPELINE_H

#include "backend_selection.h"
#include "heed/native.h"
#include "prepare.h"

#define CLI_BUILT_IN_FILES 3

typedef struct cli_pipeline {
  heed_model_files *files;                      /* of a model on disk; or */
  heed_model_file built_in[CLI_BUILT_IN_FILES]; /* those of one that is not */
  const char *way, *size; /* of a graph that is opened: --way and --size, or NULL */
  bool as_graph;          /* it runs as the graph of the file */
  bool noted;             /* whether the way has been said */
  heed_model *model;
  heed_model_info info;
  bool each_class;            /* heed_onnx_each_class of the graph that runs */
  heed_preprocess preprocess; /* for the size of cli_pipeline_size, with cli->prepare's changes */
  char assumed[1600];         /* info.assumed with the numbers of a preprocessing */
  const char *picture;        /* what sentences of cli_pipeline_run_image call it */
  bool bad_picture;           /* it failed for the image's sake */
  heed_build_desc build;
  const char *const *tap_names;          /* borrowed; [tap_count] */
  struct cli_weight_names *weight_names; /* of cli_pipeline_tap_weights, or NULL */
  uint32_t tap_count;
  bool passing; /* taps are there between stages alone: cli_pipeline_run_stages */
  heed_value *taps;
  heed_graph *graph;
  /* Makes `graph` in the place of heed_model_build; the model may then be NULL. NULL = that. */
  heed_status (*build_graph)(cli_state *cli, struct cli_pipeline *pipeline);
  /* Sets tap_names by the graph, each time that there is a new one; NULL = they are set. */
  heed_status (*choose_taps)(cli_state *cli, struct cli_pipeline *pipeline, void *user);
  void *taps_user;
  struct heed_onnx_lowered *lowered; /* which then owns `graph` */
  heed_model *graph_model;           /* the graph as a model, beside that of its config; or NULL */
  heed_plan *plan;
  heed_session *session;
  /* run once more after a session's first run and keep that time: the first may compile kernels */
  bool timed;
  double milliseconds;
  /* Writes the graph's other inputs from `inputs` once there is a session; NULL = it has none. */
  heed_status (*write_inputs)(cli_state *cli, const struct cli_pipeline *pipeline,
                              const void *inputs);
  const void *inputs; /* borrowed */
} cli_pipeline;

/* --file NAME of a model folder, or of its folder onnx/: the path of that file, in `path`; the
 * model itself without it. */
const char *cli_model_file(const char *model, const char *file, char path[HEED_PATH_SIZE]);
#define CLI_FILE_OPTION(file)                                                                   \
  {                                                                                             \
    "--file", CLI_TEXT, &(file), "NAME",                                                        \
        "the weights to read of a folder with several, such as model_quantized.onnx (default: " \
        "the whole model's, unrounded)"                                                         \
  }
#define CLI_WEIGHTS_KEY_OPTION(cli)                                                          \
  {                                                                                          \
    "--weights-key", CLI_TEXT, &(cli)->weights_key, "KEY",                                   \
        "the entry of a PyTorch file with several copies of a model, such as state_dict_ema" \
  }
#define CLI_NAMES_OPTION(cli)                                                                    \
  {                                                                                              \
    "--names", CLI_TEXT, &(cli)->names, "FILE",                                                  \
        "what the model's tensors are called, as names.json (heed inspect MODEL --names prints " \
        "it)"                                                                                    \
  }
#define CLI_HINTS_OPTION(cli)                                                       \
  {                                                                                 \
    "--hints", CLI_TEXT, &(cli)->hints, "KEY=VALUE,...",                            \
        "what no file says of a model, such as heads=4,norm=after (docs/models.md)" \
  }
#define CLI_READING_OPTION(cli)                                                                 \
  {                                                                                             \
    "--most-reading", CLI_LARGE, &(cli)->most_reading, "BYTES",                                 \
        "memory that reading a file of the model may take in all (default: 64 MiB and 8 times " \
        "the file)"                                                                             \
  }
/* What opens a model that its files do not describe, or a large one. */
#define CLI_WEIGHTS_OPTIONS(cli) \
  CLI_WEIGHTS_KEY_OPTION(cli), CLI_NAMES_OPTION(cli), CLI_HINTS_OPTION(cli), CLI_READING_OPTION(cli)
/* The files of a model, as --weights-key, --names and --hints say. */
heed_status cli_open_files(cli_state *cli, const char *path, heed_model_files **files);
/* Opens files and model; path NULL = the embedded one. An ONNX file of which no config.json names a
 * family is a graph, unless pipeline->way says otherwise; one with a config that heed cannot build
 * is one, too. An encoder-decoder is refused: heed run --tokens takes it. */
heed_status cli_pipeline_load(cli_state *cli, cli_pipeline *pipeline, const char *path);
/* The same for an encoder-decoder alone; and for a model of either kind. */
heed_status cli_pipeline_load_sequence(cli_state *cli, cli_pipeline *pipeline, const char *path);
heed_status cli_pipeline_load_any(cli_state *cli, cli_pipeline *pipeline, const char *path);
/* Whether a picture can be the model's whole input. Statuses: those of heed_model_prepares;
 * UNSUPPORTED of a model of videos. */
heed_status cli_pipeline_check_images(cli_state *cli, const cli_pipeline *pipeline);
/* The same, and whether all layers have one grid. Statuses: UNSUPPORTED. */
heed_status cli_pipeline_check_grid(cli_state *cli, const cli_pipeline *pipeline);
/* HEIGHT,WIDTH of --size; NULL leaves both. Statuses: INVALID_ARGUMENT. */
heed_status cli_read_size(cli_state *cli, const char *size, uint32_t *height, uint32_t *width);
/* --size HEIGHT,WIDTH, of images and pixel_values; NULL = the model's own. Then what cli->prepare
 * says of images. Statuses: INVALID_ARGUMENT, UNSUPPORTED. */
heed_status cli_pipeline_size(cli_state *cli, cli_pipeline *pipeline, const char *size);
/* Of an image as the model's configuration asks for it, where --size does not: no tensor backs such
 * a number. */
#define CLI_MOST_PATCHES 65536
/* Statuses: INVALID_FILE. */
heed_status cli_pipeline_check_patches(cli_state *cli, const cli_pipeline *pipeline, uint32_t most,
                                       uint32_t height, uint32_t width);
/* Limits of the images that are read, in heed_image_limits. */
#define CLI_IMAGE_OPTIONS(limits)                                          \
  {"--most-bytes", CLI_NUMBER, &(limits).bytes, "N",                       \
   "refuse image files of more bytes (default: 1073741824)"},              \
      {"--most-pixels", CLI_NUMBER, &(limits).pixels, "N",                 \
       "refuse images of more pixels (default: 268435456)"},               \
      {"--most-side", CLI_NUMBER, &(limits).side, "N",                     \
       "refuse images with a longer side (default: 1048576)"},             \
      {"--most-scans", CLI_NUMBER, &(limits).scans, "N",                   \
       "refuse JPEGs of more scans (default: 500)"},                       \
  {                                                                        \
    "--frame", CLI_NUMBER, &(limits).frame, "N",                           \
        "frame of an animated WebP or page of a TIFF, from 0 (default: 0)" \
  }
#define CLI_SIZE_OPTION(size)                                                           \
  {                                                                                     \
    "--size", CLI_TEXT, &(size), "HEIGHT,WIDTH",                                        \
        "size of the input in pixels, multiples of the patch; images keep their aspect" \
  }
/* All of these, of a verb that runs one model on many images. */
#define CLI_MODEL_OF_IMAGES_OPTIONS(cli, options)                                                 \
  CLI_IMAGE_OPTIONS((options).limits), CLI_FILE_OPTION((options).file), CLI_WEIGHTS_OPTIONS(cli), \
      CLI_SIZE_OPTION((options).size), CLI_PREPARE_OPTIONS(cli)
/* Graph and plan for pipeline->build and ->tap_names on the chosen backend; no session yet. */
heed_status cli_pipeline_plan(cli_state *cli, cli_pipeline *pipeline, cli_choice *choice);
/* Plan, session and run for these pixel_values, of a text tower input_ids. A second call with the
 * same build and taps reuses the session. */
heed_status cli_pipeline_run(cli_state *cli, cli_pipeline *pipeline, cli_choice *choice,
                             const void *data);
/* The same stage by stage, on the CPU: `see` is called after each. Statuses: also its own. */
typedef heed_status (*cli_pipeline_see)(cli_state *cli, const cli_pipeline *pipeline, void *user);
heed_status cli_pipeline_run_stages(cli_state *cli, cli_pipeline *pipeline, cli_choice *choice,
                                    const void *data, cli_pipeline_see see, void *user);
/* Taps every layer's attention weights: tap_names[layer]. */
heed_status cli_pipeline_tap_weights(cli_state *cli, cli_pipeline *pipeline);
/* Reads an image file, "-" of stdin, with as many channels as the model takes. A line on stderr
 * says which of several frames it is, unless quiet. Statuses: those of heed_image_load_within. */
heed_status cli_pipeline_load_image(cli_state *cli, const cli_pipeline *pipeline, const char *path,
                                    const heed_image_limits *limits, bool quiet,
                                    heed_picture *picture);
/* The same from bytes in memory, without the line. */
heed_status cli_pipeline_decode_image(cli_state *cli, const cli_pipeline *pipeline,
                                      const char *name, const void *bytes, size_t size,
                                      const heed_image_limits *limits, heed_picture *picture);
/* An image as the model takes it. */
typedef struct cli_prepared {
  float *pixels; /* pixel_values, to be freed */
  size_t room;   /* floats they have room for */
  uint32_t width, height;
  uint32_t part; /* of heed_picture, set by who decodes it */
  heed_region region;
} cli_prepared;
/* Fits the image as `preprocess` says; `name` is what sentences call it. `prepared` is {0}, or has
 * the room of an image before this one. An image that cannot be
 * fitted, and one that is smaller than a patch then, is a bad file as one that cannot be decoded.
 * most_patches: as of cli_pipeline_check_patches; 0 = do not check. Statuses: INVALID_FILE,
 * OUT_OF_MEMORY. */
heed_status cli_pipeline_prepare(cli_state *cli, const cli_pipeline *pipeline,
                                 const heed_preprocess *preprocess, const heed_image *image,
                                 const char *name, uint32_t most_patches, cli_prepared *prepared);
/* Fits the image as the model's preprocessing says and runs the model on it. An image of another
 * size than that before makes a new session. `picture` and most_patches are as of
 * cli_pipeline_prepare, whose failure sets bad_picture. Statuses: INVALID_FILE, OUT_OF_MEMORY,
 * those of a run. */
heed_status cli_pipeline_run_image(cli_state *cli, cli_pipeline *pipeline, cli_choice *choice,
                                   const heed_image *image, uint32_t most_patches);
/* The shape of a value of the graph by name; false when there is none. */
bool cli_pipeline_find(const cli_pipeline *pipeline, const char *name, heed_value *value,
                       heed_value_info *info);
/* A whole value as malloc'ed floats. */
heed_status cli_pipeline_read(cli_state *cli, const cli_pipeline *pipeline, const char *name,
                              float **data, heed_shape *shape);
/* Drops session, plan and graph; the model stays. */
void cli_pipeline_reset(cli_pipeline *pipeline);
void cli_pipeline_close(cli_pipeline *pipeline);

#endif
