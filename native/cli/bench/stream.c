/* Every item has the same inputs: zeros. */
#include "stream.h"

#include <stdlib.h>
#include <string.h>

#include "session/profile.h"

typedef struct lists {
  heed_value *inputs, *outputs;
  void **from, **to; /* memory of each */
  uint32_t input_count, output_count;
} lists;

static heed_status add(cli_state *cli, lists *l, const heed_graph *graph, uint32_t id) {
  heed_value_info info;
  if (heed_graph_value_info(graph, (heed_value){id}, &info) != HEED_OK)
    return heed_fail(&cli->error, HEED_INTERNAL, "stream: unknown value (found id %u)", id);
  if (!info.is_input && (!info.is_output || info.is_constant)) return HEED_OK;
  const size_t bytes = (size_t)heed_shape_count(&info.shape) * heed_dtype_size(info.dtype);
  void *memory = calloc(bytes ? bytes : 1, 1);
  if (!memory) return heed_fail_memory(&cli->error, "stream", bytes);
  uint32_t *count = info.is_input ? &l->input_count : &l->output_count;
  (info.is_input ? l->inputs : l->outputs)[*count] = (heed_value){id};
  (info.is_input ? l->from : l->to)[(*count)++] = memory;
  return HEED_OK;
}

static heed_status make_lists(cli_state *cli, lists *l, const heed_graph *graph) {
  const size_t count = (size_t)heed_graph_value_count(graph) + 1;
  l->inputs = calloc(count, sizeof *l->inputs);
  l->outputs = calloc(count, sizeof *l->outputs);
  l->from = calloc(count, sizeof *l->from);
  l->to = calloc(count, sizeof *l->to);
  if (!l->inputs || !l->outputs || !l->from || !l->to)
    return heed_fail_memory(&cli->error, "stream", count * sizeof *l->from);
  for (uint32_t id = 1; id < count; id++) CLI_TRY(add(cli, l, graph, id));
  return HEED_OK;
}

static void release(lists *l) {
  for (uint32_t i = 0; i < l->input_count; i++) free(l->from[i]);
  for (uint32_t i = 0; i < l->output_count; i++) free(l->to[i]);
  free(l->inputs);
  free(l->outputs);
  free(l->from);
  free(l->to);
}

static heed_status run(cli_state *cli, heed_stream *stream, const lists *l, uint32_t runs,
                       uint32_t in_flight) {
  for (uint32_t i = 0; i < runs + in_flight; i++) {
    if (i >= in_flight && i - in_flight < runs)
      CLI_TRY(heed_stream_collect(stream, l->to, &cli->error));
    if (i < runs) CLI_TRY(heed_stream_submit(stream, (const void *const *)l->from, &cli->error));
  }
  return HEED_OK;
}

heed_status cli_stream_time(cli_state *cli, heed_session *session, uint32_t runs,
                            uint32_t in_flight, double *milliseconds) {
  lists l = {0};
  heed_stream *stream = NULL;
  heed_status status = make_lists(cli, &l, heed_session_graph(session));
  const heed_stream_desc desc = {sizeof desc,   in_flight, l.inputs,
                                 l.input_count, l.outputs, l.output_count};
  if (status == HEED_OK) status = heed_stream_create(session, &desc, &stream, &cli->error);
  if (status == HEED_OK) status = run(cli, stream, &l, 1, in_flight); /* warm */
  const double start = cli_milliseconds();
  if (status == HEED_OK) status = run(cli, stream, &l, runs, in_flight);
  *milliseconds = (cli_milliseconds() - start) / runs;
  heed_stream_destroy(stream);
  release(&l);
  return status;
}
