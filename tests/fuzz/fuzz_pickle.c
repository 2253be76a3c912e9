/* Any bytes as a file of PyTorch in both forms, and as the pickle in one whose zip file is sound;
 * read from memory and through a callback. */
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heed/pickle.h"
#include "model/files/safetensors.h"
#include "support/test.h"
#include "support/torch_file.h"

/* What opening promises: a .safetensors file that is sound, and whose every byte is there. */
static void use(const heed_context *context, heed_pickle *pickle) {
  heed_pickle_origin(pickle);
  heed_pickle_shares(pickle);
  const heed_source source = heed_pickle_source(pickle);
  heed_safetensors *file;
  heed_error error;
  unsigned char bytes[64];
  /* names may occur twice, and headers be too long: nothing else is wrong */
  if (heed_safetensors_open(context, &source, "f.pth", &file, &error) == HEED_OK) {
    for (uint32_t i = 0; i < heed_safetensors_count(file); i++) {
      const heed_safetensors_tensor *tensor = heed_safetensors_get(file, i);
      const size_t count = tensor->bytes < sizeof bytes ? (size_t)tensor->bytes : sizeof bytes;
      fuzz_must(source.read(source.user, tensor->offset, bytes, count, &error) == HEED_OK &&
                    source.read(source.user, tensor->offset + tensor->bytes - count, bytes, count,
                                &error) == HEED_OK,
                error.message);
    }
  } else {
    fuzz_must(strstr(error.message, "twice") || strstr(error.message, "duplicate") ||
                  strstr(error.message, "nvalid"),
              error.message);
  }
  heed_safetensors_destroy(file);
}

static void try_source(heed_context *context, const heed_source *source, const char *key) {
  heed_pickle *pickle;
  heed_error error;
  const heed_status status = heed_pickle_open_key(context, source, "f.pth", key, &pickle, &error);
  fuzz_must_refuse(status, &error);
  if (status == HEED_OK) use(context, pickle);
  heed_pickle_destroy(pickle);
}

void fuzz_read(const uint8_t *data, size_t size) {
  heed_context *context;
  if (!(context = fuzz_context())) return;
  test_bytes raw = {(unsigned char *)(uintptr_t)data, size}, zip = test_torch_zip(data, size),
             legacy = test_torch_legacy(data, size);
  const heed_source sources[] = {test_source(raw.data, raw.size), fuzz_callback_source(&raw),
                                 test_source(zip.data, zip.size), fuzz_callback_source(&legacy)};
  static const char *const keys[] = {".", "model", "w", "state_dict", "a.b", "model.teacher"};
  heed_pickle_begins(data, size);
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
    try_source(context, &sources[i], NULL);
  const char *key = keys[size % (sizeof keys / sizeof *keys)];
  try_source(context, &sources[size > 4 && data[0] == 'P' ? 0 : 2], key);
  free(zip.data);
  free(legacy.data);
  heed_context_destroy(context);
}

void fuzz_change(fuzz_input *input, test_random *random) { fuzz_change_torch(input, random); }

#ifndef HEED_LIBFUZZER
int main(int argc, char **argv) {
  static const char small[] = TEST_DICT(TEST_PLAIN),
                    strided[] = TEST_DICT(TEST_TENSOR("K\0", TEST_2_3, "K\1K\2\x86")),
                    nested[] =
                        "\x80\2}X\5\0\0\0modelccollections\nOrderedDict\n)R}X\1\0\0\0w" TEST_PLAIN
                        "sX\1\0\0\0eK\1sX\1\0\0\0vh\0sbs.",
                    object[] =
                        "\x80\4\x95\0\0\0\0\0\0\0\0\x8C\1m\x8C\1M\x93)\x81}(\x8C\x0B_parameters"
                        "}\x94\x8C\1w" TEST_PLAIN "sub.";
  static const char *const words[] = {"\x80\2",
                                      "ccollections\nOrderedDict\n",
                                      "ctorch._utils\n_rebuild_tensor_v2\n",
                                      "ctorch._utils\n_rebuild_parameter\n",
                                      "ctorch\nHalfStorage\n",
                                      "ctorch\nLongStorage\n",
                                      "cos\nsystem\n",
                                      "X\x7F",
                                      "J\xFF\xFF\xFF\x7F",
                                      "J\xFF\xFF\xFF\xFF",
                                      "q\1",
                                      "h\1",
                                      "r\xFF\xFF\x01",
                                      ")R",
                                      "(tR",
                                      "}]()",
                                      "u.e",
                                      "tQ",
                                      "\x85\x86\x87",
                                      "PK\5\6",
                                      "PK\6\7",
                                      "PK\1\2",
                                      "\xFF\xFF\xFF\xFF",
                                      NULL};
  const test_bytes zip = test_torch_zip(small, sizeof small - 1),
                   legacy = test_torch_legacy(strided, sizeof strided - 1);
  const test_zip_entry entry = {"data.pkl", nested, sizeof nested - 1, 0, 0};
  const test_bytes zip64 = test_zip(&entry, 1, true);
  const fuzz_seed seeds[] = {{small, sizeof small - 1},   {strided, sizeof strided - 1},
                             {nested, sizeof nested - 1}, {object, sizeof object - 1},
                             {zip.data, zip.size},        {legacy.data, legacy.size},
                             {zip64.data, zip64.size}};
  const int status = fuzz_main(argc, argv, seeds, sizeof seeds / sizeof *seeds, words);
  free(zip.data);
  free(legacy.data);
  free(zip64.data);
  return status;
}
#endif
