/* The cache directory: made when missing, written, read again; damaged and foreign files are
 * replaced, never trusted. */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/tensor.h"
#include "gpu/hash.h"
#include "gpu/self_check.h"
#include "vulkan/host/backend_state.h"
#include "vulkan/host/cache_format.h"
#include "vulkan/vulkan_test.h"

static char directory[256];

static void file_path(const char *ending, char path[600]) {
  path[0] = '\0';
  DIR *dir = opendir(directory);
  assert_non_null(dir);
  for (struct dirent *entry; (entry = readdir(dir));) {
    const size_t length = strlen(entry->d_name), wanted = strlen(ending);
    if (length > wanted && strcmp(entry->d_name + length - wanted, ending) == 0)
      snprintf(path, 600, "%s/%.200s", directory, entry->d_name);
  }
  closedir(dir);
}

static void remove_files(void) {
  if (access(directory, F_OK) != 0) return;
  for (char path[600] = "."; path[0];) {
    file_path("s", path);                /* .pipelines, .tiles */
    if (!path[0]) file_path("k", path);  /* .check */
    if (!path[0]) file_path("16", path); /* .check16 */
    if (path[0]) unlink(path);
  }
}

static void run_with_cache(void) {
  heed_error error;
  vulkan_program program;
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  desc.cache_directory = directory;
  vulkan_program_start(&program, NULL);
  assert_ok(vulkan_program_open(&program, &desc, &error));
  assert_ok(vulkan_program_run(&program, NULL, &error));
  vulkan_program_check(&program);
  vulkan_program_end(&program);
}

static void write_file(const char *path, const unsigned char *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  fclose(file);
}

/* After damage the results are right and the file is whole again. */
static void damaged(const char *path, const unsigned char *bytes, size_t size,
                    const unsigned char *whole, size_t whole_size) {
  size_t found;
  write_file(path, bytes, size);
  run_with_cache();
  unsigned char *after = test_read_file(path, &found);
  assert_int_equal(found, whole_size);
  assert_memory_equal(after, whole, 8);
  free(after);
}

static void test_pipelines(void **state) {
  (void)state;
  vulkan_test_need_device();
  char path[600];
  size_t size;
  run_with_cache();
  file_path(".pipelines", path);
  assert_true(path[0] != '\0');
  unsigned char *whole = test_read_file(path, &size), *copy = malloc(size + 1);
  assert_non_null(copy);
  run_with_cache();
  /* bytes of each field of the header, and some of the rest */
  for (size_t at = 0; at < size; at += at < 128 ? 19 : size / 4 + 1) {
    memcpy(copy, whole, size);
    copy[at] ^= 0x41;
    damaged(path, copy, size, whole, size);
  }
  memcpy(copy, whole, size);
  copy[size] = 7;
  damaged(path, copy, size + 1, whole, size);
  for (size_t cut = 0; cut < size; cut += size / 3 + 1) damaged(path, whole, cut, whole, size);
  /* more than 256 MiB, in a hole: made again without taking that memory */
  struct stat info;
  struct rusage before, after;
  assert_int_equal(truncate(path, ((off_t)256 << 20) + 4096), 0);
  getrusage(RUSAGE_SELF, &before);
  run_with_cache();
  getrusage(RUSAGE_SELF, &after);
  assert_int_equal(stat(path, &info), 0);
  assert_true(info.st_size < 64 << 20);
  assert_true(after.ru_maxrss - before.ru_maxrss < 50 << 10);
  free(copy);
  free(whole);
}

/* Zeros, in a hole: 256 MiB of them and the right hash are read, one more is not. */
static void test_largest_file(void **state) {
  (void)state;
  static const unsigned char zeros[1 << 20];
  const char key[] = "a key";
  heed_context *context;
  heed_error error;
  uint64_t hash = HEED_GPU_HASH_START;
  assert_ok(heed_context_create(NULL, &context, &error));
  for (size_t i = 0; i < HEED_VK_CACHE_MOST; i += sizeof zeros)
    hash = heed_gpu_hash(hash, zeros, sizeof zeros);
  for (uint64_t above = 0; above < 2; above++) {
    const uint64_t count = HEED_VK_CACHE_MOST + above,
                   of_bytes[] = {count, above ? heed_gpu_hash(hash, zeros, 1) : hash};
    void *bytes;
    size_t size;
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(fwrite(HEED_VK_CACHE_MAGIC, 1, 8, file), 8);
    assert_int_equal(fwrite(key, 1, sizeof key, file), sizeof key);
    assert_int_equal(fwrite(of_bytes, 1, sizeof of_bytes, file), sizeof of_bytes);
    assert_int_equal(fflush(file), 0);
    assert_int_equal(ftruncate(fileno(file), (off_t)(ftell(file) + (long)count)), 0);
    rewind(file);
    assert_int_equal(heed_vk_cache_unpack(context, file, key, sizeof key, &bytes, &size), !above);
    assert_int_equal(size, above ? 0 : count);
    heed_free(context, bytes);
    fclose(file);
  }
  heed_context_destroy(context);
}

static void assert_mode(const char *path, mode_t mode) {
  struct stat info;
  assert_int_equal(lstat(path, &info), 0);
  assert_true(S_ISREG(info.st_mode));
  assert_int_equal(info.st_mode & 0777, mode);
}

/* Nothing is read or written through a link, and a file that others may write is not trusted: each
 * is replaced by one of this user's own. */
static void test_links_and_modes(void **state) {
  (void)state;
  vulkan_test_need_device();
  char path[600], other[] = "/tmp/heed_test_cache_victim", leftover[700];
  size_t size;
  remove_files(); /* those of other tiers are not written again */
  run_with_cache();
  file_path(".pipelines", path);
  assert_true(path[0] != '\0');
  assert_mode(path, 0600);

  write_file(other, (const unsigned char *)"keep", 4);
  unlink(path);
  assert_int_equal(symlink(other, path), 0);
  snprintf(leftover, sizeof leftover, "%s.%ld.new", path, (long)getpid());
  assert_int_equal(symlink(other, leftover), 0);
  run_with_cache();
  assert_mode(path, 0600);
  unsigned char *kept = test_read_file(other, &size);
  assert_int_equal(size, 4);
  assert_memory_equal(kept, "keep", 4);
  assert_int_not_equal(access(leftover, F_OK), 0);

  assert_int_equal(chmod(path, 0666), 0);
  run_with_cache();
  assert_mode(path, 0600);
  free(kept);
  unlink(other);
}

/* Measured tiles: kept, taken, right; ignored when damaged; refused where they cannot be kept. */
static void test_tiles(void **state) {
  (void)state;
  vulkan_test_need_device();
  heed_error error;
  vulkan_program program;
  heed_vulkan_tuning tuning;
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  vulkan_program_start(&program, NULL);
  assert_ok(vulkan_program_open(&program, &desc, &error));
  assert_fails(heed_vulkan_tune(program.backend, program.graph, &tuning, &error), HEED_UNSUPPORTED,
               "directory");
  vulkan_program_close(&program);
  desc.cache_directory = directory;
  assert_ok(vulkan_program_open(&program, &desc, &error));
  assert_ok(heed_vulkan_tune(program.backend, program.graph, &tuning, &error));
  assert_int_equal(tuning.shapes, 1);
  assert_true(tuning.before > 0.0 && tuning.after > 0.0 && tuning.after <= tuning.before);
  assert_ok(vulkan_program_run(&program, NULL, &error));
  vulkan_program_check(&program);
  vulkan_program_end(&program);
  run_with_cache();
  char path[600];
  size_t size;
  file_path(".tiles", path);
  assert_true(path[0] != '\0');
  unsigned char *bytes = test_read_file(path, &size);
  for (size_t at = 0; at < size; at += size / 5 + 1) {
    bytes[at] ^= 0x41;
    write_file(path, bytes, size);
    run_with_cache();
    bytes[at] ^= 0x41;
  }
  write_file(path, bytes, size / 2);
  run_with_cache();
  free(bytes);
}

/* An attention is measured as products are, once for two alike; the same plan runs with what was
 * found. */
static void test_attention_tiles(void **state) {
  (void)state;
  vulkan_test_need_device();
  heed_error error;
  heed_context *context;
  heed_backend *backend;
  heed_graph *graph;
  heed_vulkan_tuning tuning;
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  desc.cache_directory = directory;
  assert_ok(heed_context_create(NULL, &context, &error));
  assert_ok(heed_graph_create(context, &graph, &error));
  const heed_value x = heed_define_input(graph, "x", HEED_F32, &HEED_SHAPE(2, 2, 40, 8));
  const heed_attention_desc first = {.struct_size = sizeof first, .query = x, .key = x, .value = x};
  const heed_attention_desc second = {.struct_size = sizeof second,
                                      .query = heed_define_attention(graph, &first).output,
                                      .key = x,
                                      .value = x};
  heed_graph_output(graph, heed_define_attention(graph, &second).output);
  for (int opened = 0; opened < 2; opened++) {
    heed_plan *plan;
    heed_session *session;
    assert_ok(heed_vulkan_backend_create(context, &desc, &backend, &error));
    assert_ok(heed_plan_create(graph, backend, NULL, &plan, &error));
    assert_ok(heed_session_create(plan, NULL, &session, &error));
    assert_ok(heed_session_run(session, NULL, &error));
    if (!opened) assert_ok(heed_vulkan_tune(backend, graph, &tuning, &error));
    assert_int_equal(tuning.shapes, 1);
    assert_true(tuning.before > 0.0 && tuning.after <= tuning.before);
    heed_session_destroy(session);
    heed_plan_destroy(plan);
    heed_backend_destroy(backend);
  }
  heed_graph_destroy(graph);
  heed_context_destroy(context);
}

static void test_unusable_directory(void **state) {
  (void)state;
  vulkan_test_need_device();
  char keep[256];
  memcpy(keep, directory, sizeof keep);
  snprintf(directory, sizeof directory, "/dev/null/nowhere");
  run_with_cache();
  memcpy(directory, keep, sizeof keep);
}

static void test_self_check(void **state) {
  (void)state;
  vulkan_test_need_device();
  heed_error error;
  heed_context *context;
  heed_vulkan_check check;
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  char path[600];
  desc.cache_directory = directory;
  assert_ok(heed_context_create(NULL, &context, &error));
  assert_ok(heed_vulkan_self_check(context, &desc, &check, &error));
  if (!check.passed) fail_msg("self-check: %s is off by %g", check.worst, check.max_error);
  assert_false(check.remembered);
  assert_true(check.kernels >= 12);
  const uint32_t kernels = check.kernels;
  assert_ok(heed_vulkan_self_check(context, &desc, &check, &error));
  assert_true(check.remembered && check.passed);
  assert_int_equal(check.kernels, kernels);
  file_path(".check", path);
  write_file(path, (const unsigned char *)"junk", 4);
  assert_ok(heed_vulkan_self_check(context, &desc, &check, &error));
  assert_false(check.remembered);
  assert_true(check.passed);
  heed_context_destroy(context);
}

/* Rewrites the record that is kept, as another build or an earlier check would have written it. */
static void change_record(heed_context *context, const heed_vulkan_desc *desc,
                          void (*change)(heed_gpu_check_record *record)) {
  heed_error error;
  heed_backend *backend;
  void *bytes;
  size_t size;
  assert_ok(heed_vulkan_backend_create(context, desc, &backend, &error));
  const heed_vk_cache *cache = &((heed_vk_backend *)backend)->cache;
  heed_vk_cache_read(cache, "check", &bytes, &size);
  assert_int_equal(size, sizeof(heed_gpu_check_record));
  change(bytes);
  heed_vk_cache_write(cache, "check", bytes, size);
  heed_free(context, bytes);
  heed_backend_destroy(backend);
}

static void of_another_graph(heed_gpu_check_record *record) { record->graph ^= 1; }
static void failed(heed_gpu_check_record *record) { record->passed = 0; }
static void failed_two_days_ago(heed_gpu_check_record *record) {
  record->passed = 0;
  record->time -= 2 * 24 * 60 * 60;
}

/* A failure counts for a day, unless the check is asked for. */
static void test_failed_self_check(void **state) {
  (void)state;
  vulkan_test_need_device();
  heed_error error;
  heed_context *context;
  heed_vulkan_check check;
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  desc.cache_directory = directory;
  assert_ok(heed_context_create(NULL, &context, &error));
  assert_ok(heed_vulkan_self_check(context, &desc, &check, &error));
  change_record(context, &desc, failed);
  assert_ok(heed_vulkan_self_check(context, &desc, &check, &error));
  assert_true(check.remembered && !check.passed);
  assert_non_null(strchr(check.worst, '(')); /* the kernel's name */
  desc.check_again = true;
  assert_ok(heed_vulkan_self_check(context, &desc, &check, &error));
  assert_true(!check.remembered && check.passed);
  desc.check_again = false;
  change_record(context, &desc, failed_two_days_ago);
  assert_ok(heed_vulkan_self_check(context, &desc, &check, &error));
  assert_true(!check.remembered && check.passed);
  heed_context_destroy(context);
}

static heed_gpu_tier tier_by_rate(heed_context *context, const char *keep, uint32_t percent) {
  heed_error error;
  heed_backend *backend;
  const heed_vulkan_test played = {.gpu_kernels = true, .matrix_percent = percent};
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  desc.test = &played;
  desc.cache_directory = keep;
  desc.precision = HEED_VULKAN_PRECISION_AUTO;
  assert_ok(heed_vulkan_backend_create(context, &desc, &backend, &error));
  const heed_gpu_limits *limits = &((heed_vk_backend *)backend)->device.limits;
  const heed_gpu_tier tier = limits->tier;
  assert_int_equal(limits->matrix.rows != 0, tier == HEED_GPU_TIER_COOPERATIVE);
  heed_backend_destroy(backend);
  return tier;
}

/* Cooperative matrices are taken where they are 1.5 times as fast as fp32, which is remembered. */
static void test_matrices_by_rate(void **state) {
  (void)state;
  vulkan_test_need_device();
  heed_error error;
  heed_context *context;
  heed_vulkan_device_info info;
  uint32_t count = 1;
  assert_ok(heed_context_create(NULL, &context, &error));
  assert_ok(heed_vulkan_device_list(context, &info, &count, &error));
  if (info.tier < HEED_VULKAN_TIER_COOPERATIVE) {
    heed_context_destroy(context);
    fprintf(stderr, "skipped: the device or the build has no cooperative matrices\n");
    skip();
  }
  remove_files();
  assert_int_equal(tier_by_rate(context, NULL, 149), HEED_GPU_TIER_HALF);
  assert_int_equal(tier_by_rate(context, NULL, 150), HEED_GPU_TIER_COOPERATIVE);
  assert_int_equal(tier_by_rate(context, directory, 149), HEED_GPU_TIER_HALF);
  assert_int_equal(tier_by_rate(context, directory, 200), HEED_GPU_TIER_HALF);
  remove_files();
  assert_int_equal(tier_by_rate(context, directory, 200), HEED_GPU_TIER_COOPERATIVE);
  heed_context_destroy(context);
}

/* What a check of other ops has found is not taken for these. */
static void test_self_check_of_another_graph(void **state) {
  (void)state;
  vulkan_test_need_device();
  heed_error error;
  heed_context *context;
  heed_vulkan_check check;
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  desc.cache_directory = directory;
  assert_ok(heed_context_create(NULL, &context, &error));
  assert_ok(heed_vulkan_self_check(context, &desc, &check, &error));
  change_record(context, &desc, of_another_graph);
  assert_ok(heed_vulkan_self_check(context, &desc, &check, &error));
  assert_false(check.remembered);
  assert_ok(heed_vulkan_self_check(context, &desc, &check, &error));
  assert_true(check.remembered);
  heed_context_destroy(context);
}

/* Each choice of kernels is checked by itself, and each result remembered. */
static void test_self_check_of_tiers(void **state) {
  (void)state;
  vulkan_test_need_device();
  heed_error error;
  heed_context *context;
  heed_vulkan_check check;
  heed_vulkan_device_info info;
  uint32_t count = 1;
  assert_ok(heed_context_create(NULL, &context, &error));
  assert_ok(heed_vulkan_device_list(context, &info, &count, &error));
  static const struct {
    heed_vulkan_tier tier;
    /* floor: the least device that heed takes; the self-check has every op */
    bool gpu_kernels, floor;
  } ways[] = {{HEED_VULKAN_TIER_FLOOR, true, true},  {HEED_VULKAN_TIER_FLOOR, false, false},
              {HEED_VULKAN_TIER_FLOOR, true, false}, {HEED_VULKAN_TIER_SUBGROUP, true, false},
              {HEED_VULKAN_TIER_HALF, false, false}, {HEED_VULKAN_TIER_HALF, true, false}};
  remove_files();
  for (int round = 0; round < 2; round++)
    for (int way = 0; way < 6 && ways[way].tier <= info.tier; way++) {
      heed_vulkan_test played = {0};
      heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
      desc.test = &played;
      desc.cache_directory = directory;
      desc.tier = ways[way].tier;
      played.gpu_kernels = ways[way].gpu_kernels;
      played.floor = ways[way].floor;
      if (desc.tier == HEED_VULKAN_TIER_HALF) desc.precision = HEED_VULKAN_PRECISION_F16;
      assert_ok(heed_vulkan_self_check(context, &desc, &check, &error));
      if (!check.passed)
        fail_msg("tier %s, way %d: %s is off by %g", heed_vulkan_tier_name(desc.tier), way,
                 check.worst, check.max_error);
      if (check.remembered != (round == 1))
        fail_msg("tier %s, way %d, round %d: remembered %d", heed_vulkan_tier_name(desc.tier), way,
                 round, check.remembered);
    }
  heed_context_destroy(context);
}

static int make_directory(void **state) {
  (void)state;
  char base[] = "/tmp/heed-cache-XXXXXX";
  if (!mkdtemp(base)) return 1;
  snprintf(directory, sizeof directory, "%s/a/b", base);
  return 0;
}

static int remove_directory(void **state) {
  (void)state;
  remove_files();
  for (int i = 0; i < 3; i++) {
    rmdir(directory);
    char *slash = strrchr(directory, '/');
    if (slash) *slash = '\0';
  }
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pipelines),         cmocka_unit_test(test_tiles),
      cmocka_unit_test(test_attention_tiles),   cmocka_unit_test(test_unusable_directory),
      cmocka_unit_test(test_self_check),        cmocka_unit_test(test_self_check_of_another_graph),
      cmocka_unit_test(test_failed_self_check), cmocka_unit_test(test_self_check_of_tiers),
      cmocka_unit_test(test_matrices_by_rate),  cmocka_unit_test(test_links_and_modes),
      cmocka_unit_test(test_largest_file),
  };
  return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
