/* A small deterministic mutator: bytes flipped, set, copied, cut, repeated, numbers made extreme,
 * words put in. */
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#define MAX_SIZE 65536u

typedef struct buffer {
  unsigned char *bytes;
  size_t size;
} buffer;

static void insert(buffer *b, size_t at, const void *from, size_t count) {
  if (b->size + count > MAX_SIZE) return;
  memmove(b->bytes + at + count, b->bytes + at, b->size - at);
  memcpy(b->bytes + at, from, count);
  b->size += count;
}

static void cut(buffer *b, size_t at, size_t count) {
  if (count > b->size - at) count = b->size - at;
  memmove(b->bytes + at, b->bytes + at + count, b->size - at - count);
  b->size -= count;
}

static void insert_number(buffer *b, size_t at, test_random *random) {
  static const char *const numbers[] = {"0",
                                        "-1",
                                        "1e9",
                                        "4294967296",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "9223372036854775807",
                                        "0.5",
                                        "1E-400",
                                        "65536"};
  const char *number = numbers[test_random_below(random, sizeof numbers / sizeof *numbers)];
  size_t digits = 0;
  while (at + digits < b->size && b->bytes[at + digits] >= '0' && b->bytes[at + digits] <= '9')
    digits++;
  cut(b, at, digits);
  insert(b, at, number, strlen(number));
}

static void mutate(buffer *b, test_random *random, const char *const *words) {
  unsigned char piece[64];
  size_t word_count = 0;
  while (words[word_count]) word_count++;
  const size_t at = b->size ? test_random_below(random, (uint32_t)b->size) : 0,
               span = 1 + test_random_below(random, sizeof piece);
  const size_t room = b->size - at, count = span < room ? span : room;
  const char *word = words[test_random_below(random, (uint32_t)word_count)];
  if (b->size) memcpy(piece, b->bytes + at, count);
  switch (test_random_below(random, 9)) {
    case 0:
      if (b->size) b->bytes[at] ^= (unsigned char)(1u << test_random_below(random, 8));
      break;
    case 1:
      if (b->size) b->bytes[at] = (unsigned char)test_random_next(random);
      break;
    case 2: cut(b, at, count); break;
    case 3: insert(b, at, piece, count); break;
    case 4:
      insert(b, b->size ? test_random_below(random, (uint32_t)b->size) : 0, piece, count);
      break;
    case 5: b->size = at; break;
    case 6: insert(b, at, word, strlen(word)); break;
    default: { /* the next number, wherever it starts */
      size_t digit = at;
      while (digit < b->size && (b->bytes[digit] < '0' || b->bytes[digit] > '9')) digit++;
      insert_number(b, digit, random);
    }
  }
}

/* From memory of exactly its size, so that a sanitizer sees a read past it. */
static void run(const void *bytes, size_t size) {
  unsigned char *copy = malloc(size ? size : 1);
  if (!copy) abort();
  if (size) memcpy(copy, bytes, size);
  LLVMFuzzerTestOneInput(copy, size);
  free(copy);
}

static void write_file(const char *path, const void *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
    perror(path);
    exit(EXIT_FAILURE);
  }
}

/* One word a line, in quotes, bytes that are no plain text by \xHH. */
static void write_words(const char *path, const char *const *words) {
  FILE *file = fopen(path, "w");
  for (size_t i = 0; file && words[i]; i++) {
    fputc('"', file);
    for (const char *c = words[i]; *c; c++)
      if (*c < ' ' || *c > '~' || *c == '"' || *c == '\\')
        fprintf(file, "\\x%02X", (unsigned)(unsigned char)*c);
      else
        fputc(*c, file);
    fputs("\"\n", file);
  }
  if (!file || fclose(file) != 0) {
    perror(path);
    exit(EXIT_FAILURE);
  }
}

static int write_seeds(const char *folder, const char *dictionary, const fuzz_seed *seeds,
                       size_t seed_count, const char *const *words) {
  char path[4096];
  for (size_t i = 0; i < seed_count; i++) {
    snprintf(path, sizeof path, "%s/seed-%02zu", folder, i);
    write_file(path, seeds[i].bytes, seeds[i].size);
  }
  write_words(dictionary, words);
  return EXIT_SUCCESS;
}

static int replay(char **paths) {
  for (; *paths; paths++) {
    size_t size;
    unsigned char *bytes = test_read_file(*paths, &size);
    fprintf(stderr, "%s\n", *paths);
    run(bytes, size);
    free(bytes);
  }
  return EXIT_SUCCESS;
}

int fuzz_main(int argc, char **argv, const fuzz_seed *seeds, size_t seed_count,
              const char *const *words) {
  if (argc == 4 && !strcmp(argv[1], "--write"))
    return write_seeds(argv[2], argv[3], seeds, seed_count, words);
  if (argc > 1 && !strcmp(argv[1], "--replay")) return replay(argv + 2);
  const unsigned long runs = argc > 1 ? strtoul(argv[1], NULL, 10) : HEED_FUZZ_RUNS,
                      first = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
  buffer b = {malloc(MAX_SIZE), 0};
  if (!b.bytes) return 1;
  for (size_t i = 0; i < seed_count; i++) run(seeds[i].bytes, seeds[i].size);
  for (unsigned long n = first; n < first + runs; n++) {
    test_random random = {UINT64_C(0x9E3779B97F4A7C15) * (n + 1)};
    for (int i = 0; i < 4; i++) test_random_next(&random);
    const fuzz_seed *seed = &seeds[test_random_below(&random, (uint32_t)seed_count)];
    b.size = seed->size < MAX_SIZE ? seed->size : MAX_SIZE;
    memcpy(b.bytes, seed->bytes, b.size);
    for (uint32_t steps = 1 + test_random_below(&random, 6); steps > 0; steps--)
      mutate(&b, &random, words);
    if (n % 10000 == 0) fprintf(stderr, "mutation %lu\n", n);
    run(b.bytes, b.size);
  }
  free(b.bytes);
  printf("%lu mutations without a finding\n", runs);
  return 0;
}
