/* What a graph may take. See evaluate.h.
 *
 * Weights that are dequantised, scaled and laid out for a kernel are 3 arrays of 8 bytes for each
 * element, which has a byte in the file at least. What is computed grows with the inputs too: the
 * scores of an attention are a thousand bytes for each byte of an image. A sum of products reads
 * each weight once for each place of an input. */
#include "onnx/evaluate/evaluate.h"

#define LEAST_BYTES (UINT64_C(32) << 20)
#define BYTES_OF_FILE 32
#define BYTES_OF_INPUTS 4096
#define LEAST_FOLDED (UINT64_C(1) << 28) /* steps: about a second */
#define STEPS_OF_FILE 16
#define LEAST_STEPS (UINT64_C(1) << 32)

static uint64_t least_of(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t bytes_of(const heed_onnx *file) {
  uint64_t bytes = file->source.size;
  for (uint32_t i = 0; i < file->external_count; i++)
    bytes = heed_budget_most(bytes, 1, file->externals[i].source.size);
  return bytes;
}

uint64_t heed_onnx_default_bytes(const heed_onnx *file, uint64_t input_bytes) {
  return heed_budget_most(heed_budget_most(LEAST_BYTES, BYTES_OF_FILE, bytes_of(file)),
                          BYTES_OF_INPUTS, file->input_bytes ? file->input_bytes : input_bytes);
}

uint64_t heed_onnx_default_elements(const heed_onnx *file, uint64_t input_bytes) {
  return heed_onnx_default_bytes(file, input_bytes) / sizeof(heed_onnx_cell);
}

void heed_onnx_limit(heed_onnx_evaluator *e, const heed_onnx *file, uint64_t input_bytes,
                     uint64_t most_elements, uint64_t most_steps, bool folds) {
  if (file->input_bytes) input_bytes = file->input_bytes;
  const uint64_t size = bytes_of(file),
                 folded = heed_budget_most(heed_budget_most(LEAST_FOLDED, STEPS_OF_FILE, size),
                                           BYTES_OF_INPUTS, input_bytes),
                 run = heed_budget_most(LEAST_STEPS, 1,
                                        heed_budget_most(0, size, input_bytes) / STEPS_OF_FILE);
  *e = (heed_onnx_evaluator){.file = file, .context = file->context, .batch = file->batch};
  e->elements.most =
      least_of(most_elements ? most_elements : heed_onnx_default_elements(file, input_bytes),
               HEED_ONNX_MOST_ELEMENTS);
  e->steps.most = most_steps ? most_steps : least_of(folds ? folded : run, HEED_ONNX_MOST_STEPS);
}
