/* Modules that ask for reconvergence: the same words with an extension and an execution mode more,
 * where the rules of SPIR-V want them; and devices that have it are asked. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vulkan/host/backend_state.h"
#include "vulkan/host/shader_code.h"
#include "vulkan/vulkan_test.h"

enum { CAPABILITY = 17, EXTENSION = 10, ENTRY_POINT = 15, EXECUTION_MODE = 16 };

/* The rank of an instruction's section. */
static int section(uint32_t op) {
  switch (op) {
    case CAPABILITY: return 0;
    case EXTENSION: return 1;
    case 11: return 2; /* OpExtInstImport */
    case 14: return 3; /* OpMemoryModel */
    case ENTRY_POINT: return 4;
    case EXECUTION_MODE: return 5;
    default: return 6;
  }
}

/* Sections in order, and every instruction of the original in its order; returns how many words are
 * new. */
static size_t compare(const uint32_t *words, size_t count, const uint32_t *asking, size_t asked,
                      const heed_vk_promise *promise) {
  size_t at = 5, added = 0;
  int last = 0;
  uint32_t entry = 0;
  assert_memory_equal(words, asking, 5 * sizeof *words);
  for (size_t i = 5; i < asked; i += asking[i] >> 16) {
    const uint32_t op = asking[i] & 0xFFFFu, length = asking[i] >> 16;
    if (op == ENTRY_POINT) entry = asking[i + 2];
    assert_true(section(op) >= last);
    last = section(op);
    if (at + length <= count && memcmp(words + at, asking + i, length * sizeof *words) == 0) {
      at += length;
      continue;
    }
    added += length;
    if (op == EXTENSION)
      assert_string_equal((const char *)(asking + i + 1), promise->module_extension);
    if (op == EXECUTION_MODE) assert_true(asking[i + 1] == entry && asking[i + 2] == promise->mode);
    assert_true(op == EXTENSION || op == EXECUTION_MODE);
  }
  assert_int_equal(at, count);
  return added;
}

static void test_modules(void **state) {
  (void)state;
  uint32_t with = 0;
  const heed_vk_promise *promise;
  for (uint32_t i = 0; (promise = heed_vk_get_promise(i)); i++)
    for (int shader = 0; shader < HEED_SHADER_COUNT; shader++) {
      size_t bytes;
      const uint32_t *words = heed_vk_shader_code((heed_gpu_shader)shader, &bytes);
      const size_t count = bytes / sizeof *words;
      if (!count) continue; /* not in this build */
      uint32_t *asking = malloc(bytes + HEED_VK_PROMISE_WORDS * sizeof *asking);
      const size_t asked = heed_vk_ask_promise(promise, words, count, asking);
      if (asked) {
        with++;
        assert_true(asked <= count + HEED_VK_PROMISE_WORDS);
        assert_int_equal(compare(words, count, asking, asked, promise), asked - count);
      }
      free(asking);
    }
  assert_true(with >= 2 * 5); /* those by shuffles, for both promises */
}

static void test_device(void **state) {
  (void)state;
  vulkan_test_need_device();
  heed_error error;
  heed_context *context;
  heed_backend *backend;
  assert_ok(heed_context_create(NULL, &context, &error));
  assert_ok(heed_vulkan_backend_create(context, NULL, &backend, &error));
  const heed_vk_device *device = &((heed_vk_backend *)backend)->device;
  VkExtensionProperties all[512];
  uint32_t count = 512;
  device->instance.api.EnumerateDeviceExtensionProperties(device->physical, NULL, &count, all);
  const heed_vk_promise *expected = NULL, *promise;
  for (uint32_t i = 0; !expected && (promise = heed_vk_get_promise(i)); i++)
    for (uint32_t k = 0; k < count && !expected; k++)
      if (strcmp(all[k].extensionName, promise->extension) == 0) expected = promise;
  assert_ptr_equal(device->promise, expected);
  heed_backend_destroy(backend);
  heed_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_modules), cmocka_unit_test(test_device)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
