/* Models that are only a shape: ViT-Ti, S, B and L at 224 px with pseudo-random weights made while
 * they are read, for benchmarks. */
#ifndef HEED_CLI_SESSION_SYNTHETIC_H
#define HEED_CLI_SESSION_SYNTHETIC_H

#include "pipeline.h"

typedef struct cli_synthetic {
  char config[512];
  char *header; /* length and JSON of the safetensors file; malloc'ed */
  uint64_t header_size;
} cli_synthetic;

/* name: "ti", "s", "b" or "l" (any case). Fills the two files, which then borrow `synthetic`.
 * Statuses: INVALID_ARGUMENT, OUT_OF_MEMORY. */
heed_status cli_synthetic_open(cli_state *cli, const char *name, cli_synthetic *synthetic,
                               heed_model_file files[2]);
/* The same as the model of a pipeline, which then borrows `synthetic` too. */
heed_status cli_synthetic_load(cli_state *cli, const char *name, cli_synthetic *synthetic,
                               cli_pipeline *pipeline);
void cli_synthetic_close(cli_synthetic *synthetic);

#endif
