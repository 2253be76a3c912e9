/* libFuzzer's way to a fuzzer. See fuzz.h. */
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_run(data, size);
  return 0;
}

void fuzz_change_bytes(fuzz_input *input, test_random *random) {
  (void)random;
  if (input->room) input->size = LLVMFuzzerMutate(input->bytes, input->size, input->room);
}

/* One in four is libFuzzer's own; of the rest one to three keep the format. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed) {
  fuzz_input input = {data, size, most};
  test_random random = {UINT64_C(0x9E3779B97F4A7C15) * (seed + 1)};
  test_random_next(&random);
  if (test_random_below(&random, 4) == 0)
    fuzz_change_bytes(&input, &random);
  else
    for (uint32_t steps = 1 + test_random_below(&random, 3); steps > 0; steps--)
      fuzz_change(&input, &random);
  return input.size;
}
