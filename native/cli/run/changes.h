/* What heed run changes in a model's attention: --ablate, --replace, --gain, --drop, --cut,
 * --temperature. What they mean is heed_changes in heed.h. */
#ifndef HEED_CLI_RUN_CHANGES_H
#define HEED_CLI_RUN_CHANGES_H

#include "session/pipeline.h"
#include "terminal/json_out.h"

/* Option values; NULL = as it is. */
typedef struct cli_changes {
  const char *ablate, *replace, *replace_from, *gain, *drop, *cut, *temperature;
} cli_changes;

#define CLI_CHANGES_OPTIONS(changes)                                                             \
  {"--ablate", CLI_TEXT, &(changes).ablate, "L.H[,L.H...]", "ablate these heads"},               \
      {"--replace", CLI_TEXT, &(changes).replace, "zero|mean|uniform",                           \
       "output of ablated heads: zero, mean over tokens, or uniform attention (default: zero)"}, \
      {"--replace-from", CLI_TEXT, &(changes).replace_from, "IMAGE|FOLDER",                      \
       "ablated heads output what they give on this image, or on average on those of a folder"}, \
      {"--gain", CLI_TEXT, &(changes).gain, "L.H=FACTOR[,...]",                                  \
       "scale these heads' outputs by FACTOR before the projection"},                            \
      {"--drop", CLI_TEXT, &(changes).drop, "ROW,COL[;...]", "mask these patches as keys"},      \
      {"--cut", CLI_TEXT, &(changes).cut, "Q.K[,Q.K...]",                                        \
       "block query Q from attending to key K (0 = CLS, then registers, then patches in raster " \
       "order)"},                                                                                \
  {                                                                                              \
    "--temperature", CLI_TEXT, &(changes).temperature, "T",                                      \
        "divide attention scores by T (default: 1)"                                              \
  }

/* Whether an option is given. */
bool cli_changes_any(const cli_changes *changes);

/* The changes of one grid of patches; `changes` is NULL where nothing is changed. */
typedef struct cli_change_inputs {
  uint32_t layers, heads, rows, columns, tokens;
  bool mean;      /* the heads that are out want their means over tokens, */
  bool resampled; /* or what they give on other images */
  heed_empty_row empty_row;
  float temperature;
  heed_changes *changes;
} cli_change_inputs;

/* Reads the options for a grid of rows x columns patches. Statuses: INVALID_ARGUMENT,
 * OUT_OF_MEMORY. */
heed_status cli_changes_read(cli_state *cli, const cli_changes *changes,
                             const heed_model_info *info, uint32_t rows, uint32_t columns,
                             cli_change_inputs *inputs);
bool cli_change_inputs_any(const cli_change_inputs *inputs);
/* Runs the model as it is and hands over what the heads of each layer give, output [T, C]; leaves
 * the pipeline without a session. */
typedef heed_status (*cli_take_heads)(cli_change_inputs *inputs, uint32_t layer,
                                      const float *output, void *user, heed_error *error);
heed_status cli_change_inputs_run(cli_state *cli, cli_pipeline *pipeline, cli_choice *choice,
                                  const float *pixel_values, cli_change_inputs *inputs,
                                  cli_take_heads take, void *user);
/* The same for the means that `inputs` wants. */
heed_status cli_change_inputs_means(cli_state *cli, cli_pipeline *pipeline, cli_choice *choice,
                                    const float *pixel_values, cli_change_inputs *inputs);
/* Makes the pipeline's runs those of the changed model: its build, and the inputs before each run.
 * Borrows `inputs`. */
void cli_change_inputs_use(cli_pipeline *pipeline, cli_change_inputs *inputs);
void cli_change_inputs_free(cli_change_inputs *inputs);

/* The options as they were given, "--ablate 3.0 --drop 2,10", for a file's metadata; "" where there
 * are none. malloc'ed, NULL without memory. */
char *cli_changes_text(const cli_changes *changes);
/* The same as a line of output. */
void cli_changes_print(const cli_changes *changes, FILE *to);
/* The object "changes" of option values, where there are some. */
void cli_changes_json(const cli_changes *changes, json_out *json);

#endif
