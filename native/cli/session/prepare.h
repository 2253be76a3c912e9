/* Options that replace parts of a model's preprocessing, of every verb that takes images. */
#ifndef HEED_CLI_SESSION_PREPARE_H
#define HEED_CLI_SESSION_PREPARE_H

#include "terminal/options.h"

/* They are kept in cli->prepare; cli_pipeline_size follows them. */
#define CLI_PREPARE_OPTIONS(cli)                                                                 \
  {"--mean", CLI_TEXT, &(cli)->prepare.mean, "M,...",                                            \
   "means that are subtracted from pixels of 0 to 1, for each channel or one for all (default: " \
   "the model's)"},                                                                              \
      {"--std", CLI_TEXT, &(cli)->prepare.std, "S,...",                                          \
       "deviations by which they are then divided (default: the model's)"},                      \
      {"--resample", CLI_TEXT, &(cli)->prepare.resample,                                         \
       "nearest|lanczos|bilinear|bicubic|box|hamming",                                           \
       "Pillow's filter that resizes images (default: the model's)"},                            \
      {"--crop", CLI_TEXT, &(cli)->prepare.crop, "SHARE|none",                                   \
       "the share of a resized image's sides that its centre crop keeps, as timm's crop_pct; "   \
       "none: the whole image, its aspect not kept (default: the model's)"},                     \
      {"--interpolation-grid", CLI_TEXT, &(cli)->interpolation_grid,                             \
       "exact|offset|antialiased|corners|linear|linear_corners|cut|smooth|nearest",              \
       "how position embeddings are resized for another --size, of docs/models.md (default: "    \
       "the model's)"},                                                                          \
  {                                                                                              \
    "--rescale", CLI_TEXT, &(cli)->prepare.rescale, "FACTOR",                                    \
        "factor that makes pixels of 8 bits numbers of 0 to 1 (default: the model's)"            \
  }
/* Whether one of them was given. */
bool cli_prepare_given(const cli_state *cli);
/* Changes preprocess as they say. Statuses: INVALID_ARGUMENT. */
heed_status cli_prepare_change(cli_state *cli, heed_preprocess *preprocess);
/* The line for a model in whose `assumed` stands a preprocessing: its numbers and how to set
 * them. */
void cli_prepare_describe(const cli_state *cli, const heed_preprocess *preprocess,
                          const char *assumed, char *text, size_t size);

#endif
