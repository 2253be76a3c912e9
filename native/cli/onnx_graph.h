/* heed eval of an ONNX file as the graph that it is. */
#ifndef HEED_CLI_ONNX_GRAPH_H
#define HEED_CLI_ONNX_GRAPH_H

#include "cli.h"
#include "heed/native.h"

typedef struct cli_onnx {
  const char
      *way; /* --way: "weights", "graph", or NULL = weights where config.json names a family */
  const char *model, *in, *out;
  bool attentions, quiet;
} cli_onnx;

/* Whether this model runs as a graph. A model that is no ONNX file does not; a file that cannot be
 * opened is for the caller to report. Statuses: INVALID_ARGUMENT (an unknown way). */
heed_status cli_onnx_is_graph(cli_state *cli, const cli_onnx *job, bool *is_graph);
/* What heed makes of the graph: its attentions, and the ops that it has not; on stdout. False where
 * the model is no ONNX file, or heed's own builder takes it. */
bool cli_onnx_inspect(cli_state *cli, const char *model);
/* Evaluates it and writes the outputs, by their names in the graph. */
heed_status cli_onnx_eval(cli_state *cli, const cli_onnx *job);

#endif
