/* The files that a survey writes beside its own: JSON, a page, tensors. */
#ifndef HEED_CLI_SURVEY_OUTPUTS_H
#define HEED_CLI_SURVEY_OUTPUTS_H

#include "examples.h"
#include "results.h"
#include "terminal/paths.h"

typedef struct survey_outputs {
  const char *json, *report, *save; /* each may be NULL */
  const char *embeddings;           /* a folder, or NULL; survey_write_embeddings writes it */
  const char *by;                   /* a statistic; NULL: SURVEY_BY */
  uint32_t typical;                 /* pictures of each kind for each head */
} survey_outputs;

#define SURVEY_BY "entropy_patches"
#define SURVEY_OUTPUTS_INIT \
  { .typical = 3 }
#define SURVEY_OUTPUT_OPTIONS(outputs)                                                          \
  {"--json", CLI_JSON, &(outputs).json, "OUT.json|-",                                           \
   "write mean, spread, range, quantiles and mean maps of every head"},                         \
      {"--report", CLI_FILE, &(outputs).report, "OUT.html",                                     \
       "write a page with plots, mean maps and typical images, which needs no other file"},     \
      {"--save", CLI_FILE, &(outputs).save, "OUT.safetensors",                                  \
       "write means and histograms as tensors, by the ending also .npz"},                       \
      {"--embeddings", CLI_TEXT, &(outputs).embeddings, "FOLDER",                               \
       "keep the embedding of each image (as of heed embed), and write them as .npy with ids"}, \
      {"--typical", CLI_NUMBER, &(outputs).typical, "N",                                        \
       "images nearest to a head's mean, and farthest, that files name (default: 3, to 32)"},   \
  {                                                                                             \
    "--by", CLI_TEXT, &(outputs).by, "STATISTIC",                                               \
        "what they are chosen by, as JSON names it (default: " SURVEY_BY ")"                    \
  }

/* Statuses: INVALID_ARGUMENT. */
heed_status survey_outputs_check(cli_state *cli, const survey_outputs *outputs, size_t *statistic);
heed_status survey_outputs_add_paths(cli_state *cli, const survey_outputs *outputs,
                                     cli_paths *paths);
/* Writes those that are asked for, and prints their names. pictures->facts and ->shape are set
 * here. Statuses: those of files and of survey_examples_make. */
heed_status survey_outputs_write(cli_state *cli, const survey_outputs *outputs,
                                 const survey_results *results, survey_examples_desc pictures);

#endif
