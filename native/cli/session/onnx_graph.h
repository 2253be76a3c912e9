/* heed eval of an ONNX file as the graph that it is. */
#ifndef HEED_CLI_SESSION_ONNX_GRAPH_H
#define HEED_CLI_SESSION_ONNX_GRAPH_H

#include "backend_selection.h"
#include "heed/native.h"
#include "terminal/cli.h"

/* --way, an option of the verbs that take ONNX files. */
#define CLI_WAY_OPTION(way)                                                                      \
  {                                                                                              \
    "--way", CLI_TEXT, &(way), "weights|graph|reference",                                        \
        "of an ONNX file: its weights in heed's own graph, its graph on heed's kernels, or its " \
        "graph in double (default: weights where config.json names a family, else graph)"        \
  }

/* The same of those that run models. */
#define CLI_MODEL_WAY_OPTION(way)                                                           \
  {                                                                                         \
    "--way", CLI_TEXT, &(way), "weights|graph",                                             \
        "of an ONNX file: its weights in heed's own graph, or its graph on heed's kernels " \
        "(default: weights where config.json names a family, else graph)"                   \
  }

/* Limits of graphs, beside --way: docs/limits.md. */
#define CLI_GRAPH_OPTIONS(cli)                                                                   \
  {"--most-elements", CLI_LARGE, &(cli)->most_elements, "N",                                     \
   "of an ONNX graph: elements of values that are alive together (default: by the file and its " \
   "inputs)"},                                                                                   \
  {                                                                                              \
    "--most-steps", CLI_LARGE, &(cli)->most_steps, "N",                                          \
        "of an ONNX graph: elements and multiply-adds of a run (default: by the file and its "   \
        "inputs)"                                                                                \
  }

struct cli_pipeline;

typedef struct cli_onnx {
  const char *way; /* --way, or NULL = weights where config.json names a family, else graph */
  const char *model, *in, *out;
  bool attentions, quiet;
  cli_choice *choice; /* of the kernels */
} cli_onnx;

/* Whether this model runs as a graph. A model that is no ONNX file does not. Statuses:
 * INVALID_ARGUMENT (an unknown way), OUT_OF_MEMORY, those of heed_model_files_open and sources. */
heed_status cli_onnx_is_graph(cli_state *cli, const cli_onnx *job, bool *is_graph);
/* Lets a pipeline that is loaded build the graph where `way` says so; model: for the sentence;
 * draws: pictures go in, and maps are looked at.
 * Statuses: INVALID_ARGUMENT (an unknown way, or a model that is no ONNX file). */
heed_status cli_onnx_choose(cli_state *cli, const char *way, const char *model, bool draws,
                            struct cli_pipeline *pipeline);
/* The graph of pipeline->files on heed's ops, for pipeline->build, as pipeline->graph. Where there
 * is a model, input, classes and attentions get the names that they have in its own graph.
 * Statuses: UNSUPPORTED (what has no kernel, options that only the model's own graph has; a graph
 * without the model's attentions), those of heed_onnx_lower. */
heed_status cli_onnx_build(cli_state *cli, struct cli_pipeline *pipeline);
/* What heed makes of the graph, on stdout: its attentions, what was folded, heed's ops, and ops
 * that it has not. pipeline->lowered may be NULL: then `why` says why there is none. */
void cli_onnx_report(const struct cli_pipeline *pipeline, const char *why);
/* Evaluates it and writes the outputs, by their names in the graph. */
heed_status cli_onnx_eval(cli_state *cli, const cli_onnx *job);

#endif
