/* A list of named tensors to be saved as one file. */
#include "tensors.h"

#include <stdlib.h>
#include <string.h>

#include "standard_out.h"

heed_status cli_tensors_lend(cli_tensors *tensors, const char *name, heed_dtype dtype,
                             const heed_shape *shape, const void *data, heed_error *error) {
  if (tensors->count == tensors->capacity) {
    const size_t capacity = tensors->capacity ? 2 * tensors->capacity : 16;
    cli_tensor *grown = realloc(tensors->tensor, capacity * sizeof *grown);
    if (!grown) return heed_fail_memory(error, name, capacity * sizeof *grown);
    tensors->tensor = grown;
    tensors->capacity = capacity;
  }
  cli_tensor *tensor = &tensors->tensor[tensors->count++];
  *tensor = (cli_tensor){"", dtype, *shape, data, NULL};
  snprintf(tensor->name, sizeof tensor->name, "%s", name);
  return HEED_OK;
}

heed_status cli_tensors_take(cli_tensors *tensors, const char *name, heed_dtype dtype,
                             const heed_shape *shape, void *data, heed_error *error) {
  const heed_status status = cli_tensors_lend(tensors, name, dtype, shape, data, error);
  if (status == HEED_OK)
    tensors->tensor[tensors->count - 1].owned = data;
  else
    free(data);
  return status;
}

heed_status cli_tensors_add(cli_tensors *tensors, const char *name, heed_dtype dtype,
                            const heed_shape *shape, const void *data, heed_error *error) {
  size_t bytes;
  void *copy = heed_shape_bytes(shape, dtype, &bytes) ? malloc(bytes + 1) : NULL;
  if (!copy) return heed_fail_memory(error, name, bytes);
  memcpy(copy, data, bytes);
  return cli_tensors_take(tensors, name, dtype, shape, copy, error);
}

typedef struct saving {
  heed_context *context;
  const char *path;
  const heed_tensor_data *data;
  const heed_metadata_entry *entries;
  uint32_t count, entry_count;
} saving;

static heed_status save(void *user, FILE *to, heed_error *error) {
  const saving *as = user;
  return heed_tensor_file_put(as->context, to, as->path, as->data, as->count, as->entries,
                              as->entry_count, error);
}

heed_status cli_tensors_save(cli_state *cli, const cli_tensors *tensors,
                             const heed_metadata_entry *metadata, uint32_t count,
                             const char *path) {
  heed_tensor_data *data = calloc(tensors->count + 1, sizeof *data);
  heed_metadata_entry *entries = calloc((size_t)count + 1, sizeof *entries);
  heed_status status = HEED_OK;
  if (data && entries) {
    for (size_t i = 0; i < tensors->count; i++)
      data[i] = (heed_tensor_data){tensors->tensor[i].name, tensors->tensor[i].dtype,
                                   tensors->tensor[i].shape, tensors->tensor[i].data};
    entries[0] = (heed_metadata_entry){"heed", heed_version()};
    for (uint32_t i = 0; i < count; i++) entries[i + 1] = metadata[i];
    saving as = {cli->context, path, data, entries, (uint32_t)tensors->count, count + 1};
    status = cli_output_write(path, save, &as, &cli->error);
  } else {
    status = heed_fail_memory(&cli->error, path, tensors->count * sizeof *data);
  }
  free(data);
  free(entries);
  return status;
}

void cli_tensors_clear(cli_tensors *tensors) {
  for (size_t i = 0; i < tensors->count; i++) free(tensors->tensor[i].owned);
  free(tensors->tensor);
  *tensors = (cli_tensors){0};
}
