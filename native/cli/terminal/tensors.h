/* A list of named tensors to be saved as one file, .safetensors, .npz or .npy by its ending. */
#ifndef HEED_CLI_TERMINAL_TENSORS_H
#define HEED_CLI_TERMINAL_TENSORS_H

#include "cli.h"
#include "heed/native.h"

typedef struct cli_tensor {
  char name[64];
  heed_dtype dtype;
  heed_shape shape;
  const void *data;
  void *owned; /* the same, or NULL where it is lent */
} cli_tensor;

typedef struct cli_tensors {
  cli_tensor *tensor;
  size_t count, capacity;
} cli_tensors;

/* Copies the data in. */
heed_status cli_tensors_add(cli_tensors *tensors, const char *name, heed_dtype dtype,
                            const heed_shape *shape, const void *data, heed_error *error);
/* Borrows the data, until the list is cleared. */
heed_status cli_tensors_lend(cli_tensors *tensors, const char *name, heed_dtype dtype,
                             const heed_shape *shape, const void *data, heed_error *error);
/* The same for malloc'ed data, which it takes (also on failure). */
heed_status cli_tensors_take(cli_tensors *tensors, const char *name, heed_dtype dtype,
                             const heed_shape *shape, void *data, heed_error *error);
/* As cli_output_write; the metadata has heed's version, then `count` pairs. Statuses: those of
 * heed_tensor_file_write. */
heed_status cli_tensors_save(cli_state *cli, const cli_tensors *tensors,
                             const heed_metadata_entry *metadata, uint32_t count, const char *path);
void cli_tensors_clear(cli_tensors *tensors);

#endif
