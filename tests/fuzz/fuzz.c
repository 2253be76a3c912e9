/* A main without libFuzzer: changes of seeds, the same every time. Half keep the format, half are
 * of bytes: flipped, set, copied, cut, repeated, numbers made extreme, words put in. */
#define _POSIX_C_SOURCE 200809L
#include "fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/test.h"

#define MAX_SIZE 65536u

static const char *const *dictionary; /* NULL-terminated */

static void insert(fuzz_input *b, size_t at, const void *from, size_t count) {
  fuzz_put(b, at, 0, from, count);
}

static void cut(fuzz_input *b, size_t at, size_t count) {
  if (count > b->size - at) count = b->size - at;
  fuzz_put(b, at, count, "", 0);
}

static void insert_number(fuzz_input *b, size_t at, test_random *random) {
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

void fuzz_change_bytes(fuzz_input *b, test_random *random) {
  unsigned char piece[64];
  size_t word_count = 0;
  while (dictionary[word_count]) word_count++;
  const size_t at = b->size ? test_random_below(random, (uint32_t)b->size) : 0,
               span = 1 + test_random_below(random, sizeof piece);
  const size_t room = b->size - at, count = span < room ? span : room;
  const char *word = dictionary[test_random_below(random, (uint32_t)word_count)];
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
  fuzz_run(copy, size);
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

static int write_seeds(const char *folder, const char *list, const fuzz_seed *seeds,
                       size_t seed_count, const char *const *words) {
  char path[4096];
  for (size_t i = 0; i < seed_count; i++) {
    snprintf(path, sizeof path, "%s/seed-%02zu", folder, i);
    write_file(path, seeds[i].bytes, seeds[i].size);
  }
  write_words(list, words);
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

/* A change of a seed: one to six steps, of which half keep the format; all, where `formatted`. */
static void change_seed(fuzz_input *b, const fuzz_seed *seeds, size_t seed_count, unsigned long n,
                        bool formatted) {
  test_random random = {UINT64_C(0x9E3779B97F4A7C15) * (n + 1)};
  for (int i = 0; i < 4; i++) test_random_next(&random);
  const fuzz_seed *seed = &seeds[test_random_below(&random, (uint32_t)seed_count)];
  b->size = seed->size < MAX_SIZE ? seed->size : MAX_SIZE;
  memcpy(b->bytes, seed->bytes, b->size);
  for (uint32_t steps = 1 + test_random_below(&random, 6); steps > 0; steps--)
    if (formatted || test_random_below(&random, 2))
      fuzz_change(b, &random);
    else
      fuzz_change_bytes(b, &random);
}

static struct {
  fuzz_seed seed[32768];
  size_t count;
} files;

static void read_folder(const char *path) {
  DIR *folder = opendir(path);
  for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
    char name[4096];
    snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
    if (*entry->d_name == '.' || files.count == sizeof files.seed / sizeof *files.seed) continue;
    fuzz_seed *seed = &files.seed[files.count++];
    seed->bytes = test_read_file(name, &seed->size);
  }
  if (folder) closedir(folder);
  if (files.count) return;
  fprintf(stderr, "%s: no seeds\n", path);
  exit(EXIT_FAILURE);
}

static void free_files(void) {
  while (files.count > 0) free((void *)(uintptr_t)files.seed[--files.count].bytes);
}

static double seconds_since(clock_t start) { return (double)(clock() - start) / CLOCKS_PER_SEC; }

/* Rounds over all files, until the processor time is over; a failure of each, at a point that the
 * round gives. */
static int fail_files(double seconds, char *const *folders) {
  static uint64_t allocations[sizeof files.seed / sizeof *files.seed],
      reads[sizeof files.seed / sizeof *files.seed];
  const clock_t start = clock();
  uint64_t failures = 0, round = 0, ignored, without = 0;
  while (*folders) read_folder(*folders++);
  for (; without < files.count && seconds_since(start) < seconds; round++) {
    without = 0;
    for (size_t i = 0; i < files.count && seconds_since(start) < seconds; i++) {
      const fuzz_seed *seed = &files.seed[i];
      const uint64_t point = (i + round) * UINT64_C(0x9E3779B97F4A7C15) >> 16;
      if (round == 0)
        fuzz_fail(seed->bytes, seed->size, 0, 0, &allocations[i], &reads[i]);
      else if (round % 8 == 0 && reads[i])
        fuzz_fail(seed->bytes, seed->size, 0, 1 + point % reads[i], &ignored, &ignored);
      else if (allocations[i])
        fuzz_fail(seed->bytes, seed->size, 1 + point % allocations[i], 0, &ignored, &ignored);
      else
        without++;
      failures++;
    }
  }
  printf("%zu files, %llu failures in %llu rounds\n", files.count, (unsigned long long)failures,
         (unsigned long long)round);
  free_files();
  return EXIT_SUCCESS;
}

/* Changes of the files of a folder, each held to 100 MB and 2 s of processor time. */
static int hold_to_budget(unsigned long runs, unsigned long first, const char *path) {
  double longest = 0;
  fuzz_input b = {malloc(MAX_SIZE), 0, MAX_SIZE};
  if (!b.bytes) return EXIT_FAILURE;
  read_folder(path);
  for (unsigned long n = first; n < first + runs; n++) {
    change_seed(&b, files.seed, files.count, n, true);
    const clock_t start = clock();
    run(b.bytes, b.size);
    const double seconds = seconds_since(start);
    if (seconds > longest) longest = seconds;
    if (seconds > 2 || fuzz_most_memory() > 100e6) {
      fprintf(stderr, "change %lu: over the budget: %.1f s, %.0f MB (expected 2 s, 100 MB)\n", n,
              seconds, fuzz_most_memory() / 1e6);
      abort();
    }
  }
  printf("%lu changes of %zu seeds: one took at most %.2f s and %.0f MB\n", runs, files.count,
         longest, fuzz_most_memory() / 1e6);
  free_files();
  free(b.bytes);
  return EXIT_SUCCESS;
}

int fuzz_main(int argc, char **argv, const fuzz_seed *seeds, size_t seed_count,
              const char *const *words) {
  dictionary = words;
  if (argc == 4 && !strcmp(argv[1], "--write"))
    return write_seeds(argv[2], argv[3], seeds, seed_count, words);
  if (argc > 1 && !strcmp(argv[1], "--replay")) return replay(argv + 2);
  if (argc == 5 && !strcmp(argv[1], "--budget"))
    return hold_to_budget(strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10), argv[4]);
  if (argc > 3 && !strcmp(argv[1], "--fail")) return fail_files(strtod(argv[2], NULL), argv + 3);
  const unsigned long runs = argc > 1 ? strtoul(argv[1], NULL, 10) : HEED_FUZZ_RUNS,
                      first = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
  fuzz_input b = {malloc(MAX_SIZE), 0, MAX_SIZE};
  if (!b.bytes) return 1;
  for (size_t i = 0; i < seed_count; i++) run(seeds[i].bytes, seeds[i].size);
  for (unsigned long n = first; n < first + runs; n++) {
    change_seed(&b, seeds, seed_count, n, false);
    if (n % 10000 == 0) fprintf(stderr, "mutation %lu\n", n);
    run(b.bytes, b.size);
  }
  free(b.bytes);
  printf("%lu mutations without a finding\n", runs);
  return 0;
}
