/* Files from disk: a whole small file, and a model folder as sources that are read piece by piece. */
#ifndef HEED_CLI_FILES_H
#define HEED_CLI_FILES_H

#include "cli/cli.h"

#define CLI_MAX_MODEL_FILES 512

typedef struct cli_open_file {
  int descriptor;
  char *path, *name;
} cli_open_file;

/* A model on disk or the embedded one. Must stay where it is while a model made from it lives. */
typedef struct cli_model_files {
  heed_model_file file[CLI_MAX_MODEL_FILES];
  cli_open_file open[CLI_MAX_MODEL_FILES];
  uint32_t count;
} cli_model_files;

/* Opens a Hugging Face style folder, or one weight file (with the config files beside it). What else was given is named, and how to go on.
 * Statuses: IO, INVALID_FILE, UNSUPPORTED, OUT_OF_MEMORY. */
heed_status cli_model_open(cli_state *cli, const char *path, cli_model_files *files);
typedef heed_status (*cli_each_file)(cli_state *cli, const char *folder, const char *name, void *user);
/* Calls `each` for the files that cli_model_open reads of a path. Statuses: IO, OUT_OF_MEMORY, those of `each`. */
heed_status cli_model_each_file(cli_state *cli, const char *path, cli_each_file each, void *user);
/* The model inside the binary. */
void cli_model_embedded(cli_model_files *files);
void cli_model_close(cli_model_files *files);

/* A whole file of at most `limit` bytes; free with free(). Statuses: IO, INVALID_FILE (longer), OUT_OF_MEMORY. */
heed_status cli_read_file(cli_state *cli, const char *path, uint64_t limit, unsigned char **bytes, size_t *size);

/* A .safetensors file that is read piece by piece, from its place in `file`, which must stay where it is until cli_tensor_file_close (of
 * one that never opened too, when it was {0}). `expected` ends the sentence about files of other kinds. Statuses: IO, INVALID_FILE,
 * UNSUPPORTED, OUT_OF_MEMORY. */
typedef struct cli_tensor_file {
  cli_open_file open;
  struct heed_safetensors *tensors;
} cli_tensor_file;

heed_status cli_tensor_file_open(cli_state *cli, const char *path, const char *expected, cli_tensor_file *file);
void cli_tensor_file_close(cli_tensor_file *file);

bool cli_is_directory(const char *path);
bool cli_ends_with(const char *text, const char *end);

#endif
