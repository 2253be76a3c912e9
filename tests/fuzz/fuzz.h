/* What the fuzzers share. Each fuzzer reads an input in every way that its readers have, and says
 * how its format is changed. A program of libFuzzer drives it (engine.c), or a main that changes
 * seeds the same way every time (fuzz.c): more often where a sanitizer watches. An argument
 * replaces how often, a second one is the first change (to rerun a failure). `--write FOLDER
 * DICTIONARY` writes the seeds and the words for libFuzzer, `--replay FILE...` runs files,
 * `--budget RUNS FIRST FOLDER` changes the files of a folder and holds each run to what a reader
 * may take, `--fail SECONDS FOLDER...` reads files of folders while one allocation after another
 * fails, and one read. */
#ifndef HEED_TESTS_FUZZ_FUZZ_H
#define HEED_TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fuzz/change.h"
#include "support/weights.h"

#if defined(__SANITIZE_ADDRESS__)
#define HEED_FUZZ_RUNS 50000
#else
#define HEED_FUZZ_RUNS 20000
#endif

/* Of each fuzzer: reads an input; ends the program where a promise is broken. */
void fuzz_read(const uint8_t *data, size_t size);
/* Of each fuzzer: a change that keeps the format. */
void fuzz_change(fuzz_input *input, test_random *random);

/* Reads an input, and half of them again where an allocation or a read fails. */
void fuzz_run(const uint8_t *data, size_t size);
/* Reads an input while the allocation of this number fails, from 1, or the read; 0: none. How many
 * there were. */
void fuzz_fail(const uint8_t *data, size_t size, uint64_t allocation, uint64_t read,
               uint64_t *allocations, uint64_t *reads);
/* A context whose allocations fail when the run wants it, or are of more than 64 MB at once. */
heed_context *fuzz_context(void);
/* Bytes behind a callback that fails when the run wants it. `bytes` must outlive the source. */
heed_source fuzz_callback_source(test_bytes *bytes);
/* Bytes that contexts held at once, at most. */
double fuzz_most_memory(void);
/* Whether one of them failed in this run: then a status may be OUT_OF_MEMORY or IO. */
bool fuzz_was_short(void);
/* Ends the program with a sentence, unless the promise holds or something failed on purpose. */
void fuzz_must(bool holds, const char *what);
/* The same of a status: a file is read, refused or too much for this machine. */
void fuzz_must_refuse(heed_status status, const heed_error *error);

typedef struct fuzz_seed {
  const void *bytes;
  size_t size;
} fuzz_seed;

/* Runs the seeds, then mutations of them; returns main's status. `words`: NULL-terminated, texts
 * that mutations put in. */
int fuzz_main(int argc, char **argv, const fuzz_seed *seeds, size_t seed_count,
              const char *const *words);

#endif
