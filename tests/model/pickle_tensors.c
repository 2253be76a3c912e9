/* PyTorch's files from standard input, each after its length in four bytes: for each a length and
 * the tensors as a .safetensors file, or 0 where it is refused. For pickles_beside_torch.py. */
#include <stdio.h>
#include <stdlib.h>

#include "heed/pickle.h"
#include "support/test.h"
#include "support/weights.h"

static void put(const void *bytes, uint64_t size) {
  const uint32_t length = (uint32_t)size;
  fwrite(&length, sizeof length, 1, stdout);
  if (size) fwrite(bytes, 1, (size_t)size, stdout);
}

static bool write_tensors(heed_context *context, const unsigned char *bytes, size_t size) {
  const heed_source source = test_source(bytes, size);
  heed_pickle *file;
  heed_error error;
  const heed_status status = heed_pickle_open(context, &source, "case", &file, &error);
  if (status != HEED_OK) {
    put(NULL, 0);
    return status == HEED_INVALID_FILE || status == HEED_UNSUPPORTED;
  }
  const heed_source tensors = heed_pickle_source(file);
  unsigned char *all = malloc((size_t)tensors.size + 1);
  const bool read =
      all && tensors.read(tensors.user, 0, all, (size_t)tensors.size, &error) == HEED_OK;
  put(all, read ? tensors.size : 0);
  free(all);
  heed_pickle_destroy(file);
  return true;
}

int main(void) {
  heed_context *context;
  heed_error error;
  unsigned char length[4];
  if (heed_context_create(NULL, &context, &error) != HEED_OK) return 1;
  while (fread(length, 1, sizeof length, stdin) == sizeof length) {
    const size_t size = length[0] | (size_t)length[1] << 8 | (size_t)length[2] << 16;
    unsigned char *bytes = malloc(size ? size : 1); /* its end is watched */
    if (!bytes || length[3] || fread(bytes, 1, size, stdin) != size) return 1;
    if (!write_tensors(context, bytes, size)) return 1;
    free(bytes);
  }
  heed_context_destroy(context);
  return 0;
}
