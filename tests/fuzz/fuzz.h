/* What the fuzzers share: a libFuzzer entry, and where there is no libFuzzer (the default) a main
 * that mutates seeds the same way every time: more often where a sanitizer watches. An argument
 * replaces how often, a second one is the first mutation (to rerun a failure). `--write FOLDER
 * DICTIONARY` writes the seeds and the words for libFuzzer, `--replay FILE...` runs files. */
#ifndef HEED_TESTS_FUZZ_FUZZ_H
#define HEED_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#if defined(__SANITIZE_ADDRESS__)
#define HEED_FUZZ_RUNS 50000
#else
#define HEED_FUZZ_RUNS 20000
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct fuzz_seed {
  const void *bytes;
  size_t size;
} fuzz_seed;

/* Runs the seeds, then mutations of them; returns main's status. `words`: NULL-terminated, texts
 * that mutations put in. */
int fuzz_main(int argc, char **argv, const fuzz_seed *seeds, size_t seed_count,
              const char *const *words);

#endif
