/* Files from standard input, each after its length in four bytes: one letter each, a where heed
 * opens it, r where it refuses it. For safetensors_rules.py. */
#include <stdio.h>
#include <stdlib.h>

#include "model/files/safetensors.h"
#include "support/test.h"
#include "support/weights.h"

static bool opens(const heed_context *context, const unsigned char *bytes, size_t size) {
  const heed_source source = test_source(bytes, size);
  heed_safetensors *file;
  heed_error error;
  const heed_status status = heed_safetensors_open(context, &source, "case", &file, &error);
  if (status == HEED_OK) {
    heed_safetensors_destroy(file);
    return true;
  }
  if (status == HEED_INVALID_FILE && error.message[0]) return false;
  fprintf(stderr, "%s\n", error.message);
  exit(1);
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
    putchar(opens(context, bytes, size) ? 'a' : 'r');
    free(bytes);
  }
  heed_context_destroy(context);
  return 0;
}
