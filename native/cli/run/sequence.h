/* heed run with --tokens or --features: a source through an encoder-decoder; the decoded tokens,
 * logits and attention out. */
#ifndef HEED_CLI_RUN_SEQUENCE_H
#define HEED_CLI_RUN_SEQUENCE_H

#include "session/backend_selection.h"

typedef struct sequence_options {
  cli_choice *choice;
  const char *tokens;   /* "5,3,9", or NULL and */
  const char *features; /* a safetensors file with the tensor source [S, F], as `save` writes one */
  uint32_t length;      /* most tokens to decode; 0: the model's max_length */
  const char *json, *save;
} sequence_options;

heed_status sequence_run(cli_state *cli, const sequence_options *options, const char *model);

#endif
