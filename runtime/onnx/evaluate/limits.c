/* What a graph may take. See evaluate.h.
 *
 * Weights that are dequantised, scaled and laid out for a kernel are 3 arrays of 8 bytes for each
 * element, which has a byte in the file at least. What is computed grows with the inputs too: the
 * scores of an attention are a thousand bytes for each byte of an image. A sum of products reads
 * each weight once for each place of an input. */
#include "base/alloc.h"
#include "onnx/evaluate/evaluate.h"

#define LEAST_BYTES (UINT64_C(32) << 20)
#define BYTES_OF_FILE 32
#define BYTES_OF_INPUTS 4096
#define LEAST_FOLDED (UINT64_C(1) << 28) /* steps: about a second */
#define STEPS_OF_FILE 16
#define LEAST_STEPS (UINT64_C(1) << 32)

static uint64_t times(uint64_t a, uint64_t b) {
  uint64_t product;
  return heed_u64_mul(a, b, &product) ? product : UINT64_MAX;
}

static uint64_t plus(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

static uint64_t least_of(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t bytes_of(const heed_onnx *file) {
  uint64_t bytes = file->source.size;
  for (uint32_t i = 0; i < file->external_count; i++)
    bytes = plus(bytes, file->externals[i].source.size);
  return bytes;
}

uint64_t heed_onnx_default_bytes(const heed_onnx *file, uint64_t input_bytes) {
  return plus(plus(LEAST_BYTES, times(bytes_of(file), BYTES_OF_FILE)),
              times(file->input_bytes ? file->input_bytes : input_bytes, BYTES_OF_INPUTS));
}

uint64_t heed_onnx_default_elements(const heed_onnx *file, uint64_t input_bytes) {
  return heed_onnx_default_bytes(file, input_bytes) / sizeof(heed_onnx_cell);
}

void heed_onnx_limit(heed_onnx_evaluator *e, const heed_onnx *file, uint64_t input_bytes,
                     uint64_t most_elements, uint64_t most_steps, bool folds) {
  if (file->input_bytes) input_bytes = file->input_bytes;
  const uint64_t size = bytes_of(file), inputs = times(input_bytes, BYTES_OF_INPUTS),
                 folded = plus(plus(LEAST_FOLDED, times(size, STEPS_OF_FILE)), inputs),
                 run = plus(LEAST_STEPS, times(size, input_bytes) / STEPS_OF_FILE);
  *e = (heed_onnx_evaluator){.file = file, .context = file->context, .batch = file->batch};
  e->most = least_of(most_elements ? most_elements : heed_onnx_default_elements(file, input_bytes),
                     HEED_ONNX_MOST_ELEMENTS);
  e->most_steps = most_steps ? most_steps : least_of(folds ? folded : run, HEED_ONNX_MOST_STEPS);
}
