/* Every module that the floor may run, read word by word: no capability beyond Vulkan 1.1's least,
 * and at 128 invocations a workgroup at most 16 KiB of shared memory. That no op asks for more
 * invocations is seen where the played floor runs the self-check (test_vulkan_cache.c) and the op
 * tests (test_*_vulkan_gpu_floor): the builder refuses such a dispatch. */
#include <stdio.h>
#include <string.h>

#include "support/test.h"

#define HEED_SHADER(name)                    \
  extern const uint32_t heed_spirv_##name[]; \
  extern const size_t heed_spirv_size_##name;
#include "shader_list.h"
#undef HEED_SHADER

#define MOST_IDS 8192u
#define WIDTH 128u
#define SHARED_BYTES 16384u
#define UNKNOWN UINT32_MAX
/* Numbers of the SPIR-V specification. */
enum {
  OP_CAPABILITY = 17,
  OP_INT = 21,
  OP_FLOAT = 22,
  OP_VECTOR = 23,
  OP_ARRAY = 28,
  OP_POINTER = 32,
  OP_CONSTANT = 43
};
enum {
  OP_SPEC_CONSTANT = 50,
  OP_SPEC_COMPOSITE = 51,
  OP_SPEC_OP = 52,
  OP_VARIABLE = 59,
  OP_EXTRACT = 81,
  OP_DECORATE = 71
};
enum {
  WORKGROUP = 4,
  DECORATION_SPEC_ID = 1,
  CAPABILITY_SHADER = 1,
  CAPABILITY_SAMPLED_BUFFER = 46
};

typedef struct module_facts {
  uint32_t bytes[MOST_IDS]; /* of a type; of what a pointer points at */
  uint32_t value[MOST_IDS]; /* of a constant */
  uint32_t spec[MOST_IDS];  /* 1 + its number */
  uint32_t first[MOST_IDS]; /* first component of a composite */
  uint32_t width;           /* of a workgroup */
  uint32_t shared;          /* bytes; UNKNOWN: they depend on something else than the width */
  uint32_t capability;      /* the first one above the floor, or 0 */
} module_facts;

static void take_variable(module_facts *m, uint32_t type) {
  if (m->bytes[type] == 0) m->shared = UNKNOWN;
  if (m->shared != UNKNOWN) m->shared += m->bytes[type];
}

static void take(module_facts *m, const uint32_t *at) {
  const uint32_t op = at[0] & 0xFFFFu;
  switch (op) {
    case OP_CAPABILITY:
      if (at[1] != CAPABILITY_SHADER && at[1] != CAPABILITY_SAMPLED_BUFFER && !m->capability)
        m->capability = at[1];
      break;
    case OP_DECORATE:
      if (at[2] == DECORATION_SPEC_ID) m->spec[at[1]] = 1 + at[3];
      break;
    case OP_INT:
    case OP_FLOAT: m->bytes[at[1]] = at[2] / 8; break;
    case OP_VECTOR: m->bytes[at[1]] = m->bytes[at[2]] * at[3]; break;
    /* 0 where a length is a constant that an op sets */
    case OP_ARRAY: m->bytes[at[1]] = m->bytes[at[2]] * m->value[at[3]]; break;
    case OP_POINTER: m->bytes[at[1]] = m->bytes[at[3]]; break;
    case OP_CONSTANT: m->value[at[2]] = at[3]; break;
    case OP_SPEC_CONSTANT:
      m->value[at[2]] = m->spec[at[2]] == 1 ? m->width : m->spec[at[2]] ? 0 : at[3];
      break;
    case OP_SPEC_COMPOSITE: m->first[at[2]] = at[3]; break;
    case OP_SPEC_OP: /* gl_WorkGroupSize.x */
      if (at[3] == OP_EXTRACT) m->value[at[2]] = m->value[m->first[at[4]]];
      break;
    case OP_VARIABLE:
      if (at[3] == WORKGROUP) take_variable(m, at[1]);
      break;
    default: break;
  }
}

static bool above_the_floor(const char *name) {
  return strstr(name, "_subgroup") || strstr(name, "matrix") || strstr(name, "tensor") ||
         strstr(name, "ceiling_") || strstr(name, "_dot");
}

static void read_module(module_facts *m, const uint32_t *words, size_t bytes, uint32_t width) {
  memset(m, 0, sizeof *m);
  m->width = width;
  assert_true(bytes >= 20 && words[0] == 0x07230203u && words[3] <= MOST_IDS);
  for (size_t i = 5; i < bytes / 4; i += words[i] >> 16) {
    assert_true(words[i] >> 16 != 0);
    take(m, words + i);
  }
}

/* Returns whether the module was looked at. */
static bool check(const char *name, const uint32_t *words, size_t bytes) {
  static module_facts m;
  if (above_the_floor(name)) return false;
  read_module(&m, words, bytes, WIDTH);
  if (m.capability) fail_msg("%s: capability %u is above the floor", name, m.capability);
  if (m.shared == UNKNOWN)
    fail_msg("%s: shared memory whose size depends on more than the workgroup's width", name);
  if (m.shared > SHARED_BYTES)
    fail_msg("%s: %u bytes of shared memory (expected at most %u)", name, m.shared, SHARED_BYTES);
  if (strcmp(name, "softmax") == 0) assert_int_equal(m.shared, WIDTH * sizeof(float));
  return true;
}

static void test_modules(void **state) {
  (void)state;
  uint32_t looked_at = 0;
#define HEED_SHADER(name) looked_at += check(#name, heed_spirv_##name, heed_spirv_size_##name);
#include "shader_list.h"
#undef HEED_SHADER
  assert_true(looked_at > 20);
}

/* What is above the floor is found: sizes grow with the width, others are not taken for small, and
 * so are capabilities. */
static void test_above(void **state) {
  (void)state;
  static module_facts m;
  read_module(&m, heed_spirv_softmax, heed_spirv_size_softmax, 2 * SHARED_BYTES / sizeof(float));
  assert_int_equal(m.shared, 2 * SHARED_BYTES);
  read_module(&m, heed_spirv_softmax_subgroup, heed_spirv_size_softmax_subgroup, WIDTH);
  assert_int_not_equal(m.capability, 0);
  if (heed_spirv_size_linear_matrix == 0) return; /* an older glslang */
  read_module(&m, heed_spirv_linear_matrix, heed_spirv_size_linear_matrix, WIDTH);
  assert_int_equal(m.shared, UNKNOWN);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_modules), cmocka_unit_test(test_above)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
