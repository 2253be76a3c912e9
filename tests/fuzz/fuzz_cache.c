/* Any bytes as a file of the Vulkan cache, as it is and with key, size and hash put right; and as
 * measured tiles. No device: a key is bytes. */
#define _POSIX_C_SOURCE 200809L /* fmemopen */
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "gpu/tune.h"
#include "support/test.h"
#include "vulkan/host/cache_format.h"

#define KEY_SIZE 88
#define HEADER_SIZE (8 + KEY_SIZE + 16)
static const unsigned char key[KEY_SIZE] = "device, driver and kernels";

static void try_file(const heed_context *context, const uint8_t *data, size_t size, bool whole) {
  void *bytes;
  size_t count;
  FILE *file = fmemopen((void *)(uintptr_t)data, size, "rb");
  if (!file) return;
  const bool read = heed_vk_cache_unpack(context, file, key, sizeof key, &bytes, &count);
  if (read != (bytes != NULL)) abort();
  fuzz_must(read || !whole, "a file that is right is refused");
  if (read && (count != size - HEADER_SIZE || memcmp(bytes, data + HEADER_SIZE, count) != 0))
    abort();
  heed_free(context, bytes);
  fclose(file);
}

/* A tile that is taken is one that the device has. */
static void try_tiles(const uint8_t *data, size_t size, bool cpu) {
  heed_gpu_tiles tiles;
  heed_gpu_limits limits;
  memset(&limits, 0, sizeof limits);
  limits.cpu = cpu;
  limits.invocations = 256;
  limits.shared = 32768;
  if (!heed_gpu_take_tiles(&limits, data, size, &tiles)) {
    if (tiles.count) abort();
    return;
  }
  if (size != sizeof tiles || tiles.count > HEED_GPU_MOST_TUNED) abort();
  for (uint32_t i = 0; i < tiles.count; i++)
    if (!tiles.shape[i].choice ||
        tiles.shape[i].choice > heed_gpu_count_candidates(&limits, &tiles.shape[i].key))
      abort();
}

void fuzz_read(const uint8_t *data, size_t size) {
  heed_context *context;
  if (size == 0 || !(context = fuzz_context())) return;
  try_file(context, data, size, false);
  if (size > HEADER_SIZE) {
    /* fmemopen wants room for a 0 at the end */
    unsigned char *repaired = malloc(size + 1);
    FILE *file = repaired ? fmemopen(repaired, size + 1, "wb") : NULL;
    if (file) {
      setvbuf(file, NULL, _IONBF, 0);
      const bool packed =
          heed_vk_cache_pack(file, key, sizeof key, data + HEADER_SIZE, size - HEADER_SIZE);
      fclose(file);
      if (packed) try_file(context, repaired, size, true);
    }
    free(repaired);
    try_tiles(data + HEADER_SIZE, size - HEADER_SIZE, true);
  }
  try_tiles(data, size, false);
  heed_context_destroy(context);
}

void fuzz_change(fuzz_input *input, test_random *random) { fuzz_change_bytes(input, random); }

#ifndef HEED_LIBFUZZER
int main(int argc, char **argv) {
  static const char *const words[] = {HEED_VK_CACHE_MAGIC, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF",
                                      "\x01", "\x40", NULL};
  static struct {
    unsigned char header[HEADER_SIZE];
    heed_gpu_tiles tiles;
    unsigned char end;
  } measured;
  unsigned char whole[HEADER_SIZE + 16 + 1], small[HEADER_SIZE + 16];
  measured.tiles.count = 2;
  measured.tiles.shape[0] = (heed_gpu_tuned){{197, 192, 768, 0, 0, 0, 0, 0}, 1};
  measured.tiles.shape[1] = (heed_gpu_tuned){{197, 197, 64, 3, 3, 3, 64, 0}, 1};

  FILE *files[] = {fmemopen(&measured, sizeof measured, "wb"), fmemopen(whole, sizeof whole, "wb")};
  const heed_gpu_tiles tiles = measured.tiles;
  for (int i = 0; i < 2; i++) {
    if (!files[i]) return EXIT_FAILURE;
    setvbuf(files[i], NULL, _IONBF, 0);
    if (!heed_vk_cache_pack(files[i], key, sizeof key,
                            i ? (const void *)"sixteen bytes..." : &tiles, i ? 16 : sizeof tiles))
      return EXIT_FAILURE;
    fclose(files[i]);
  }
  /* a disk that is full, wherever: nothing is said to be written */
  for (size_t room = 1; room < HEADER_SIZE + 16; room++) {
    FILE *file = fmemopen(small, room, "wb");
    if (!file) return EXIT_FAILURE;
    setvbuf(file, NULL, _IONBF, 0);
    if (heed_vk_cache_pack(file, key, sizeof key, "sixteen bytes...", 16)) abort();
    fclose(file);
  }
  const fuzz_seed seeds[] = {{&measured, sizeof measured.header + sizeof measured.tiles},
                             {&measured.tiles, sizeof measured.tiles},
                             {whole, sizeof whole - 1}};
  return fuzz_main(argc, argv, seeds, sizeof seeds / sizeof *seeds, words);
}
#endif
