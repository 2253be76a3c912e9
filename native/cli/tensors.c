/* A list of named tensors to be saved as one safetensors file. */
#include "cli/tensors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "files/output.h"

heed_status cli_tensors_take(cli_tensors *tensors, const char *name, heed_dtype dtype,
                             const heed_shape *shape, void *data, heed_error *error) {
  if (tensors->count == tensors->capacity) {
    const size_t capacity = tensors->capacity ? 2 * tensors->capacity : 16;
    cli_tensor *grown = realloc(tensors->tensor, capacity * sizeof *grown);
    if (!grown) {
      free(data);
      return heed_fail_memory(error, name, capacity * sizeof *grown);
    }
    tensors->tensor = grown;
    tensors->capacity = capacity;
  }
  cli_tensor *tensor = &tensors->tensor[tensors->count++];
  *tensor = (cli_tensor){"", dtype, *shape, data};
  snprintf(tensor->name, sizeof tensor->name, "%s", name);
  return HEED_OK;
}

heed_status cli_tensors_add(cli_tensors *tensors, const char *name, heed_dtype dtype,
                            const heed_shape *shape, const void *data, heed_error *error) {
  size_t bytes;
  void *copy = heed_shape_bytes(shape, dtype, &bytes) ? malloc(bytes + 1) : NULL;
  if (!copy) return heed_fail_memory(error, name, bytes);
  memcpy(copy, data, bytes);
  return cli_tensors_take(tensors, name, dtype, shape, copy, error);
}

static heed_status write_part(void *user, const void *bytes, size_t count, heed_error *error) {
  const heed_file_write *write = user;
  if (fwrite(bytes, 1, count, write->file) == count) return HEED_OK;
  return heed_fail(error, heed_status_of_errno(errno), "%s: cannot write (%s)", write->shown,
                   strerror(errno));
}

heed_status cli_tensors_save(cli_state *cli, const cli_tensors *tensors,
                             const heed_safetensors_pair *metadata, uint32_t count,
                             const char *path) {
  heed_safetensors_item *items = calloc(tensors->count + 1, sizeof *items);
  heed_safetensors_pair *pairs = calloc((size_t)count + 1, sizeof *pairs);
  if (!items || !pairs) {
    free(items);
    free(pairs);
    return heed_fail_memory(&cli->error, path, tensors->count * sizeof *items);
  }
  for (size_t i = 0; i < tensors->count; i++)
    items[i] = (heed_safetensors_item){tensors->tensor[i].name, tensors->tensor[i].dtype,
                                       tensors->tensor[i].shape, tensors->tensor[i].data};
  pairs[0] = (heed_safetensors_pair){"heed", heed_version()};
  for (uint32_t i = 0; i < count; i++) pairs[i + 1] = metadata[i];
  heed_file_write write;
  heed_status status = heed_file_write_begin(&write, path, &cli->error);
  if (status == HEED_OK) {
    status = heed_safetensors_write(cli->context, items, (uint32_t)tensors->count, pairs, count + 1,
                                    write_part, &write, &cli->error);
    if (status == HEED_OK)
      status = heed_file_write_commit(&write, &cli->error);
    else
      heed_file_write_abort(&write);
  }
  free(items);
  free(pairs);
  return status;
}

void cli_tensors_clear(cli_tensors *tensors) {
  for (size_t i = 0; i < tensors->count; i++) free(tensors->tensor[i].data);
  free(tensors->tensor);
  *tensors = (cli_tensors){0};
}
