/* Kernels of cooperative matrices hand values from lane to lane through shared memory. By SPIR-V's
 * memory model lanes of a subgroup do not run in lockstep, so a barrier lies between one lane's
 * store and another's load, and between that load and the next store. Software devices run a
 * subgroup as one vector and would never show a missing one: the modules' instructions are read
 * instead. Each function is read in the order of its words: a loop's way back is seen where its
 * body has both. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vulkan/host/shader_code.h"
#include "vulkan/vulkan_test.h"

enum {
  CAPABILITY = 17,
  ENTRY_POINT = 15,
  FUNCTION = 54,
  FUNCTION_END = 56,
  FUNCTION_CALL = 57,
  VARIABLE = 59,
  LOAD = 61,
  STORE = 62,
  ACCESS_CHAIN = 65,
  CONTROL_BARRIER = 224,
  SELECTION_MERGE = 247,
  LABEL = 248,
  BRANCH = 249,
  MATRIX_LOAD = 4457,
  MATRIX_STORE = 4458,
  COOPERATIVE_MATRIX = 6022,
  WORKGROUP = 4
};

/* What happened to a variable since the last barrier. A matrix belongs to all lanes, an element to
 * one. */
typedef struct shared {
  bool is; /* a variable of the workgroup */
  bool stored_matrix, stored_element, loaded_matrix, loaded_element;
} shared;

typedef struct reading {
  const uint32_t *words;
  size_t count;
  shared *variables; /* by id */
  uint32_t *base;    /* of a pointer: the variable that it points into */
  size_t *place;     /* of a function or a label */
  uint32_t bound, main;
  uint32_t barriers, loads, unordered;
} reading;

static void load(reading *r, uint32_t pointer, bool matrix) {
  shared *v = &r->variables[r->base[pointer]];
  if (!v->is) return;
  r->loads += matrix;
  /* A lane may read the element that it wrote itself. */
  r->unordered += v->stored_matrix || (matrix && v->stored_element);
  v->loaded_matrix |= matrix;
  v->loaded_element |= !matrix;
}

static void store(reading *r, uint32_t pointer, bool matrix) {
  shared *v = &r->variables[r->base[pointer]];
  if (!v->is) return;
  r->unordered += v->loaded_matrix || (matrix && v->loaded_element);
  v->stored_matrix |= matrix;
  v->stored_element |= !matrix;
}

static void meet(reading *r) {
  r->barriers++;
  for (uint32_t i = 0; i < r->bound; i++) r->variables[i] = (shared){.is = r->variables[i].is};
}

static void follow(reading *r, size_t first, size_t end, bool again);

/* What happened before a selection may have had no barrier: no side may be taken. */
static size_t follow_selection(reading *r, size_t i, size_t end) {
  const uint32_t length = r->words[i] >> 16;
  const size_t meets = r->place[r->words[i + 1]], after = meets < end ? meets : end;
  shared *before = malloc(r->bound * sizeof *before);
  assert_non_null(before);
  memcpy(before, r->variables, r->bound * sizeof *before);
  follow(r, i + length, after, false);
  for (uint32_t v = 0; v < r->bound; v++) {
    shared *now = &r->variables[v];
    now->stored_matrix |= before[v].stored_matrix;
    now->stored_element |= before[v].stored_element;
    now->loaded_matrix |= before[v].loaded_matrix;
    now->loaded_element |= before[v].loaded_element;
  }
  free(before);
  return after;
}

/* From the word at `first` to `end`, or to the function's end. */
static void follow(reading *r, size_t first, size_t end, bool again) {
  for (size_t i = first; i < end;) {
    const uint32_t *word = r->words + i;
    switch (word[0] & 0xFFFFu) {
      case FUNCTION_END: return;
      case SELECTION_MERGE: i = follow_selection(r, i, end); continue;
      case FUNCTION_CALL: follow(r, r->place[word[3]], r->count, false); break;
      case CONTROL_BARRIER: meet(r); break;
      case LOAD: load(r, word[3], false); break;
      case MATRIX_LOAD: load(r, word[3], true); break;
      case STORE: store(r, word[1], false); break;
      case MATRIX_STORE: store(r, word[1], true); break;
      case BRANCH: /* back to a loop's head */
        if (!again && r->place[word[1]] < i) follow(r, r->place[word[1]], i, true);
        break;
      default: break;
    }
    i += word[0] >> 16;
  }
}

/* Where everything is; false: a module without cooperative matrices. */
static bool find_places(reading *r) {
  bool matrices = false;
  for (size_t i = 5; i < r->count; i += r->words[i] >> 16) {
    const uint32_t *word = r->words + i;
    switch (word[0] & 0xFFFFu) {
      case CAPABILITY: matrices |= word[1] == COOPERATIVE_MATRIX; break;
      case ENTRY_POINT: r->main = word[2]; break;
      case VARIABLE:
        r->base[word[2]] = word[2];
        r->variables[word[2]].is = word[3] == WORKGROUP;
        break;
      case ACCESS_CHAIN: r->base[word[2]] = r->base[word[3]]; break;
      case FUNCTION: r->place[word[2]] = i; break;
      case LABEL: r->place[word[1]] = i; break;
      default: break;
    }
  }
  return matrices;
}

static bool read_module(const uint32_t *words, size_t count, reading *r) {
  const uint32_t bound = words[3];
  *r = (reading){.words = words,
                 .count = count,
                 .bound = bound,
                 .variables = calloc(bound, sizeof *r->variables),
                 .base = calloc(bound, sizeof *r->base),
                 .place = calloc(bound, sizeof *r->place)};
  assert_non_null(r->variables);
  assert_non_null(r->base);
  assert_non_null(r->place);
  const bool matrices = find_places(r);
  if (matrices) follow(r, r->place[r->main], count, false);
  free(r->variables);
  free(r->base);
  free(r->place);
  return matrices;
}

static void test_barriers(void **state) {
  uint32_t modules = 0, unordered = 0;
  (void)state;
  for (int shader = 0; shader < HEED_SHADER_COUNT; shader++) {
    size_t bytes;
    reading r;
    const uint32_t *words = heed_vk_shader_code((heed_gpu_shader)shader, &bytes);
    if (!bytes || !read_module(words, bytes / sizeof *words, &r)) continue;
    modules++;
    unordered += r.unordered;
    printf(
        "module %d: %u barriers, %u loads of matrices from shared memory, %u without a barrier\n",
        shader, r.barriers, r.loads, r.unordered);
  }
  if (!modules) {
    puts("skipped: this build has no kernel of cooperative matrices (glslang 14 or newer makes "
         "them)");
    skip();
  }
  assert_int_equal(unordered, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_barriers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
