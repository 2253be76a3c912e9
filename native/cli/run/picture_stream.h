/* heed run over several pictures: after the first of a size the others follow as a stream on its
 * session. */
#ifndef HEED_CLI_RUN_PICTURE_STREAM_H
#define HEED_CLI_RUN_PICTURE_STREAM_H

#include "parts.h"

/* Pictures that are not written yet, at most; a ring. */
#define PICTURE_SLOTS 4

typedef struct picture_stream {
  const cli_pipeline *pipeline;
  run_result *results; /* [PICTURE_SLOTS] */
  heed_stream *stream; /* NULL: none is open */
  heed_value *outputs; /* logits, where there are classes, and the taps */
  void **to;           /* where those of a picture go */
  uint32_t output_count;
  uint32_t submitted, collected; /* pictures whose run was started; that have their results */
  bool broken;                   /* something went wrong: nothing is submitted any more */
} picture_stream;

/* Submits a prepared picture if those before it ran on a session of its size, on a backend that
 * keeps runs in flight; collects the oldest to make room. false: it was not taken. */
bool picture_stream_takes(picture_stream *stream, const cli_choice *choice, uint32_t index);
/* Collects what is in flight and ends the stream. What failed is not counted as collected. */
void picture_stream_finish(picture_stream *stream);
/* Ends it and frees its lists. */
void picture_stream_close(picture_stream *stream);

#endif
