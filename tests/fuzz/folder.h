/* A folder of files as one input. A file is a byte with the length of its name, the name, three
 * bytes with the size, and the content. Of weights (.safetensors) the content is the header alone;
 * their data are made. */
#ifndef HEED_TESTS_FUZZ_FOLDER_H
#define HEED_TESTS_FUZZ_FOLDER_H

#include "fuzz/change.h"
#include "support/weights.h"

enum { FUZZ_MOST_FILES = 8 };

typedef struct fuzz_file {
  char name[256];
  const uint8_t *content;  /* in the input */
  size_t size, start, end; /* of the content; where the file is in the input */
} fuzz_file;

/* The files that are whole, and how many they are. */
uint32_t fuzz_find_files(const uint8_t *data, size_t size, fuzz_file files[FUZZ_MOST_FILES]);
/* Whether it is of weights: then they are made, of small positive numbers of any type. Free data.
 */
bool fuzz_make_weights(const fuzz_file *file, test_bytes *made);
/* Writes what comes before a content: at most 260 bytes; returns how many. */
size_t fuzz_begin_file(uint8_t *to, const char *name, size_t size);
/* Appends a file to an input that grows. */
void fuzz_append_file(test_bytes *to, const char *name, const void *content, size_t size);
/* One file of a folder: as JSON where it begins as that, else as lines; or its name. Both lists are
 * NULL-terminated. */
void fuzz_change_folder(fuzz_input *input, test_random *random, const char *const *names,
                        const char *const *words);

#endif
