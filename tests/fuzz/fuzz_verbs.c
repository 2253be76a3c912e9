/* Any bytes as a file that a verb reads itself: saved maps, the input of heed eval, a list of
 * images. The first byte chooses. A verb gives its results, or one of the exit codes of bad input.
 */
#define _POSIX_C_SOURCE 200809L /* mkstemp */
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/header_length.h"
#include "heed/native.h"
#include "support/test.h"
#include "terminal/cli.h"
#include "terminal/picture_list.h"

enum { MAPS, IMAGES, TEXTS, LIST, KINDS };

static char path[] = "/tmp/heed-fuzz-XXXXXX", out[sizeof path + 16], vision[512], text[512];

static void remove_files(void) {
  unlink(path);
  unlink(out);
}

static void begin(void) {
  const int file = mkstemp(path);
  if (file < 0) abort();
  close(file);
  snprintf(out, sizeof out, "%s.safetensors", path);
  snprintf(vision, sizeof vision, "%s/vit/micro_32", HEED_TEST_VECTORS);
  snprintf(text, sizeof text, "%s/vit/clip_text", HEED_TEST_VECTORS);
  atexit(remove_files);
  /* what verbs print is not looked at */
  if (!freopen("/dev/null", "w", stdout)) abort();
}

static void write_file(const uint8_t *data, size_t size) {
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) abort();
}

static void try_list(cli_state *cli) {
  picture_list list = {.most = 1000};
  const heed_status status = picture_list_make(cli, NULL, 0, path, true, &list);
  fuzz_must(status == HEED_OK || status == HEED_INVALID_FILE, cli->error.message);
  for (uint32_t i = 0; i < list.count; i++)
    if (!*list.path[i] || strlen(list.path[i]) >= HEED_PATH_SIZE) abort();
  if (status == HEED_OK && list.count == 0) abort();
  picture_list_free(&list);
}

static void try_verb(cli_state *cli, uint32_t kind) {
  static char backend[] = "--backend", cpu[] = "cpu", quiet[] = "--quiet", o[] = "-o",
              threads[] = "--threads", one[] = "1", json[] = "--json", null[] = "/dev/null";
  char *maps[] = {path, json, null, NULL},
       *eval[] = {
           kind == TEXTS ? text : vision, path, o, out, backend, cpu, threads, one, quiet, NULL};
  const int code = kind == MAPS ? cli_verb_maps.run(cli, 3, maps) : cli_verb_eval.run(cli, 9, eval);
  fuzz_must(code == CLI_OK || code == CLI_BAD_FILE, cli->error.message);
}

void fuzz_read(const uint8_t *data, size_t size) {
  static FILE *console, *nothing;
  unsigned char bytes[65536];
  if (!console) {
    begin();
    console = stderr;
    nothing = fopen("/dev/null", "w");
  }
  if (size < 2 || size > sizeof bytes || !nothing) return;
  const uint32_t kind = data[0] % KINDS;
  for (int repaired = 0; repaired < (kind == LIST ? 1 : 2); repaired++) {
    cli_state cli = {.verb = "fuzz"};
    memcpy(bytes, data + 1, size - 1);
    if (repaired) fuzz_repair_length(bytes, size - 1);
    write_file(bytes, size - 1);
    if (!(cli.context = fuzz_context())) return;
    stderr = nothing;
    if (kind == LIST)
      try_list(&cli);
    else
      try_verb(&cli, kind);
    stderr = console;
    heed_context_destroy(cli.context);
  }
}

void fuzz_change(fuzz_input *input, test_random *random) {
  if (input->size < 2) {
    fuzz_change_bytes(input, random);
    return;
  }
  fuzz_input file = {input->bytes + 1, input->size - 1, input->room - 1};
  if (input->bytes[0] % KINDS == LIST)
    fuzz_change_lines(&file, random);
  else
    fuzz_change_safetensors(&file, random);
  input->size = file.size + 1;
}

#ifndef HEED_LIBFUZZER
#define T(name, dtype, shape, begin, end)                                                        \
  "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":[" #begin "," #end \
  "]}"

/* A file of a kind: this header, and after it `count` times the floats 0.25, or the whole number 1.
 */
static fuzz_seed seed(uint8_t kind, const char *header, size_t count) {
  const size_t length = strlen(header), size = 1 + 8 + length + 4 * count;
  static const float quarter = 0.25f;
  static const int32_t one = 1;
  unsigned char *made = calloc(1, size);
  if (!made) abort();
  made[0] = kind;
  made[1] = (unsigned char)length;
  made[2] = (unsigned char)(length >> 8);
  memcpy(made + 9, header, length);
  for (size_t i = 0; i < count; i++)
    memcpy(made + 9 + length + 4 * i, kind == TEXTS ? (const void *)&one : &quarter, 4);
  return (fuzz_seed){made, size};
}

int main(int argc, char **argv) {
  static const char *const words[] = {"attention.0",
                                      "attention.1",
                                      "picture",
                                      "pixel_values",
                                      "input_ids",
                                      "__metadata__",
                                      "\"grid\":\"2 2 0\"",
                                      "\"prefix\":\"CLS\"",
                                      "\"patch\":\"16\"",
                                      "F16",
                                      "I64",
                                      "U8",
                                      "[1,1,4,4]",
                                      "[1,3,32,32]",
                                      "\r\n",
                                      "/",
                                      NULL};
  static const char list[] = "\x03one.png\n\ntwo.jpg\r\n/three/four.png";
  const fuzz_seed seeds[] = {
      seed(MAPS, "{" T("attention.0", "F32", "[1,1,4,4]", 0, 64) "}", 16),
      seed(MAPS,
           "{\"__metadata__\":{\"grid\":\"1 2 2\",\"prefix\":\"CLS, dist\",\"patch\":\"4\"}," T(
               "attention.0", "F32", "[1,4,4]", 0, 64) "," T("attention.1", "F32", "[1,4,4]", 64,
                                                             128) "," T("picture", "U8", "[2,2,3]",
                                                                        128, 140) "}",
           35),
      seed(MAPS,
           "{" T("attention.0", "F32", "[4,4,4]", 0, 256) "," T("pixel_values", "F32", "[1,3,2,2]",
                                                                256, 304) "}",
           76),
      seed(IMAGES, "{" T("pixel_values", "F32", "[1,3,16,16]", 0, 3072) "}", 768),
      seed(TEXTS, "{" T("input_ids", "I32", "[1,4]", 0, 16) "}", 4),
      {list, sizeof list - 1}};
  static char *usual[] = {"", "5000"}; /* under a sanitizer too: each is a run of a verb, or two */
  const int status = argc > 1 ? fuzz_main(argc, argv, seeds, sizeof seeds / sizeof *seeds, words)
                              : fuzz_main(2, usual, seeds, sizeof seeds / sizeof *seeds, words);
  for (size_t i = 0; i + 1 < sizeof seeds / sizeof *seeds; i++)
    free((void *)(uintptr_t)seeds[i].bytes);
  return status;
}
#endif
