/* What a ViT takes and reports beside its numbers: parts that it has not, threads, progress,
 * cancel, memory, every allocation failed once. */
#include "heed/sequences.h"
#include "support/opened_vit.h"

static void test_it_has_no_part_and_does_not_decode(void **state) {
  (void)state;
  vit_files files;
  vit v;
  heed_error error;
  heed_decoder *decoder;
  const heed_build_desc whole = {.struct_size = sizeof whole, .batch = 2},
                        wrong[] = {{.struct_size = sizeof whole, .part = HEED_PART_STEP},
                                   {.struct_size = sizeof whole, .source_length = 3},
                                   {.struct_size = sizeof whole, .target_length = 3}};
  const heed_decoder_desc desc = {.struct_size = sizeof desc, .source_length = 3};
  load_files(&files, "micro_32");
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    assert_fails(open_vit(&v, &files, NULL, NULL, 1, &wrong[i], NULL, &error),
                 HEED_INVALID_ARGUMENT, "a vision transformer has no parts and no lengths");
    close_vit(&v);
  }
  assert_ok(open_vit(&v, &files, NULL, NULL, 1, &whole, NULL, &error));
  assert_fails(heed_decoder_create(v.model, v.backend, &desc, NULL, &decoder, &error),
               HEED_INVALID_ARGUMENT, "the model does not decode (found family vit");
  assert_null(decoder);
  close_vit(&v);
  free_files(&files);
}

static void test_the_number_of_threads_changes_no_bit(void **state) {
  (void)state;
  vit_files files;
  load_files(&files, "small_224");
  for (uint32_t l = 0; heed_cpu_level(l); l++) {
    float *first = NULL;
    for (size_t t = 0; t < 4; t++) {
      static const uint32_t threads[] = {1, 2, 3, 7};
      vit v;
      heed_error error;
      uint64_t count;
      assert_ok(open_vit(&v, &files, NULL, heed_cpu_level(l), threads[t], NULL, NULL, &error));
      float *states = read_value(&v, "last_hidden_state", &count);
      if (first) assert_memory_equal(states, first, (size_t)count * sizeof *states);
      if (first)
        free(states);
      else
        first = states;
      close_vit(&v);
    }
    free(first);
  }
  free_files(&files);
}

typedef struct told {
  uint32_t run_calls, last_done, stop_after, asked;
} told;

static void hear(const char *phase, uint64_t done, uint64_t total, void *user) {
  told *t = user;
  if (strcmp(phase, "run") != 0) return;
  assert_true(done <= total && done >= t->last_done);
  t->last_done = (uint32_t)done;
  t->run_calls++;
}

static bool stop(void *user) {
  told *t = user;
  return t->stop_after && ++t->asked > t->stop_after;
}

static void test_progress_and_cancel(void **state) {
  (void)state;
  vit_files files;
  vit v;
  heed_error error;
  told all = {0}, some = {.stop_after = 2};
  load_files(&files, "micro_32");
  const heed_build_desc build = {.struct_size = sizeof build, .batch = 2};
  heed_hooks hooks = {sizeof hooks, hear, stop, &all};
  assert_ok(open_vit(&v, &files, NULL, NULL, 1, &build, &hooks, &error));
  assert_true(all.run_calls >= 4); /* embeddings, two layers, heads */
  hooks.user = &some;
  assert_fails(heed_session_run(v.session, &hooks, &error), HEED_CANCELLED, "cancelled");
  assert_true(some.run_calls < all.run_calls);
  assert_ok(heed_session_run(v.session, NULL, &error)); /* and it goes on working */
  close_vit(&v);
  free_files(&files);
}

static void test_parts_that_the_file_has_and_has_not(void **state) {
  (void)state;
  vit_files files;
  heed_context *context;
  heed_model *model;
  heed_error error;
  bool registers = false;
  load_files(&files, "micro_32");
  const heed_model_desc desc = {sizeof desc, files.file, files.count};
  assert_int_equal(heed_context_create(NULL, &context, &error), HEED_OK);
  assert_int_equal(heed_model_open(context, &desc, &model, &error), HEED_OK);
  for (uint32_t i = 0; i < heed_model_tensor_count(model); i++) {
    heed_tensor_info info;
    heed_model_tensor(model, i, &info);
    assert_true(info.used == (info.role != NULL));
  }
  for (uint32_t i = 0; heed_model_absent(model, i); i++)
    registers = registers || strcmp(heed_model_absent(model, i), "embeddings.register_tokens") == 0;
  assert_true(registers);
  heed_model_destroy(model);
  heed_context_destroy(context);
  free_files(&files);
}

/* Who asks for classes alone gets the same bits, on every level, and one row of the last layer. */
static void test_classes_only_are_the_same_bits(void **state) {
  (void)state;
  vit_files files;
  load_files(&files, "small_224");
  for (uint32_t l = 0; heed_cpu_level(l); l++) {
    float *logits[2], *last[2];
    uint64_t classes[2], states[2];
    for (uint32_t only = 0; only < 2; only++) {
      vit v;
      heed_error error;
      const heed_build_desc build = {.struct_size = sizeof build, .classes_only = only};
      assert_ok(open_vit(&v, &files, NULL, heed_cpu_level(l), 2, &build, NULL, &error));
      logits[only] = read_value(&v, "logits", &classes[only]);
      last[only] = read_value(&v, "last_hidden_state", &states[only]);
      close_vit(&v);
    }
    assert_int_equal(classes[1], classes[0]);
    assert_memory_equal(logits[1], logits[0], (size_t)classes[0] * sizeof(float));
    assert_int_equal(states[0] % states[1], 0);
    assert_true(states[1] < states[0]);
    assert_memory_equal(last[1], last[0], (size_t)states[1] * sizeof(float));
    for (uint32_t only = 0; only < 2; only++) {
      free(logits[only]);
      free(last[only]);
    }
  }
  free_files(&files);
}

static void test_no_allocation_in_run(void **state) {
  (void)state;
  vit_files files;
  vit v;
  heed_error error;
  test_allocator counter = {0};
  const heed_context_desc context = test_context_desc(&counter);
  const heed_build_desc build = {.struct_size = sizeof build, .batch = 2};
  load_files(&files, "micro_32");
  assert_ok(open_vit(&v, &files, &context, NULL, 2, &build, NULL, &error));
  const size_t before = counter.total;
  assert_ok(heed_session_run(v.session, NULL, &error));
  assert_int_equal(counter.total, before);
  close_vit(&v);
  assert_int_equal(counter.live, 0);
  free_files(&files);
}

/* What the sentence says that all of the session needs; 0: nothing. */
static uint64_t need_of(const char *sentence) {
  static const char before[] = "; the session needs ";
  const char *at = strstr(sentence, before);
  return at ? strtoull(at + sizeof before - 1, NULL, 10) : 0;
}

static void test_every_allocation_failed_once(void **state) {
  (void)state;
  vit_files files;
  heed_memory memory = {0};
  uint64_t need = 0;
  load_files(&files, "micro_32");
  const heed_build_desc build = {.struct_size = sizeof build, .batch = 2};
  size_t n = 1;
  for (;; n++) {
    vit v;
    heed_error error = {HEED_OK, ""};
    test_allocator counter = {.fail_at = n};
    const heed_context_desc context = test_context_desc(&counter);
    const heed_status status = open_vit(&v, &files, &context, NULL, 2, &build, NULL, &error);
    if (status == HEED_OK) heed_plan_memory(v.plan, &memory);
    if (need_of(error.message)) need = need_of(error.message);
    close_vit(&v);
    if (counter.live) fail_msg("%zu blocks leaked when allocation %zu failed", counter.live, n);
    if (counter.total < n) {
      assert_int_equal(status, HEED_OK);
      break;
    }
    if (status != HEED_OUT_OF_MEMORY)
      fail_msg("allocation %zu failed and the status was %s (%s)", n, heed_status_name(status),
               error.message);
  }
  assert_true(n > 50);
  assert_int_equal(need, memory.weights + memory.arena + memory.workspace);
  assert_true(need > memory.weights && memory.weights > 0);
  free_files(&files);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_it_has_no_part_and_does_not_decode),
      cmocka_unit_test(test_the_number_of_threads_changes_no_bit),
      cmocka_unit_test(test_progress_and_cancel),
      cmocka_unit_test(test_parts_that_the_file_has_and_has_not),
      cmocka_unit_test(test_classes_only_are_the_same_bits),
      cmocka_unit_test(test_no_allocation_in_run),
      cmocka_unit_test(test_every_allocation_failed_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
