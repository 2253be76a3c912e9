/* A .safetensors file that is read piece by piece. */
#ifndef HEED_CLI_TENSOR_FILE_H
#define HEED_CLI_TENSOR_FILE_H

#include "cli/cli.h"
#include "files/regular.h"

/* Stays in its place until cli_tensor_file_close (of one that never opened too, when it was
 * {0}). */
typedef struct cli_tensor_file {
  heed_regular regular;
  struct heed_safetensors *tensors; /* NULL: not open */
} cli_tensor_file;

/* `expected` ends the sentence about files of other kinds. Statuses: IO, INVALID_FILE, UNSUPPORTED,
 * OUT_OF_MEMORY. */
heed_status cli_tensor_file_open(cli_state *cli, const char *path, const char *expected,
                                 cli_tensor_file *file);
void cli_tensor_file_close(cli_tensor_file *file);

#endif
