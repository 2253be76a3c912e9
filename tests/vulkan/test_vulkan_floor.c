/* Every module that the floor may run, read word by word: no capability beyond Vulkan 1.1's least,
 * and at 128 invocations a workgroup at most 16 KiB of shared memory (attention: at its 64 ones,
 * with the largest part of a query there). That no op asks for more invocations is seen where the
 * played floor runs the self-check (test_vulkan_cache.c) and the op tests
 * (test_*_vulkan_gpu_floor): the builder refuses such a dispatch. */
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
/* attention.comp: what runtime/gpu/ops/attention.c takes at most. */
#define ATTENTION_WIDTH 64u
#define PARKED 9 /* the constant's number */
#define MOST_PARKED 11u
#define APART 10 /* 1 but in workgroups of 256 */
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
  OP_DECORATE = 71,
  OP_ADD = 128,
  OP_MULTIPLY = 132,
  OP_SELECT = 169,
  OP_EQUAL = 170
};
enum {
  WORKGROUP = 4,
  DECORATION_SPEC_ID = 1,
  CAPABILITY_SHADER = 1,
  CAPABILITY_SAMPLED_BUFFER = 46
};

typedef struct module_facts {
  uint32_t bytes[MOST_IDS]; /* of a type; of what a pointer points at */
  uint32_t value[MOST_IDS]; /* of a constant; 0 where it is not known */
  bool known[MOST_IDS];
  uint32_t spec[MOST_IDS];  /* 1 + its number */
  uint32_t first[MOST_IDS]; /* first component of a composite */
  uint32_t width;           /* of a workgroup */
  uint32_t parked;          /* the value of PARKED; 0: not known */
  uint32_t shared;          /* bytes; UNKNOWN: they depend on something else than the width */
  uint32_t capability;      /* the first one above the floor, or 0 */
} module_facts;

static void take_variable(module_facts *m, uint32_t type) {
  if (m->bytes[type] == 0) m->shared = UNKNOWN;
  if (m->shared != UNKNOWN) m->shared += m->bytes[type];
}

static void set(module_facts *m, uint32_t id, bool known, uint32_t value) {
  m->known[id] = known;
  m->value[id] = known ? value : 0;
}

static void take_spec_constant(module_facts *m, const uint32_t *at) {
  const uint32_t id = at[2], spec = m->spec[id];
  const bool parked = spec == 1 + PARKED && m->parked, apart = spec == 1 + APART && m->parked;
  set(m, id, spec <= 1 || parked || apart, spec == 1 ? m->width : parked ? m->parked : at[3]);
}

/* An op on constants: the width of a workgroup, and what is computed of known ones. */
static void take_spec_op(module_facts *m, const uint32_t *at) {
  const uint32_t id = at[2], a = at[4], first = m->first[a];
  switch (at[3]) {
    case OP_EXTRACT: set(m, id, m->known[first], m->value[first]); break;
    case OP_ADD: set(m, id, m->known[a] && m->known[at[5]], m->value[a] + m->value[at[5]]); break;
    case OP_MULTIPLY:
      set(m, id, m->known[a] && m->known[at[5]], m->value[a] * m->value[at[5]]);
      break;
    case OP_EQUAL:
      set(m, id, m->known[a] && m->known[at[5]], m->value[a] == m->value[at[5]]);
      break;
    case OP_SELECT: {
      const uint32_t taken = at[m->value[a] ? 5 : 6];
      set(m, id, m->known[a] && m->known[taken], m->value[taken]);
      break;
    }
    default: break;
  }
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
    case OP_CONSTANT: set(m, at[2], true, at[3]); break;
    case OP_SPEC_CONSTANT: take_spec_constant(m, at); break;
    case OP_SPEC_COMPOSITE: m->first[at[2]] = at[3]; break;
    case OP_SPEC_OP: take_spec_op(m, at); break;
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

static void read_module(module_facts *m, const uint32_t *words, size_t bytes, uint32_t width,
                        uint32_t parked) {
  memset(m, 0, sizeof *m);
  m->width = width;
  m->parked = parked;
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
  const bool parks = strcmp(name, "attention") == 0 || strcmp(name, "attention_weights") == 0;
  read_module(&m, words, bytes, parks ? ATTENTION_WIDTH : WIDTH, parks ? MOST_PARKED : 0);
  if (m.capability) fail_msg("%s: capability %u is above the floor", name, m.capability);
  if (m.shared == UNKNOWN)
    fail_msg("%s: shared memory whose size depends on more than the workgroup's width", name);
  if (m.shared > SHARED_BYTES)
    fail_msg("%s: %u bytes of shared memory (expected at most %u)", name, m.shared, SHARED_BYTES);
  if (strcmp(name, "softmax") == 0) assert_int_equal(m.shared, WIDTH * sizeof(float));
  if (parks) assert_true(m.shared > 16 * MOST_PARKED * ATTENTION_WIDTH);
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
  read_module(&m, heed_spirv_softmax, heed_spirv_size_softmax, 2 * SHARED_BYTES / sizeof(float), 0);
  assert_int_equal(m.shared, 2 * SHARED_BYTES);
  read_module(&m, heed_spirv_softmax_subgroup, heed_spirv_size_softmax_subgroup, WIDTH, 0);
  assert_int_not_equal(m.capability, 0);
  if (heed_spirv_size_linear_matrix == 0) return; /* an older glslang */
  read_module(&m, heed_spirv_linear_matrix, heed_spirv_size_linear_matrix, WIDTH, 0);
  assert_int_equal(m.shared, UNKNOWN);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_modules), cmocka_unit_test(test_above)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
