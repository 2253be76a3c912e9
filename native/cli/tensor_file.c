/* A .safetensors file that is read piece by piece. */
#include "cli/tensor_file.h"

#include "model/safetensors.h"

heed_status cli_tensor_file_open(cli_state *cli, const char *path, const char *expected,
                                 cli_tensor_file *file) {
  heed_source source = {0, NULL, heed_regular_read, &file->regular};
  CLI_TRY(heed_regular_open(&file->regular, path, &source.size, &cli->error));
  heed_status status = heed_regular_check_kind(&file->regular, source.size, expected, &cli->error);
  if (status == HEED_OK)
    status = heed_safetensors_open(cli->context, &source, path, &file->tensors, &cli->error);
  if (status != HEED_OK) heed_regular_close(&file->regular);
  return status;
}

void cli_tensor_file_close(cli_tensor_file *file) {
  if (!file->tensors) return;
  heed_safetensors_destroy(file->tensors);
  heed_regular_close(&file->regular);
  file->tensors = NULL;
}
