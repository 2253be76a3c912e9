/* heed run over several pictures, two in flight at a time. Errors are not told here: what fails
 * runs again by itself, and then says why. */
#include "picture_stream.h"

#include <stdlib.h>
#include <string.h>

#define IN_FLIGHT 2
_Static_assert(PICTURE_SLOTS > IN_FLIGHT, "one more is prepared beside those in flight");

static bool make_lists(picture_stream *stream) {
  const cli_pipeline *pipeline = stream->pipeline;
  if (!stream->outputs) {
    stream->outputs = calloc((size_t)pipeline->tap_count + 1, sizeof *stream->outputs);
    stream->to = calloc((size_t)pipeline->tap_count + 1, sizeof *stream->to);
  }
  if (!stream->outputs || !stream->to) return false;
  stream->output_count = 0;
  if (pipeline->info.classes)
    stream->outputs[stream->output_count++] = heed_graph_find(pipeline->graph, "logits");
  for (uint32_t i = 0; i < pipeline->tap_count; i++)
    stream->outputs[stream->output_count++] = pipeline->taps[i];
  return true;
}

static bool open_stream(picture_stream *stream) {
  if (stream->stream) return true;
  const heed_value input = heed_graph_find(stream->pipeline->graph, "pixel_values");
  heed_error error;
  if (!make_lists(stream)) return false;
  const heed_stream_desc desc = {sizeof desc, IN_FLIGHT,       &input,
                                 1,           stream->outputs, stream->output_count};
  return heed_stream_create(stream->pipeline->session, &desc, &stream->stream, &error) == HEED_OK;
}

static bool make_room(const cli_pipeline *pipeline, run_result *result, void **to) {
  const heed_model_info *info = &pipeline->info;
  uint32_t count = 0;
  cli_state ignored = {0};
  if (info->classes) result->logits = malloc(info->classes * sizeof *result->logits);
  if (run_make_maps(&ignored, info->layers, result) != HEED_OK) return false;
  if (info->classes) to[count++] = result->logits;
  for (uint32_t i = result->first_kept; i < result->first_kept + result->kept; i++)
    if (!(to[count++] = run_copy_map(result, i, info->heads))) return false;
  return !info->classes || result->logits;
}

static void free_room(run_result *result) {
  free(result->logits);
  run_free_maps(result);
  result->logits = NULL;
}

static void collect(picture_stream *stream) {
  heed_error error;
  run_result *result = &stream->results[stream->collected % PICTURE_SLOTS];
  if (!make_room(stream->pipeline, result, stream->to) ||
      heed_stream_collect(stream->stream, stream->to, &error) != HEED_OK) {
    free_room(result);
    stream->broken = true;
    return;
  }
  result->milliseconds = stream->pipeline->milliseconds;
  stream->collected++;
}

bool picture_stream_takes(picture_stream *stream, const cli_choice *choice, uint32_t index) {
  const cli_pipeline *pipeline = stream->pipeline;
  const run_result *result = &stream->results[index % PICTURE_SLOTS];
  if (stream->broken || !pipeline->session ||
      strcmp(heed_backend_name(choice->opened), "vulkan") != 0)
    return false;
  if (pipeline->build.height != result->batch_height ||
      pipeline->build.width != result->batch_width)
    return false;
  if (!stream->stream) stream->submitted = stream->collected;
  heed_error error;
  if (!open_stream(stream)) stream->broken = true;
  if (!stream->broken && stream->submitted - stream->collected == IN_FLIGHT) collect(stream);
  if (!stream->broken)
    stream->broken = heed_stream_submit(stream->stream, (const void *const[]){result->pixels},
                                        &error) != HEED_OK;
  if (!stream->broken) stream->submitted++;
  return !stream->broken;
}

void picture_stream_finish(picture_stream *stream) {
  while (stream->stream && !stream->broken && stream->collected < stream->submitted)
    collect(stream);
  heed_stream_destroy(stream->stream);
  stream->stream = NULL;
}

void picture_stream_close(picture_stream *stream) {
  heed_stream_destroy(stream->stream);
  free(stream->outputs);
  free(stream->to);
  *stream = (picture_stream){.pipeline = stream->pipeline};
}
